import PushModel

/// One topic of a push certificate with the kinds of push it is listed for.
public struct PushTopic: Hashable, Sendable {
  public var name: Topic
  /// `app`, `voip`, `complication`, or whatever the certificate says.
  public var kinds: [String]

  public init(name: Topic, kinds: [String]) {
    self.name = name
    self.kinds = kinds
  }

  /// A topic with the kind that its suffix tells (`Documentation/provider-api.md#topics-extension`, `#push-types`).
  public init(_ name: Topic) { self.init(name: name, kinds: [Self.kind(of: name)]) }

  /// What a new certificate for `topics` lists. In a universal one a single bundle id gets its VoIP and complication
  /// topics too, as Apple's have them (`Documentation/provider-api.md#topics-extension`); of several, and in the older
  /// single kinds, each stands for itself.
  package static func listed(for topics: [Topic], isUniversal: Bool) -> [PushTopic] {
    guard isUniversal, topics.count == 1, let base = topics.first, kind(of: base) == "app" else {
      return topics.map { PushTopic($0) }
    }
    let derived = [PushType.voip, .complication].compactMap { Topic(base.name + $0.topicSuffix) }
    return ([base] + derived).map { PushTopic($0) }
  }

  private static func kind(of topic: Topic) -> String {
    let special = [PushType.voip, .complication].first { topic.name.hasSuffix($0.topicSuffix) }
    return special?.name ?? "app"
  }
}
