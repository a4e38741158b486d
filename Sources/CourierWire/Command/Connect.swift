import Basics
import PushModel

/// What a device says of itself first (`Documentation/device-protocol.md#connect`). Nothing in it has been verified.
public struct ConnectRequest: CourierCommandValue {
  public static let command = CourierCommand.connect
  public static let form = CourierForm<ConnectRequest>([
    CourierField(1, .offeredToken, \.baseToken), CourierField(2, .looseInteger, \.state),
    CourierField(5, .looseInteger, \.flags), CourierField(6, .looseInteger, \.interface),
    CourierField(8, .text, \.carrier), CourierField(9, .text, \.systemVersion),
    CourierField(10, .text, \.systemBuild), CourierField(11, .text, \.hardwareModel),
    CourierField(12, .bytes, \.certificate), CourierField(13, .bytes, \.nonce),
    CourierField(14, .bytes, \.signature), CourierField(16, .looseInteger, \.protocolVersion),
    CourierField(17, .looseInteger, \.redirectCount), CourierField(19, .looseInteger, \.dnsTime),
    CourierField(20, .looseInteger, \.tlsTime), CourierField(22, .looseInteger, \.timestamp),
    CourierField(0xe0, .looseInteger, \.simulatedDevice), CourierField(each: 0xe1, .topicName, \.topicNames),
  ])

  /// The remembered base token; nil on first contact.
  public var baseToken: DeviceToken?
  /// 1 by every known client.
  public var state: UInt8?
  /// Bit mask; any value is accepted.
  public var flags: UInt32?
  public var interface: UInt8?
  public var carrier: String?
  public var systemVersion: String?
  public var systemBuild: String?
  public var hardwareModel: String?
  /// The device certificate in DER.
  public var certificate: [UInt8]?
  /// 17 bytes: 0, milliseconds since 1970, 8 random bytes (`Documentation/device-protocol.md#authentication`).
  public var nonce: [UInt8]?
  /// `01 01`, then RSA-SHA1 over the nonce (`Documentation/device-protocol.md#authentication`).
  public var signature: [UInt8]?
  public var protocolVersion: UInt16?
  public var redirectCount: UInt16?
  /// Milliseconds.
  public var dnsTime: UInt16?
  /// Milliseconds.
  public var tlsTime: UInt16?
  public var timestamp: UInt64?
  /// What a simulated device is capable of; nil from everybody else.
  public var simulatedDevice: UInt8?
  /// It understands what is private, and ends at bytes.
  public static let withoutPhone: UInt8 = 1
  /// From here on it has a phone, which takes orders and reports.
  public static let withPhone: UInt8 = 2
  /// Names of topics, told by simulated devices only.
  public var topicNames: [Topic] = []

  public init() {}
}

extension CourierKind where Value == DeviceToken {
  /// An empty one is taken for an absent one: what counts is that none was offered.
  fileprivate static var offeredToken: Self {
    Self(packing: CourierItemPacking(isCached: true)) { (item) throws(CourierProtocolError) in
      let token = DeviceToken(item.value)
      guard token != nil || item.value.isEmpty else { throw item.malformed }
      return token
    } write: {
      $1.append($0)
    }
  }
}

/// The server's answer to connect (`Documentation/device-protocol.md#connected`). The defaults are what real clients
/// were seen to need.
public struct ConnectedResponse: CourierCommandValue {
  public static let command = CourierCommand.connected
  public static let form = CourierForm<ConnectedResponse>([
    CourierField(1, .integer, \.status), CourierField(2, .text, \.serverMetadata),
    CourierField(3, .token, \.baseToken), CourierField(4, .looseInteger, \.maximumMessageSize),
    CourierField(5, .looseInteger, \.unknown5), CourierField(6, .looseInteger, \.capabilities),
    CourierField(8, .looseInteger, \.largeMessageSize), CourierField(9, .text, \.redirectReason),
    CourierField(10, .looseInteger, \.serverTime),
  ])

  /// 0, or why not.
  public var status: UInt8
  public var serverMetadata: String?
  /// Present when a token is assigned or replaced; absent when the offered one holds.
  public var baseToken: DeviceToken?
  /// Bytes.
  public var maximumMessageSize: UInt16?
  /// Perhaps a protocol version.
  public var unknown5: UInt16?
  /// Bit mask whose real value is not recorded; this one is accepted.
  public var capabilities: UInt32?
  /// Bytes.
  public var largeMessageSize: UInt16?
  public var redirectReason: String?
  /// Milliseconds since 1970.
  public var serverTime: UInt64?

  /// Welcome.
  public static let statusAccepted: UInt8 = 0
  /// The offered token or the identity is refused; a device then comes back without a token.
  public static let statusRefused: UInt8 = 2

  /// An answer with every item that a known client insists on.
  public init(status: UInt8, baseToken: DeviceToken?, at now: Timestamp) {
    self.status = status
    self.baseToken = baseToken
    maximumMessageSize = 4096
    unknown5 = 2
    capabilities = 0x0c
    largeMessageSize = 15360
    serverTime = UInt64(clamping: now.milliseconds)
  }

  public init() { status = Self.statusAccepted }
}

/// Whether the device is in use (`Documentation/device-protocol.md#set-state`). Some clients never send it; nothing may
/// wait for it.
public struct SetState: CourierCommandValue {
  public static let command = CourierCommand.setState
  public static let form = CourierForm<SetState>([
    CourierField(1, .integer, \.state), CourierField(2, .looseInteger, \.interval),
  ])

  /// 1: active.
  public var state: UInt8
  public var interval: UInt32?

  /// What every client sends.
  public static let active = SetState(state: 1, interval: 0x7fff_ffff)

  public init(state: UInt8, interval: UInt32?) {
    self.state = state
    self.interval = interval
  }

  public init() { self.init(state: 0, interval: nil) }
}

/// A device asks whether the server is still there (`Documentation/device-protocol.md#keep-alive`). Clients put items into it that a
/// server needs none of to answer.
public struct KeepAlive: CourierCommandValue {
  public static let command = CourierCommand.keepAlive
  public static let form = CourierForm<KeepAlive>([])

  public init() {}
}

/// The server is still there (`Documentation/device-protocol.md#keep-alive`).
public struct KeepAliveAnswer: CourierCommandValue {
  public static let command = CourierCommand.keepAliveAnswer
  public static let form = CourierForm<KeepAliveAnswer>([])

  public init() {}
}
