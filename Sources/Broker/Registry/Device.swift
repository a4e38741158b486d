import PushModel

/// A device that has been seen, by its UDID.
public struct Device {
  public let udid: UDID
  /// Counts the identities (keys) the device has had: a new key or an erase gives a new base token.
  public internal(set) var identity: Int32
  /// What `identity` may be. Behind the last comes the first again: a saved state may say any of them, and the next is
  /// another in each case (`Documentation/credentials.md#how-tokens-come-to-be`).
  public static let identities: ClosedRange<Int32> = 1...Int32.max
  /// Names the present key; empty until the first connection after an erase.
  public internal(set) var keyFingerprint: [UInt8]
  public internal(set) var firstSeenAt: Timestamp
  public internal(set) var lastSeenAt: Timestamp
  /// The part of the token map that it belongs to with all that it has; 0 where there is one.
  public internal(set) var zone: UInt16 = 0
  /// Its registrations, as a count.
  var rowCount: Int32 = 0
  /// Topics that nothing else was of when the device got a token for them, as a count.
  var topicCount: Int32 = 0
  /// First of the device's registrations.
  var firstRegistration: RegistrationID?
  /// The live session in each environment.
  var sessions: (sandbox: DeviceSession?, production: DeviceSession?) = (nil, nil)

  /// The live session in `environment`.
  public func session(in environment: Environment) -> DeviceSession? {
    environment == .sandbox ? sessions.sandbox : sessions.production
  }

  mutating func setSession(_ session: DeviceSession?, in environment: Environment) {
    if environment == .sandbox { sessions.sandbox = session } else { sessions.production = session }
  }

  /// It has another key and base token from now on.
  mutating func countIdentity() { identity = identity < Self.identities.upperBound ? identity + 1 : 1 }

  /// How long providers may still wait for it, in nanoseconds: connecting again does not make that more.
  var backPressureLeft = DeviceLink.backPressureLimit

  /// Whether the device is connected in any environment.
  public var isOnline: Bool { sessions.sandbox != nil || sessions.production != nil }
}
