/// What a connection tells its owner. Calls come on the loop, never from inside a call to the connection.
public protocol ConnectionHandler: AnyObject {
  /// TLS is up: server name, protocol and peer certificate are known.
  func connectionOpened(_ connection: TLSConnection)
  /// Plain bytes came; they are lent for the call. May close the connection.
  func connection(_ connection: TLSConnection, received bytes: UnsafeRawBufferPointer)
  /// Everything queued has left; asked for by `notifyWhenDrained`.
  func connectionDrained(_ connection: TLSConnection)
  /// The peer has sent its TLS close: nothing more comes, and what is sent within `TLSConnection.halfClosedLimit` may still
  /// be read. Whoever has nothing more to say closes, as happens if this is not implemented.
  func connectionPeerEnded(_ connection: TLSConnection)
  /// The connection is gone, for good; called once, also when the handshake failed.
  func connectionClosed(_ connection: TLSConnection, reason: String)
  /// Memory is short: the connection is to end, if its peer reads with a word that says why, and next to nothing may be held
  /// for it afterwards.
  func giveWay(_ connection: TLSConnection)
}

extension ConnectionHandler {
  public func connectionDrained(_ connection: TLSConnection) {}
  public func connectionPeerEnded(_ connection: TLSConnection) { connection.close() }
  public func giveWay(_ connection: TLSConnection) { connection.abort(TLSConnection.gaveWay, reset: true) }
}
