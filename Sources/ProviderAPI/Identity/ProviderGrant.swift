import PushModel

/// What a valid provider token allows (`Documentation/provider-api.md#provider-tokens`).
///
/// Make one for each token and hand out the same object again while the token is the same: topics found allowed are
/// remembered under it.
public final class ProviderGrant {
  public let keyID: String
  public let teamID: String
  /// The topics of a topic-specific key; nil for a key of the whole team.
  public let topics: Set<Topic>?
  /// What strict has against the token, where a lenient verifier took it at its word.
  public let waiver: Waiver?

  public init(keyID: String, teamID: String, topics: Set<Topic>? = nil, waiver: Waiver? = nil) {
    (self.keyID, self.teamID, self.topics, self.waiver) = (keyID, teamID, topics, waiver)
  }

  static let suffixes = PushType.allCases.map(\.topicSuffix).filter { !$0.isEmpty }

  func covers(_ topic: Topic) -> Bool {
    guard let topics else { return true }
    return topics.contains(topic) || topic.isDerived(from: topics, by: Self.suffixes)
  }
}
