import ProviderAPI
import Transport

extension HTTP2Response {
  /// Names why a request was refused, in the emulator alone; Apple has no such field.
  static let explanationField = "apns-emulator-explanation"
  /// Most of an explanation that the field carries, in bytes: some clients have little room for header fields.
  static let explanationLimit = 400

  /// Says which rule it was, what that expected and what came: in visible ASCII, and not too much of it.
  mutating func explain(_ rejected: RejectedRequest) {
    let text = rejected.explanation.text.utf8.prefix(Self.explanationLimit)
    let visible = text.map { $0 >= 0x20 && $0 < 0x7f ? $0 : UInt8(ascii: "?") }
    fields.append((Self.explanationField, String(decoding: visible, as: UTF8.self)))
  }
}
