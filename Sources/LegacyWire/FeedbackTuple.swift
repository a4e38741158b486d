import Basics

/// One entry of the feedback service: this token's app was found gone at that time
/// (`Documentation/binary-protocol.md#feedback`).
public struct FeedbackTuple: Equatable, Sendable {
  /// UNIX seconds.
  public var timestamp: UInt32
  public var token: [UInt8]

  public init(timestamp: UInt32, token: [UInt8]) { (self.timestamp, self.token) = (timestamp, token) }

  /// As on the wire: time, token length, token.
  public var bytes: [UInt8] {
    BigEndian.bytes(timestamp) + BigEndian.bytes(UInt16(truncatingIfNeeded: token.count)) + token
  }

  /// Reads concatenated tuples in any segmentation; what does not make a whole tuple stays in `bytes`.
  public static func take(from bytes: inout [UInt8]) -> [FeedbackTuple] {
    var tuples: [FeedbackTuple] = []
    var start = 0
    while bytes.count - start >= 6 {
      let length = Int(bytes[start + 4]) << 8 | Int(bytes[start + 5])
      guard bytes.count - start - 6 >= length else { break }
      let time = bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      tuples.append(FeedbackTuple(timestamp: time, token: Array(bytes[start + 6..<start + 6 + length])))
      start += 6 + length
    }
    bytes.removeFirst(start)
    return tuples
  }
}
