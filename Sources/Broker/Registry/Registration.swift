import PushModel

/// One row of the token map: this topic on this device in this environment has this token, or one context of the topic has.
public struct Registration: BitwiseCopyable {
  public var token: DeviceToken
  public var device: DeviceID
  public var topic: TopicID
  /// Counts the installs of the app on the device, or the times that the context was asked for: 1, 2, … (`Documentation/credentials.md#how-tokens-come-to-be`).
  public var install: Int32
  public var environment: Environment
  /// The app is no longer on the phone (removed, reinstalled or erased), but the phone has not reported it yet.
  public var isAbandoned = false
  /// The entry waits to be read from the feedback service.
  public var awaitsFeedback = false
  /// Somebody chose the token.
  public var isCustom = false
  /// Its device's part of the token map; 0 where there is one.
  public internal(set) var zone: UInt16 = 0
  public var issuedAt: Timestamp
  /// When the device reported the app gone; `Timestamp.never` while the token is active. Never reset.
  public var goneAt = Timestamp.never
  /// Next registration of the same device.
  @Packed var nextOfDevice: RegistrationID? = nil
  /// What of the topic it is for; nil for all of it.
  @Packed public var context: TokenContextID? = nil

  public init(
    token: DeviceToken, device: DeviceID, topic: TopicID, context: TokenContextID? = nil, install: Int32,
    environment: Environment, issuedAt: Timestamp
  ) {
    (self.token, self.device, self.topic, self.context) = (token, device, topic, context)
    (self.install, self.environment, self.issuedAt) = (install, environment, issuedAt)
  }

  /// What `install` may be.
  public static let installs: ClosedRange<Int32> = 1...Int32.max

  /// The number of the next install of an app that has had installs of these numbers: the one behind the highest, or the lowest that
  /// is free where there is none, as a saved state may have given any.
  public static func nextInstall(after taken: [Int32]) -> Int32 {
    guard let highest = taken.max(), highest >= installs.lowerBound else { return installs.lowerBound }
    guard highest == installs.upperBound else { return highest + 1 }
    let known = Set(taken)
    return installs.first { !known.contains($0) } ?? installs.lowerBound
  }

  /// Whether pushes to the token are still taken.
  public var isActive: Bool { goneAt == .never }
}

extension Timestamp {
  /// No moment: later than every real one.
  public static let never = Timestamp(nanoseconds: .max)
}
