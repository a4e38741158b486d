import Basics
import PushModel

/// What `keys/<KEY>.json` says about a token key (`certs/README.md`; `Documentation/provider-api.md#key-kinds`).
public struct ProviderKeyRecord: Equatable, Sendable {
  public var keyId: String
  public var teamId: String
  /// Empty for a key of the whole team.
  public var topics: [Topic]
  public var environments: EnvironmentSet
  /// The one other topic-specific key whose tokens may follow on the same connection.
  public var relatedKeyId: String?

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
  var isWellFormed: Bool { Self.isIdentifier(keyId) && Self.isIdentifier(teamId) }

  /// Whether a text may be a key or team id: what a UDID may be, since ids name files and are shown in logs too. Apple's have ten
  /// characters; tests like readable ones.
  static func isIdentifier(_ text: String) -> Bool { UDID(text) != nil }

  /// Reads the file's content; nil unless it has the members with the right types. Absent topics mean all, absent
  /// environments both.
  public init?(json: [UInt8]) {
    guard let value = JSONReader.read(json), let keyId = value.string("keyId"),
      let teamId = value.string("teamId"),
      let names = value.strings("topics"), let environments = Self.environments(value)
    else { return nil }
    let topics = names.compactMap { Topic($0) }
    self.init(
      keyId: keyId, teamId: teamId, topics: topics, environments: environments,
      relatedKeyId: value.string("relatedKeyId"))
    guard topics.count == names.count, isWellFormed else { return nil }
  }

  private static func environments(_ value: JSONValue) -> EnvironmentSet? {
    if let word = value.string("environments") { return EnvironmentSet(name: word) }
    guard let names = value.strings("environments") else { return nil }
    let sets = names.compactMap { EnvironmentSet(name: $0) }
    guard sets.count == names.count else { return nil }
    return sets.isEmpty ? .both : EnvironmentSet(sets)
  }

  /// The file's content.
  public var json: [UInt8] {
    var members: [(String, JSONValue)] = [
      ("keyId", .string(keyId)), ("teamId", .string(teamId)),
      ("topics", .array(topics.map { .string($0.name) })),
      ("environments", .array(environments.environments.map { .string($0.name) })),
    ]
    if let relatedKeyId { members.append(("relatedKeyId", .string(relatedKeyId))) }
    return JSONValue.object(members).encoded + [UInt8(ascii: "\n")]
  }
}
