import Basics
import Capture
import Credentials
import PushModel

/// Numbers for authorization values, by what may be written of them: a digest of key and team, the same for every token
/// that they sign. Of anything that is no provider token nothing is kept.
struct AuthorizationDigests {
  /// Most digests told apart, as a count: who sends more is not a provider but a fuzzer.
  private static let limit = 10_000
  private static let scheme = Array("bearer ".utf8)

  private var numbers: [String: UInt32] = [:]
  /// The value seen last, and its number: nearly every request shows the same.
  private var latest: (value: [UInt8], number: UInt32) = ([], 0)

  /// The number of a value; `define` hears of a new one.
  mutating func number(of value: Span<UInt8>, _ define: (UInt32, String) -> Void) -> UInt32 {
    if latest.number > 0, value.hasSameBytes(as: latest.value.span) {
      return latest.number
    }
    var text = Self.text(value)
    if numbers[text] == nil, numbers.count >= Self.limit { text = CaptureFormat.unreadable }
    let number = numbers[text] ?? UInt32(numbers.count + 1)
    if numbers.updateValue(number, forKey: text) == nil { define(number, text) }
    latest = (Array(value), number)
    return number
  }

  private static func text(_ value: Span<UInt8>) -> String {
    let value = Array(value)
    guard value.prefix(scheme.count).map({ $0 | 0x20 }) == scheme,
      case .success(let token) = ProviderToken.parse(Array(value.dropFirst(scheme.count)))
    else { return CaptureFormat.unreadable }
    return CaptureFormat.digestPrefix + ProviderToken.digest(keyId: token.keyId, teamId: token.teamId)
  }
}
