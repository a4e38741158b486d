import PushModel

/// What a device says of itself first (`Documentation/device-protocol.md#connect`). Nothing in it has been verified.
public struct ConnectRequest: CourierCommandValue {
  public static let command = CourierCommand.connect

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

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var items = frame.items
    while let item = try items.next() {
      guard let id = CourierItem.Connect(rawValue: item.id), try read(id, item) else {
        others.append(CourierItemValue(item))
        continue
      }
    }
  }

  /// Whether the item could be read. Only the token must have its form: the rest informs or is verified elsewhere.
  private mutating func read(
    _ id: CourierItem.Connect, _ item: CourierItemView
  ) throws(CourierProtocolError) -> Bool {
    switch id {
    case .baseToken: return try readBaseToken(item)
    case .carrier: carrier = item.text
    case .systemVersion: systemVersion = item.text
    case .systemBuild: systemBuild = item.text
    case .hardwareModel: hardwareModel = item.text
    case .certificate: certificate = item.bytes
    case .nonce: nonce = item.bytes
    case .signature: signature = item.bytes
    case .topicName: return readTopicName(item)
    default: return readNumber(id, item)
    }
    return true
  }

  /// An empty token is taken for an absent one: what counts is that none was offered.
  private mutating func readBaseToken(_ item: CourierItemView) throws(CourierProtocolError) -> Bool {
    guard !item.value.isEmpty else { return false }
    baseToken = try item.requireToken()
    return true
  }

  private mutating func readTopicName(_ item: CourierItemView) -> Bool {
    guard let topic = Topic(item.text) else { return false }
    topicNames.append(topic)
    return true
  }

  private mutating func readNumber(_ id: CourierItem.Connect, _ item: CourierItemView) -> Bool {
    switch id {
    case .state: Self.assign(item.integer(), to: &state)
    case .flags: Self.assign(item.integer(), to: &flags)
    case .interface: Self.assign(item.integer(), to: &interface)
    case .protocolVersion: Self.assign(item.integer(), to: &protocolVersion)
    case .redirectCount: Self.assign(item.integer(), to: &redirectCount)
    case .dnsTime: Self.assign(item.integer(), to: &dnsTime)
    case .tlsTime: Self.assign(item.integer(), to: &tlsTime)
    case .timestamp: Self.assign(item.integer(), to: &timestamp)
    case .simulatedDevice: Self.assign(item.integer(), to: &simulatedDevice)
    default: false
    }
  }

  private static func assign<Number>(_ number: Number?, to target: inout Number?) -> Bool {
    guard let number else { return false }
    target = number
    return true
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.Connect
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.baseToken, baseToken)
    writer.item(Item.state, state)
    writer.item(Item.flags, flags)
    writer.item(Item.interface, interface)
    writer.item(Item.carrier, carrier)
    writer.item(Item.systemVersion, systemVersion)
    writer.item(Item.systemBuild, systemBuild)
    writer.item(Item.hardwareModel, hardwareModel)
    writer.item(Item.certificate, certificate)
    writer.item(Item.nonce, nonce)
    writer.item(Item.signature, signature)
    writer.item(Item.protocolVersion, protocolVersion)
    writer.item(Item.redirectCount, redirectCount)
    writer.item(Item.dnsTime, dnsTime)
    writer.item(Item.tlsTime, tlsTime)
    writer.item(Item.timestamp, timestamp)
    writer.item(Item.simulatedDevice, simulatedDevice)
    for topic in topicNames { writer.item(Item.topicName, topic.name) }
    for other in others { writer.item(other) }
    return writer.finish()
  }
}
