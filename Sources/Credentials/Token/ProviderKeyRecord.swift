import PushModel

/// What `keys/<KEY>.json` says about a token key (`interface.md`, Certs folder; `spec/provider-protocol.md` E, Key kinds).
public struct ProviderKeyRecord: Equatable, Sendable {
  public var keyId: String
  public var teamId: String
  /// Empty for a key of the whole team.
  public var topics: [Topic]
  public var environments: EnvironmentSet
  /// The one other topic-specific key whose tokens may follow on the same connection.
  public var relatedKeyId: String?

  /// Longest key or team id, in bytes. Apple's have ten; tests like readable ones.
  static let longestId = 64

  public init(
    keyId: String, teamId: String, topics: [Topic] = [], environments: EnvironmentSet = .both,
    relatedKeyId: String? = nil
  ) {
    self.keyId = keyId
    self.teamId = teamId
    self.topics = topics
    self.environments = environments
    self.relatedKeyId = relatedKeyId
  }

  /// Whether both ids are short words (the key id also names files).
  var isWellFormed: Bool {
    [keyId, teamId].allSatisfy { id in
      id.utf8.count <= Self.longestId && UDID(id) != nil
    }
  }

  /// The file's content.
  var json: [UInt8] {
    let value: JSONValue = [
      "keyId": .string(keyId), "teamId": .string(teamId), "topics": .array(topics.map { .string($0.name) }),
      "environments": .array(environments.environments.map { .string($0.name) }),
    ]
    return value.encoded + [UInt8(ascii: "\n")]
  }
}
