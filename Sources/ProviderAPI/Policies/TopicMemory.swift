import PushModel

/// A topic that this connection has been found to be allowed.
struct RememberedTopic {
  var topic: Topic
  var handle: TopicID?
}

/// The topics a connection used last: most connections push to one or two, and reading, judging and looking up a topic costs
/// more than all other checks together.
struct TopicMemory {
  /// How many are remembered.
  static let capacity = 8

  /// An object, so that looking at one does not count the references to everything in it.
  private final class Entry {
    let topic: RememberedTopic
    private let bytes: [UInt8]
    private let pushType: PushType?
    private let grant: ObjectIdentifier?
    /// Keeps the identifier from being used for another grant.
    private let owner: ProviderGrant?

    init(
      _ topic: RememberedTopic, _ bytes: UnsafeRawBufferPointer, _ pushType: PushType?,
      _ grant: ProviderGrant?
    ) {
      (self.topic, self.bytes, self.pushType) = (topic, Array(bytes), pushType)
      (self.grant, owner) = (grant.map(ObjectIdentifier.init), grant)
    }

    func isFor(
      _ other: UnsafeRawBufferPointer, _ otherType: PushType?, _ otherGrant: ObjectIdentifier?
    ) -> Bool {
      grant == otherGrant && pushType == otherType && bytes.withUnsafeBytes { $0.hasSameBytes(as: other) }
    }
  }

  private var entries: [Entry] = []
  private var next = 0

  func find(_ bytes: UnsafeRawBufferPointer, _ pushType: PushType?, _ grant: ObjectIdentifier?)
    -> RememberedTopic?
  {
    entries.first { $0.isFor(bytes, pushType, grant) }?.topic
  }

  mutating func remember(
    _ topic: RememberedTopic, _ bytes: UnsafeRawBufferPointer, _ pushType: PushType?, _ grant: ProviderGrant?
  ) {
    let entry = Entry(topic, bytes, pushType, grant)
    if let index = entries.firstIndex(where: { $0.isFor(bytes, pushType, grant.map(ObjectIdentifier.init)) })
    {
      entries[index] = entry
    } else if entries.count < Self.capacity {
      entries.append(entry)
    } else {
      entries[next] = entry
      next = (next + 1) % Self.capacity
    }
  }
}
