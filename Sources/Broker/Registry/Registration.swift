import PushModel

/// One row of the token map: this topic on this device in this environment has this token.
public struct Registration: BitwiseCopyable {
  public var token: DeviceToken
  /// Index of the device.
  public var device: Int32
  /// Index of the topic.
  public var topic: Int32
  /// Counts the installs of the app on the device: 1, 2, … (`Documentation/credentials.md#how-tokens-come-to-be`).
  public var install: Int32
  public var environment: Environment
  /// The app is no longer on the phone (removed, reinstalled or erased), but the phone has not reported it yet.
  public var isAbandoned: Bool
  /// The entry waits to be read from the feedback service.
  public var awaitsFeedback: Bool
  public var issuedAt: Timestamp
  /// When the device reported the app gone; `Timestamp.never` while the token is active. Never reset.
  public var goneAt: Timestamp
  /// Next registration of the same device, -1 at the end.
  var nextOfDevice: Int32

  /// Whether pushes to the token are still taken.
  public var isActive: Bool { goneAt == .never }
}

extension Timestamp {
  /// No moment: later than every real one.
  public static let never = Timestamp(nanoseconds: .max)
}
