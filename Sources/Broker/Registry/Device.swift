import PushModel

/// A device that has been seen, by its UDID.
public struct Device {
  public let udid: UDID
  /// Counts the identities (keys) the device has had: a new key or an erase gives a new base token.
  public internal(set) var identity: Int32
  /// Names the present key; empty until the first connection after an erase.
  public internal(set) var keyFingerprint: [UInt8]
  public internal(set) var firstSeenAt: Timestamp
  public internal(set) var lastSeenAt: Timestamp
  /// The part of the token map that it belongs to with all that it has; 0 where there is one.
  public internal(set) var zone: UInt16 = 0
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

  /// How long providers may still wait for it, in nanoseconds: connecting again does not make that more.
  var patienceLeft = DeviceLink.patience

  /// Whether the device is connected in any environment.
  public var isOnline: Bool { sessions.sandbox != nil || sessions.production != nil }
}
