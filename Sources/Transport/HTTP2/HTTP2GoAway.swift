/// A GOAWAY frame.
public struct HTTP2GoAway: Sendable, Equatable {
  public var lastStreamID: Int32
  public var errorCode: HTTP2ErrorCode
  public var debugData: [UInt8]
}

extension HTTP2GoAway {
  /// Reads the frame's payload (RFC 9113 6.8); nil if it is too short.
  init?(payload: Slice<UnsafeRawBufferPointer>) {
    let words = UnsafeRawBufferPointer(rebasing: payload)
    guard words.count >= 8 else { return nil }
    lastStreamID = Int32(bigEndian: words.loadUnaligned(as: Int32.self))
    errorCode = HTTP2ErrorCode(
      rawValue: UInt32(bigEndian: words.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
    debugData = Array(words[8...])
  }
}
