import PushModel

/// `apns-expiration` is a number of UNIX seconds (`Documentation/provider-api.md#order-of-checks` step 4).
struct ExpirationPolicy: RequestPolicy {
  /// Whether a request must have one (broadcasts, `Documentation/provider-api.md#broadcast`).
  let isRequired: Bool
  /// Digits that surely fit 64 bits.
  private static let maximumDigits = 18

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let value = context.message[.apnsExpiration] else {
      return isRequired ? Self.refusal(nil) : nil
    }
    guard let seconds = Self.read(value) else { return Self.refusal(value) }
    context.expiration = seconds
    return nil
  }

  private static func read(_ value: UnsafeRawBufferPointer) -> Int64? {
    guard !value.isEmpty, value.count <= maximumDigits else { return nil }
    var seconds: Int64 = 0
    for character in value {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
      seconds = seconds * 10 + Int64(character - UInt8(ascii: "0"))
    }
    return seconds
  }

  private static func refusal(_ value: UnsafeRawBufferPointer?) -> Refusal {
    Refusal(
      .badExpirationDate, rule: Rule.expiration, expected: "UNIX seconds, or 0",
      got: .quoted(value))
  }
}
