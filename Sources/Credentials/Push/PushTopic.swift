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
  /// topics too, as Apple's have them (`Documentation/provider-api.md#topics-extension`), and those of its other suffixes that were
  /// asked for; of several bundle ids, and in the older single kinds, each topic stands for itself.
  public static func listed(for topics: [Topic], isUniversal: Bool) -> [PushTopic] {
    guard isUniversal, let base = topics.first, kind(of: base) == "app",
      topics.dropFirst().allSatisfy({ isOfApp($0, base) })
    else { return topics.map { PushTopic($0) } }
    let implied = implied(by: base)
    return ([base] + implied + topics.dropFirst().filter { !implied.contains($0) }).map { PushTopic($0) }
  }

  /// What a universal certificate for a bundle id lists besides it, unasked.
  static func implied(by base: Topic) -> [Topic] {
    [PushType.voip, .complication].compactMap { Topic(base.name + $0.topicSuffix) }
  }

  /// Whether it is the bundle id with one of the suffixes that certificates list.
  private static func isOfApp(_ topic: Topic, _ base: Topic) -> Bool {
    suffixed.contains { topic.name == base.name + $0.topicSuffix }
  }

  /// The push types that have a suffix and can be used with a certificate (`Documentation/provider-api.md#topics-extension`).
  private static let suffixed: [PushType] = [
    .voip, .complication, .fileprovider, .pushtotalk, .widgets, .controls,
  ]

  private static func kind(of topic: Topic) -> String {
    suffixed.first { topic.name.hasSuffix($0.topicSuffix) }?.name ?? "app"
  }
}
