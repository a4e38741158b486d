import PushModel

/// An app of a saved state: its topic, and the push certificate that was issued for it.
struct SavedApp: Equatable {
  var topic: Topic
  var certificate: SavedCertificate?

  init(topic: Topic, certificate: SavedCertificate?) { (self.topic, self.certificate) = (topic, certificate) }

  init(_ object: JSONObject) throws {
    try object.check(allowing: ["topic", "certificate"])
    topic = try object.required("topic", Topic.expectation, object.topic("topic"))
    switch object["certificate"] {
    case nil, .null?: certificate = nil
    case .string?:
      certificate = SavedCertificate(
        topic: topic, environments: try object.environments("certificate") ?? Environment.allCases)
    default: certificate = try object.object("certificate").map { try Self.certificate($0, topic) }
    }
  }

  private static func certificate(_ object: JSONObject, _ topic: Topic) throws -> SavedCertificate {
    try object.check(allowing: ["environments", "moreTopics", "single"])
    let (more, isSingle) = (try object.topics("moreTopics") ?? [], try object.bool("single") ?? false)
    guard !isSingle || more.isEmpty else {
      throw ConsoleError.badRequest("\(object.path("single")): expected no moreTopics beside it")
    }
    return SavedCertificate(
      topic: topic, moreTopics: more,
      environments: try object.environments("environments") ?? Environment.allCases, isSingle: isSingle)
  }

  var json: JSONValue { ["topic": .string(topic.name), "certificate": certificateJSON] }

  /// The environments alone say all of a certificate for one app.
  private var certificateJSON: JSONValue {
    guard let certificate else { return .null }
    if certificate.isSingle {
      return ["environments": .environments(certificate.environments), "single": true]
    }
    guard !certificate.moreTopics.isEmpty else { return .environments(certificate.environments) }
    return [
      "environments": .environments(certificate.environments),
      "moreTopics": .array(certificate.moreTopics.map { .string($0.name) }),
    ]
  }
}

extension SavedKey {
  init(_ object: JSONObject) throws {
    try object.check(allowing: ["keyId", "teamId", "topics", "environments"])
    let id = "1 to 64 of A-Z a-z 0-9 . _ -"
    let word = { (name: String) in
      try object.required(name, id, object.text(name, id) { UDID($0)?.text })
    }
    self.init(
      keyId: try word("keyId"), teamId: try word("teamId"), topics: try object.topics("topics") ?? [],
      environments: try object.environments("environments") ?? Environment.allCases)
  }

  var json: JSONValue {
    [
      "keyId": .string(keyId), "teamId": .string(teamId),
      "topics": .array(topics.map { .string($0.name) }), "environments": .environments(environments),
    ]
  }
}

extension Topic {
  static let expectation = "a bundle id, as com.example.app"
}

extension JSONValue {
  /// `sandbox`, `production` or `both`.
  static func environments(_ environments: [Environment]) -> JSONValue {
    .string(environments.count == 1 ? environments[0].name : "both")
  }
}

extension JSONObject {
  func topic(_ name: String) throws -> Topic? { try text(name, Topic.expectation) { Topic($0) } }

  func topics(_ name: String) throws -> [Topic]? {
    try strings(name)?.enumerated().map { index, text in
      guard let topic = Topic(text) else {
        throw ConsoleError.bad("\(path(name))[\(index)]", expected: Topic.expectation, got: text)
      }
      return topic
    }
  }

  func environments(_ name: String) throws -> [Environment]? {
    try text(name, "sandbox, production or both") { word in
      word == "both" ? Environment.allCases : Environment(name: word).map { [$0] }
    }
  }

  func environment(_ name: String) throws -> Environment? {
    try text(name, "sandbox or production") { Environment(name: $0) }
  }
}
