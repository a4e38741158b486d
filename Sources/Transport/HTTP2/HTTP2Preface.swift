import Basics

/// Recognises the bytes with which every HTTP/2 client begins (RFC 9113 3.4), however they are cut.
///
/// What has matched so far equals the beginning of the preface, so a count is all there is to remember.
public struct HTTP2Preface {
  public enum Verdict: Equatable {
    /// Everything so far fits, and more is to come.
    case incomplete
    /// The preface is whole; it ends after this many of the bytes given.
    case complete(consumed: Int)
    /// Not HTTP/2. These are the first bytes of the connection.
    case mismatch([UInt8])
  }

  static let bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  /// How many bytes of a stranger's greeting are reported.
  public static let reportedBytes = 64

  private var matched = 0

  public init() {}

  public var isComplete: Bool { matched == Self.bytes.count }

  public mutating func receive(_ bytes: Span<UInt8>) -> Verdict {
    let before = matched
    for index in bytes.indices {
      guard bytes[index] == Self.bytes[matched] else {
        return .mismatch(Self.bytes[..<before] + [UInt8](bytes.prefix(Self.reportedBytes - before)))
      }
      matched += 1
      if isComplete { return .complete(consumed: index + 1) }
    }
    return .incomplete
  }
}
