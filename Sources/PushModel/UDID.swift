/// Names one device for good. Apple's have 40 hexadecimal digits or the form `00008030-001A35E11E88003A`;
/// any short word of letters, digits, `-`, `_` and `.` is taken so that tests can use readable ones.
public struct UDID: Hashable, Sendable, CustomStringConvertible {
  /// The identifier as given; compared with case.
  public let text: String

  /// Longest identifier taken, in bytes.
  public static let maximumByteCount = 64

  /// Takes 1 to 64 characters of `[A-Za-z0-9._-]`, not beginning with a dot (it also names files).
  public init?(_ text: String) {
    let bytes = text.utf8
    guard let first = bytes.first, first != UInt8(ascii: "."), bytes.count <= Self.maximumByteCount,
      Topic(text) != nil
    else { return nil }
    self.text = text
  }

  public var description: String { text }
}
