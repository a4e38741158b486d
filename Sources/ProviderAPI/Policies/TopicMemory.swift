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

  private struct Entry {
    var bytes: [UInt8]
    var pushType: PushType?
    var grant: ObjectIdentifier?
    /// Keeps the identifier from being used for another grant.
    var owner: ProviderGrant?
    var topic: RememberedTopic

    func isFor(
      _ other: UnsafeRawBufferPointer, _ otherType: PushType?, _ otherGrant: ObjectIdentifier?
    ) -> Bool {
      grant == otherGrant && pushType == otherType && bytes.withUnsafeBytes { $0.hasSameBytes(as: other) }
    }
  }

  private var entries: [Entry] = []
  private var next = 0

  func find(_ bytes: UnsafeRawBufferPointer, _ pushType: PushType?, _ grant: ProviderGrant?)
    -> RememberedTopic?
  {
    let grant = grant.map(ObjectIdentifier.init)
    // By index, because a loop variable would be a copy of each entry.
    for index in entries.indices where entries[index].isFor(bytes, pushType, grant) {
      return entries[index].topic
    }
    return nil
  }

  mutating func remember(
    _ topic: RememberedTopic, _ bytes: UnsafeRawBufferPointer, _ pushType: PushType?, _ grant: ProviderGrant?
  ) {
    let entry = Entry(
      bytes: Array(bytes), pushType: pushType, grant: grant.map(ObjectIdentifier.init), owner: grant,
      topic: topic)
    if entries.count < Self.capacity {
      entries.append(entry)
    } else {
      entries[next] = entry
      next = (next + 1) % Self.capacity
    }
  }
}
