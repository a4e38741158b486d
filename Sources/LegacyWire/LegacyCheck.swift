import PushModel

/// The checks inside a parsed frame, in the order of `Documentation/binary-protocol.md#checks`: token missing (2),
/// token size (5), payload missing (4), payload size (7). Whether the token is known (8) is the broker's.
public enum LegacyCheck {
  /// The first rule that `notification` breaks, or nil.
  @inlinable
  public static func rejection(_ notification: LegacyNotification, _ limits: LegacyLimits) -> Rejection? {
    let tokenLength = notification.token?.count ?? 0
    guard tokenLength > 0 else { return .missingDeviceToken }
    guard limits.tokenLengths.contains(tokenLength) else { return .invalidTokenSize }
    let payloadLength = notification.payload?.count ?? 0
    guard payloadLength > 0 else { return .payloadEmpty }
    guard payloadLength <= limits.payload else { return .payloadTooLarge }
    return nil
  }

  /// The identifier that the error packet carries: the notification's own, except 0 for an empty token item.
  public static func reportedIdentifier(
    _ notification: LegacyNotification, _ rejection: Rejection, _ limits: LegacyLimits
  ) -> UInt32 {
    let isEmptyItem = rejection == .missingDeviceToken && notification.token != nil
    return isEmptyItem && limits.forgetsIdentifierOfEmptyToken ? 0 : notification.identifier
  }
}

/// What the gateway takes. The operator may change the two marked so.
public struct LegacyLimits: Sendable {
  /// Longest body of a command 2 frame, in bytes: one of each item at the largest size their length fields allow.
  public static let frameBody = 2 * (3 + 65535) + (3 + 4) + (3 + 4) + (3 + 1)
  /// Longest frame, in bytes: a command and its length field before such a body.
  public static let frame = 5 + frameBody

  /// How much is kept of a malformed frame whose length is unknown, in bytes: a few lines of what came instead.
  static let keptOfMalformed = 1024

  /// Token lengths that are well formed, in bytes (operator's choice; `Documentation/binary-protocol.md#error-packet`
  /// answers 5 to a token of 1 or 31 bytes, `Documentation/binary-protocol.md#limits` allows up to 100).
  public var tokenLengths: ClosedRange<Int> = DeviceToken.byteCount...Limits.longestToken
  /// Largest payload, in bytes (operator's choice; 256 before 2014).
  public var payload = Limits.legacyPayload
  /// Answer an empty token with identifier 0, as Apple was seen to do (`Documentation/binary-protocol.md#statuses`, 2;
  /// `Documentation/binary-protocol.md#open-questions`).
  public var forgetsIdentifierOfEmptyToken = true

  public init() {}
}
