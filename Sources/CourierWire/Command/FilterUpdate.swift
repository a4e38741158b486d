import PushModel

/// The topics a device wants, replacing everything it said before for that base token
/// (`Documentation/device-protocol.md#filter`).
public struct FilterUpdate: CourierCommandValue {
  public static let command = CourierCommand.filter

  /// Whose filter it is; early clients left it out.
  public var baseToken: DeviceToken?
  /// Delivered at once.
  public var enabled: [TopicHash] = []
  public var ignored: [TopicHash] = []
  public var opportunistic: [TopicHash] = []
  public var paused: [TopicHash] = []
  public var nonWaking: [TopicHash] = []
  /// Topic items that were not 20 bytes long. Two known clients write such items; they enable nothing.
  public private(set) var malformedCount = 0

  public init(baseToken: DeviceToken?, enabled: [TopicHash] = []) {
    self.baseToken = baseToken
    self.enabled = enabled
  }

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var items = frame.items
    while let item = try items.next() {
      switch CourierItem.Filter(rawValue: item.id) {
      case .baseToken: baseToken = try item.requireToken()
      case .enabled: append(item, to: \.enabled)
      case .ignored: append(item, to: \.ignored)
      case .opportunistic: append(item, to: \.opportunistic)
      case .paused: append(item, to: \.paused)
      case .nonWaking: append(item, to: \.nonWaking)
      case nil: continue
      }
    }
  }

  private mutating func append(_ item: CourierItemView, to list: WritableKeyPath<Self, [TopicHash]>) {
    if let hash = TopicHash(item.value) {
      self[keyPath: list].append(hash)
    } else {
      malformedCount += 1
    }
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.Filter
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.baseToken, baseToken)
    for hash in enabled { writer.item(Item.enabled, hash) }
    for hash in ignored { writer.item(Item.ignored, hash) }
    for hash in opportunistic { writer.item(Item.opportunistic, hash) }
    for hash in paused { writer.item(Item.paused, hash) }
    for hash in nonWaking { writer.item(Item.nonWaking, hash) }
    return writer.finish()
  }
}
