import Basics
import PushModel

/// What a device says of itself first (`Documentation/device-protocol.md#connect`). Nothing in it has been verified.
package struct ConnectRequest: CourierCommandValue {
  package static let command = CourierCommand.connect
  package static let form = CourierForm<ConnectRequest>([
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
  package var baseToken: DeviceToken?
  /// 1 by every known client.
  package var state: UInt8?
  /// Bit mask; any value is accepted.
  package var flags: UInt32?
  package var interface: UInt8?
  package var carrier: String?
  package var systemVersion: String?
  package var systemBuild: String?
  package var hardwareModel: String?
  /// The device certificate in DER.
  package var certificate: [UInt8]?
  /// 17 bytes: 0, milliseconds since 1970, 8 random bytes (`Documentation/device-protocol.md#authentication`).
  package var nonce: [UInt8]?
  /// `01 01`, then RSA-SHA1 over the nonce (`Documentation/device-protocol.md#authentication`).
  package var signature: [UInt8]?
  package var protocolVersion: UInt16?
  package var redirectCount: UInt16?
  /// Milliseconds.
  package var dnsTime: UInt16?
  /// Milliseconds.
  package var tlsTime: UInt16?
  package var timestamp: UInt64?
  /// What a simulated device is capable of; nil from everybody else.
  package var simulatedDevice: UInt8?
  /// It understands what is private, and ends at bytes.
  package static let withoutPhone: UInt8 = 1
  /// From here on it has a phone, which takes orders and reports.
  package static let withPhone: UInt8 = 2
  /// Names of topics, told by simulated devices only.
  package var topicNames: [Topic] = []

  package init() {}
}

extension CourierKind where Value == DeviceToken {
  /// An empty one is taken for an absent one: what counts is that none was offered.
  fileprivate static var offeredToken: Self {
    Self(packing: CourierItemPacking(isCached: true)) { (item) throws(CourierProtocolError) in
      item.value.isEmpty ? nil : try item.requireToken()
    } write: {
      $1.append($0)
    }
  }
}

/// The server's answer to connect (`Documentation/device-protocol.md#connected`). The defaults are what real clients
/// were seen to need.
package struct ConnectedResponse: CourierCommandValue {
  package static let command = CourierCommand.connected
  package static let form = CourierForm<ConnectedResponse>([
    CourierField(1, .integer, \.status), CourierField(2, .text, \.serverMetadata),
    CourierField(3, .token, \.baseToken), CourierField(4, .looseInteger, \.maximumMessageSize),
    CourierField(5, .looseInteger, \.unknown5), CourierField(6, .looseInteger, \.capabilities),
    CourierField(8, .looseInteger, \.largeMessageSize), CourierField(9, .text, \.redirectReason),
    CourierField(10, .looseInteger, \.serverTime),
  ])

  /// 0, or why not.
  package var status: UInt8
  package var serverMetadata: String?
  /// Present when a token is assigned or replaced; absent when the offered one holds.
  package var baseToken: DeviceToken?
  /// Bytes.
  package var maximumMessageSize: UInt16?
  /// Perhaps a protocol version.
  package var unknown5: UInt16?
  /// Bit mask whose real value is not recorded; this one is accepted.
  package var capabilities: UInt32?
  /// Bytes.
  package var largeMessageSize: UInt16?
  package var redirectReason: String?
  /// Milliseconds since 1970.
  package var serverTime: UInt64?

  /// Welcome.
  package static let statusAccepted: UInt8 = 0
  /// The offered token or the identity is refused; a device then comes back without a token.
  package static let statusRefused: UInt8 = 2

  /// An answer with every item that a known client insists on.
  package init(status: UInt8, baseToken: DeviceToken?, at now: Timestamp) {
    self.status = status
    self.baseToken = baseToken
    maximumMessageSize = 4096
    unknown5 = 2
    capabilities = 0x0c
    largeMessageSize = 15360
    serverTime = UInt64(clamping: now.milliseconds)
  }

  package init() { status = Self.statusAccepted }
}

/// Whether the device is in use (`Documentation/device-protocol.md#set-state`). Some clients never send it; nothing may
/// wait for it.
package struct SetState: CourierCommandValue {
  package static let command = CourierCommand.setState
  package static let form = CourierForm<SetState>([
    CourierField(1, .integer, \.state), CourierField(2, .looseInteger, \.interval),
  ])

  /// 1: active.
  package var state: UInt8
  package var interval: UInt32?

  /// What every client sends.
  package static let active = SetState(state: 1, interval: 0x7fff_ffff)

  package init(state: UInt8, interval: UInt32?) {
    self.state = state
    self.interval = interval
  }

  package init() { self.init(state: 0, interval: nil) }
}

/// A device asks whether the server is still there (`Documentation/device-protocol.md#keep-alive`). Clients put items into it that a
/// server needs none of to answer.
package struct KeepAlive: CourierCommandValue {
  package static let command = CourierCommand.keepAlive
  package static let form = CourierForm<KeepAlive>([])

  package init() {}
}

/// The server is still there (`Documentation/device-protocol.md#keep-alive`).
package struct KeepAliveAnswer: CourierCommandValue {
  package static let command = CourierCommand.keepAliveAnswer
  package static let form = CourierForm<KeepAliveAnswer>([])

  package init() {}
}
