/// Where a notification is on its way (`Documentation/console-api.md`).
@frozen
public enum NotificationState: UInt8, Sendable, CaseIterable {
  /// Refused, or struck by a fault that gave no answer; see the verdict.
  case rejected = 0
  /// Kept until the device returns.
  case stored = 1
  /// Handed to the device's connection.
  case sent = 2
  /// Acknowledged by the device.
  case delivered = 3
  /// A newer one for the same token and topic took its place.
  case replaced = 4
  /// Its time ran out before the device came.
  case expired = 5
  /// Not to be stored and the device was away, or the app is gone.
  case discarded = 6

  /// The word in the API.
  public var name: String { String(describing: self) }
}
