import PushModel

/// Why a request was refused, for people: which rule, what it asks for, what came.
public struct Explanation: Equatable, Sendable {
  /// The rule, with its place in the specification.
  public var rule: String
  public var expected: String
  /// What came. Never a secret.
  public var got: String

  public init(rule: String, expected: String, got: String) {
    (self.rule, self.expected, self.got) = (rule, expected, got)
  }

  /// One line for logs and headers.
  public var text: String { "\(rule): expected \(expected), got \(got)" }

  /// Longest part of a peer's value that is shown, in bytes.
  static let shownBytes = 80

  /// A peer's value in quotes, clipped, with everything but visible ASCII replaced.
  static func quoted(_ bytes: UnsafeRawBufferPointer?) -> String {
    guard let bytes else { return "none" }
    let shown = bytes.prefix(shownBytes).map { $0 >= 0x20 && $0 < 0x7f ? $0 : UInt8(ascii: "?") }
    return "\"" + String(decoding: shown, as: UTF8.self) + (bytes.count > shownBytes ? "…\"" : "\"")
  }

  /// A peer's JSON value, shown likewise.
  static func quoted(_ value: JSONValue) -> String { value.encoded.withUnsafeBytes { quoted($0) } }
}
