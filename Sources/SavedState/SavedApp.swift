import Basics
import Console
import PushModel

/// An app of a saved state: its topic, and the push certificate that was issued for it.
struct SavedApp: Equatable, JSONDocument {
  var topic: Topic
  var certificate: SavedCertificate?

  static let form = JSONForm<SavedApp>([
    JSONField("topic", .topic, \.topic).needed,
    JSONField("certificate", SavedCertificate.schema) { value, place, app in
      app.certificate = try SavedCertificate(value, place, app.topic)
    } write: {
      $0.certificate?.json ?? .null
    },
  ])

  init(topic: Topic, certificate: SavedCertificate?) { (self.topic, self.certificate) = (topic, certificate) }

  init(_ object: JSONObject) throws {
    topic = try object.required("topic", .topic)
    try Self.form.read(object, into: &self)
  }
}

/// The environments alone say all of a certificate for one app.
extension SavedCertificate: JSONDocument {
  package static let form = JSONForm<SavedCertificate>([
    JSONField("environments", .environments, \.environments),
    JSONField(
      "moreTopics", .list(of: .topic), get: { $0.moreTopics.isEmpty ? nil : $0.moreTopics },
      set: { $0.moreTopics = $1 }),
    JSONField(flag: "single", \.isSingle),
  ])

  fileprivate static let schema: JSONValue = [
    "oneOf": [["type": "null"], JSONKind.environments.schema, form.schema]
  ]

  /// nil for none.
  fileprivate init?(_ value: JSONValue, _ place: String, _ topic: Topic) throws {
    self.init(topic: topic, environments: Environment.allCases)
    switch value {
    case .null: return nil
    case .string: environments = try JSONKind.environments.read(value, place)
    default:
      let object = try JSONObject(value, place: place)
      try Self.form.read(object, into: &self)
      guard !isSingle || moreTopics.isEmpty else {
        throw DocumentError("\(object.path("single")): expected no moreTopics beside it, got both")
      }
    }
  }

  fileprivate var json: JSONValue {
    isSingle || !moreTopics.isEmpty ? document : JSONKind.environments.write(environments)
  }
}

extension SavedKey: JSONDocument {
  package static let form = JSONForm<SavedKey>([
    JSONField("keyId", .name, \.keyId).needed, JSONField("teamId", .name, \.teamId).needed,
    JSONField("topics", .list(of: .topic), \.topics),
    JSONField("environments", .environments, \.environments),
  ])

  init(_ object: JSONObject) throws {
    self.init(
      keyId: try object.required("keyId", .name), teamId: try object.required("teamId", .name), topics: [],
      environments: Environment.allCases)
    try Self.form.read(object, into: &self)
  }
}
