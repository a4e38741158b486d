/// What became of bytes given to a session.
public enum HTTP2ReceiveStatus: Equatable, Sendable {
  /// Taken. Output may wait, and `isFinished` says whether the connection is to be closed after it.
  case taken
  /// The connection did not begin with HTTP/2's preface; these are its first bytes. Write an answer that
  /// the peer can read, and close.
  case notHTTP2(firstBytes: [UInt8])
  /// The peer broke the protocol beyond repair. Send what output there is, and close.
  case failed(reason: String)
}

/// A frame that the peer should not have sent, for whoever looks at a connection.
public struct HTTP2Violation: Sendable, Equatable {
  public var streamID: Int32
  public var frameType: UInt8
  public var sentence: String
}
