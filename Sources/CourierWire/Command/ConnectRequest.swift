import PushModel

/// What a device says of itself first (`Documentation/device-protocol.md#connect`). Nothing in it has been verified.
public struct ConnectRequest: CourierFormed {
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
  /// Items that are unknown, or known but of an unexpected form.
  public var others: [CourierItemValue] = []

  public init() {}
}

extension CourierKind where Value == DeviceToken {
  /// An empty one is taken for an absent one: what counts is that none was offered.
  fileprivate static var offeredToken: Self {
    Self(
      read: { (item) throws(CourierProtocolError) in item.value.isEmpty ? nil : try item.requireToken() },
      write: { $0.bytes })
  }
}
