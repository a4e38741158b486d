extension CourierMessage {
  /// Reads what a message may do without. A width that a known client would die of is an error here as well.
  mutating func readOptional(_ frame: CourierFrame) throws(CourierProtocolError) {
    var items = frame.items
    while let item = try items.next() {
      guard let id = CourierItem.Message(rawValue: item.id) else { continue }
      try readOptional(id, item)
    }
  }

  private mutating func readOptional(
    _ id: CourierItem.Message, _ item: CourierItemView
  ) throws(CourierProtocolError) {
    switch id {
    case .expiry: expiry = try item.requireInteger()
    case .timestamp: timestamp = try item.requireInteger()
    case .storageFlags: storageFlags = item.integer()
    case .storageFlagsToo: storageFlagsToo = try item.requireInteger()
    case .priority: priority = try item.requireInteger()
    case .baseToken: baseToken = try item.requireToken()
    case .tracingIdentifier: tracingIdentifier = item.bytes
    case .pushType: pushType = item.integer()
    case .channel: channel = try CourierChannel(protobuf: item.value)
    case .token, .topic, .payload, .messageId: break
    }
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.Message
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.token, token)
    writer.item(Item.topic, topic)
    writer.item(Item.payload, payload)
    writer.item(Item.messageId, messageId)
    writer.item(Item.expiry, expiry)
    writer.item(Item.timestamp, timestamp)
    writer.item(Item.storageFlags, storageFlags)
    writer.item(Item.storageFlagsToo, storageFlagsToo)
    writer.item(Item.priority, priority)
    writer.item(Item.baseToken, baseToken)
    writer.item(Item.tracingIdentifier, tracingIdentifier)
    writer.item(Item.pushType, pushType)
    writer.item(Item.channel, channel?.protobuf)
    return writer.finish()
  }
}
