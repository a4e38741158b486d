/// What a connection tells its owner. Calls come on the loop; those of the right column also from inside the owner's own call
/// on the left, before that returns:
///
/// | the owner calls | and may hear |
/// |---|---|
/// | `abort`, `end` | `connectionClosed` |
/// | `close`, `halfClose`, `close(sendingRaw:)`: not up yet, or stalled | `connectionClosed` |
/// | `flushNow` | `connectionDrained`, `connectionClosed` |
///
/// No other call calls back. So who makes one of these has its own affairs in order before it, and looks again at what it knew
/// behind it. The owner may make any call from inside any of its own, and is then told of the end within that.
public protocol ConnectionHandler: AnyObject {
  /// TLS is up: server name, protocol and peer certificate are known. Without TLS called for clients only, who are connected.
  func connectionOpened(_ connection: SocketConnection)
  /// Plain bytes came; they are lent for the call. May close the connection.
  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>)
  /// Plain bytes came after the owner has closed, and lead to nothing; asked for by `SocketConnection.shownAfterEnd`, lent for the call.
  func connection(_ connection: SocketConnection, discards bytes: Span<UInt8>)
  /// Everything queued has left; asked for by `notifyWhenDrained`.
  func connectionDrained(_ connection: SocketConnection)
  /// The peer has ended its side: nothing more comes, and what is sent within `SocketConnection.halfClosedLimit` may still
  /// be read. Whoever has nothing more to say closes, as happens if this is not implemented.
  func connectionPeerEnded(_ connection: SocketConnection)
  /// The deadline of an open connection is over. Closes if this is not implemented.
  func connectionIsOverdue(_ connection: SocketConnection)
  /// The connection is gone, for good; called once, also when the handshake failed.
  func connectionClosed(_ connection: SocketConnection, reason: String)
  /// Memory is short: the connection is to end, if its peer reads with a word that says why, and next to nothing may be held
  /// for it afterwards.
  func evict(_ connection: SocketConnection)
}

extension ConnectionHandler {
  public func connectionOpened(_ connection: SocketConnection) {}
  public func connection(_ connection: SocketConnection, discards bytes: Span<UInt8>) {}
  public func connectionDrained(_ connection: SocketConnection) {}
  public func connectionPeerEnded(_ connection: SocketConnection) { connection.close() }
  public func connectionIsOverdue(_ connection: SocketConnection) { connection.close() }
  public func evict(_ connection: SocketConnection) {
    connection.abort(SocketConnection.evictedReason, reset: true)
  }
}
