import PushModel

/// There is a topic, it is well formed, and this provider may push to it
/// (`Documentation/provider-api.md#order-of-checks` step 5; `#topics-extension`, `#push-types`).
struct TopicPolicy: RequestPolicy {
  let directory: any DeviceDirectory

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let bytes = context.message[.apnsTopic], !bytes.isEmpty else { return implied(context) }
    if let known = context.topics.find(bytes, context.pushType, context.grant.map(ObjectIdentifier.init)),
      let handle = known.handle, directory.isCurrent(handle)
    {
      context.topic = known
      return nil
    }
    guard let topic = Topic(String(decoding: bytes, as: UTF8.self)) else {
      return Refusal(
        .badTopic, rule: Rule.topic,
        expected: "at most \(Topic.maximumByteCount) letters, digits, dots, hyphens and underscores",
        got: .quoted(bytes))
    }
    if let refusal = judge(topic, context) { return refusal }
    if context.waived.isEmpty, let found = context.topic {
      context.topics.remember(found, bytes, context.pushType, context.grant)
    }
    return nil
  }

  /// A certificate for a single topic implies it (`Documentation/provider-api.md#topics-extension`).
  private func implied(_ context: RequestContext) -> Refusal? {
    guard case .certificate(let certificate) = context.identity, let topic = certificate.impliedTopic else {
      return Refusal(
        .missingTopic, rule: Rule.topic,
        expected: "a topic, as neither a provider token nor a certificate for several implies one",
        got: "none")
    }
    return judge(topic, context)
  }

  private func judge(_ topic: Topic, _ context: RequestContext) -> Refusal? {
    context.topic = RememberedTopic(topic: topic, handle: directory.handle(of: topic))
    if !context.allows(topic), let refusal = context.enforce(Self.disallowed(topic, context)) {
      return refusal
    }
    guard let rejection = context.options.suffixMismatch, let pushType = context.pushType,
      !pushType.fits(topic)
    else { return nil }
    return Refusal(
      rejection, rule: Rule.topicOfPushType,
      expected: pushType.topicSuffix.isEmpty
        ? "a topic without a suffix" : "a topic ending in \(pushType.topicSuffix)",
      got: Phrase(topic.name))
  }

  private static func disallowed(_ topic: Topic, _ context: RequestContext) -> Refusal {
    Refusal(
      .topicDisallowed, rule: Rule.topicsOfProvider,
      expected: Phrase(context.identity.coverage(context.grant)),
      got: context.pushType.map { "\(topic.name) with push type \($0.name)" } ?? Phrase(topic.name))
  }
}

extension PushType {
  /// Whether a topic has this type's suffix, and no other's.
  fileprivate func fits(_ topic: Topic) -> Bool {
    guard topicSuffix.isEmpty else { return topic.name.hasSuffix(topicSuffix) }
    return !PushType.topicSuffixes.contains { topic.name.hasSuffix($0) }
  }
}

extension ProviderIdentity {
  /// Most topics named in an explanation.
  private static var named: Int { 5 }

  /// What the provider may push to, in words.
  func coverage(_ grant: ProviderGrant?) -> String {
    switch self {
    case .certificate(let certificate): Self.list(certificate.topics)
    case .token: grant?.topics.map(Self.list) ?? "any topic of the team"
    }
  }

  private static func list(_ topics: Set<Topic>) -> String {
    let names = topics.map(\.name).sorted()
    let more = names.count > named ? " or \(names.count - named) more" : ""
    return "one of " + names.prefix(named).joined(separator: ", ") + more
  }
}

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
