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
