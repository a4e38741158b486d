import Basics
import PushModel

/// One row of the token map: this topic on this device in this environment has this token, or one context of the topic has.
public struct Registration: BitwiseCopyable {
  public var token: DeviceToken
  public var device: DeviceID
  public var topic: TopicID
  /// Counts the installs of the app on the device, or the times that the context was asked for: 1, 2, … (`Documentation/credentials.md#device-tokens`).
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

  var app: CrowdedDevices.App { .init(topic: topic, environment: environment, context: context) }

  /// Whether pushes to the token are still taken.
  public var isActive: Bool { goneAt == .never }
  /// Whether the app is there.
  var isOnPhone: Bool { isActive && !isAbandoned }
}

extension Timestamp {
  /// No moment: later than every real one.
  public static let never = Timestamp(nanoseconds: .max)
}

/// A device that has been seen, by its UDID.
public struct Device {
  public let udid: UDID
  /// Counts the identities (keys) the device has had: a new key or an erase gives a new base token.
  public internal(set) var identity: Int32
  /// What `identity` may be. Behind the last comes the first again: a saved state may say any of them, and the next is
  /// another in each case (`Documentation/credentials.md#device-tokens`).
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

/// Tokens that somebody chose.
struct CustomTokens {
  /// All of them, as a count.
  private(set) var count = 0
  /// Those of other lengths than devices know: `Registration.token` is only what the table calls them.
  private var otherLengths: [RegistrationID: CustomToken] = [:]

  @inline(__always)
  var hasOtherLengths: Bool { !otherLengths.isEmpty }

  /// The token of a row, if it is one of those.
  func otherLength(_ row: RegistrationID) -> CustomToken? { hasOtherLengths ? otherLengths[row] : nil }

  mutating func add(_ token: CustomToken, _ row: RegistrationID) {
    count += 1
    if token.plain == nil { otherLengths[row] = token }
  }
}

/// The devices that have been seen, each in a place of its own.
struct DeviceTable {
  private var devices: [Device] = []
  private var ids: [UDID: DeviceID] = [:]
  /// Devices that are connected, as a count.
  private(set) var onlineCount = 0

  var count: Int { devices.count }
  func contains(_ id: DeviceID) -> Bool { devices.indices.contains(id.index) }
  func find(_ udid: UDID) -> DeviceID? { ids[udid] }

  @inline(__always)
  subscript(id: DeviceID) -> Device {
    _read { yield devices[id.index] }
    _modify { yield &devices[id.index] }
  }

  /// One that is not there; answers its id.
  mutating func add(_ udid: UDID, zone: UInt16, now: Timestamp) -> DeviceID {
    let id = DeviceID(devices.count)
    var device = Device(udid: udid, identity: 1, keyFingerprint: [], firstSeenAt: now, lastSeenAt: now)
    device.zone = zone
    devices.append(device)
    ids[udid] = id
    return id
  }

  mutating func setSession(_ session: DeviceSession?, of id: DeviceID, in environment: Environment) {
    let wasOnline = devices[id.index].isOnline
    devices[id.index].setSession(session, in: environment)
    onlineCount += (devices[id.index].isOnline ? 1 : 0) - (wasOnline ? 1 : 0)
  }
}

/// How tokens come to be (`Documentation/credentials.md#device-tokens`). Implemented by `Credentials`; the
/// registry only asks.
public protocol TokenDerivation {
  /// The token of a topic on a device, or of one context of it, for its n-th install.
  func appToken(
    environment: Environment, udid: UDID, topicHash: TopicHash, install: Int32, context: TokenContext?
  ) -> DeviceToken
  /// What the table calls a chosen token of another length: nothing that is given to anybody.
  func name(ofCustom token: [UInt8]) -> DeviceToken
  /// The token of the device itself, for its n-th identity.
  func baseToken(environment: Environment, udid: UDID, identity: Int32) -> DeviceToken
}
