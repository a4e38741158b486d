import Basics
import PushModel

/// A push certificate that somebody asks for: made here, key and all, or for a key of his own.
package struct CertificateOrder: Equatable, JSONDocument {
  /// How key and certificate come.
  package enum Format: String, Sendable, CaseIterable {
    case pem, p12
  }

  /// The first names it.
  package var topics: [Topic]
  package var environments = Environment.allCases
  package var format = Format.pem
  /// Of the PKCS#12 file.
  package var password = ""
  /// Whether it is for the topic alone, and lists none.
  package var isSingle = false
  /// A certificate request in PEM: then nothing secret is made.
  package var request: String?

  /// Most topics of one, as a count: what a certificate has room for.
  static let mostTopics = 100
  private static let topics = JSONKind<[Topic]>.list(of: .topic).narrowed("1 to \(mostTopics) topics") {
    (1...mostTopics).contains($0.count)
  }.described(
    as: [
      "type": "array", "items": JSONKind<Topic>.topic.schema, "minItems": 1,
      "maxItems": .integer(Int64(mostTopics)),
    ])
  private static let isP12: JSONValue = ["required": ["format"], "properties": ["format": ["enum": ["p12"]]]]
  /// A request's key is not here, and PEM has no password.
  private static let forbidden: JSONValue = [
    "anyOf": [
      ["required": ["csr", "password"]],
      ["required": ["csr", "format"], "properties": ["format": ["enum": ["p12"]]]],
      ["required": ["password"], "not": isP12],
    ]
  ]

  package static let form = JSONForm<CertificateOrder>(
    [
      JSONField("topics", topics, \.topics).needed,
      JSONField("environment", .environments, \.environments),
      JSONField("format", .word, \.format), JSONField("password", .text, \.password),
      JSONField(flag: "single", \.isSingle), JSONField("csr", .text, \.request),
    ], rules: [("not", forbidden)])
  static let schema = JSONSchema(
    "CertificateOrder", form.schema,
    example: ["topics": [JSONExample.topic], "format": "p12", "password": "secret"])

  package init(topics: [Topic]) { self.topics = topics }

  /// Reads what `POST /api/v1/certificates` takes.
  init(_ body: JSONObject) throws {
    self.init(topics: try body.required("topics", Self.topics))
    try Self.form.read(body, into: &self)
    guard request == nil || (format == .pem && body["password"] == nil) else {
      throw DocumentError(
        "csr: expected neither format p12 nor a password beside it, as the emulator does not have the key")
    }
    guard body["password"] == nil || format == .p12 else {
      throw DocumentError("password: expected format p12 beside it, as PEM has none")
    }
  }
}

/// What was made of it.
package struct MadeCertificate: Sendable {
  /// PEM.
  package var certificate: [UInt8]
  /// Of its DER form: the name by which it can be revoked.
  package var sha256: [UInt8]
  /// PEM; nil where the key is somewhere else.
  package var privateKey: [UInt8]?
  package var pkcs12: [UInt8]?

  package init(certificate: [UInt8], sha256: [UInt8], privateKey: [UInt8]? = nil, pkcs12: [UInt8]? = nil) {
    (self.certificate, self.sha256) = (certificate, sha256)
    (self.privateKey, self.pkcs12) = (privateKey, pkcs12)
  }
}

/// A token key that somebody asks for.
package struct KeyOrder: Equatable, JSONDocument {
  package var team: String
  /// nil for a new one.
  package var keyId: String?
  /// Empty for a key of the whole team.
  package var topics: [Topic] = []
  package var environments = Environment.allCases

  package static let form = JSONForm<KeyOrder>([
    JSONField("team", .name, \.team).needed, JSONField("keyId", .name, \.keyId),
    JSONField("topics", .list(of: .topic), \.topics),
    JSONField("environments", .environments, \.environments),
  ])
  static let schema = JSONSchema("KeyOrder", form.schema, example: ["team": "TEAM123456"])

  package init(team: String) { self.team = team }

  /// Reads what `POST /api/v1/keys` takes.
  init(_ body: JSONObject) throws {
    self.init(team: try body.required("team", .name))
    try Self.form.read(body, into: &self)
  }
}

/// What was made of it.
package struct MadeKey: Sendable {
  package var keyId: String
  /// PEM.
  package var p8: [UInt8]

  package init(keyId: String, p8: [UInt8]) { (self.keyId, self.p8) = (keyId, p8) }
}

/// Certificates and keys as the API shows them.
extension IssuedCertificate: JSONAnswer {
  package static let shape = JSONShape<IssuedCertificate>([
    "topic": .show(JSONExample.topic) { $0.certificate.topic.name },
    "moreTopics": .show { $0.certificate.moreTopics.map(\.name) },
    "environment": .show("both", as: .environments) { $0.certificate.environments },
    "single": .show { $0.certificate.isSingle },
    "sha256": .show(JSONExample.sha256, as: .digits) { Hex.encode($0.sha256) },
    "revoked": .show { $0.isRevoked },
  ]).named("PushCertificate")
}

extension IssuedKey: JSONAnswer {
  package static let shape = JSONShape<IssuedKey>([
    "keyId": .show("KEY1234567") { $0.key.keyId }, "team": .show("TEAM123456") { $0.key.teamId },
    "topics": .show { $0.key.topics.map(\.name) },
    "environments": .show("both", as: .environments) { $0.key.environments },
    "revoked": .show { $0.isRevoked },
  ]).named("TokenKey")
}

extension MadeCertificate {
  /// With its key this once, in the form that was asked for.
  static let shape = JSONShape<(made: MadeCertificate, order: CertificateOrder)>([
    "topics": .show([JSONExample.topic]) { $0.order.topics.map(\.name) },
    "environment": .show("both", as: .environments) { $0.order.environments },
    "certificate": .show("-----BEGIN CERTIFICATE-----…") {
      String(decoding: $0.made.certificate, as: UTF8.self)
    },
    "sha256": .show(JSONExample.sha256, as: .digits) { Hex.encode($0.made.sha256) },
    "privateKey": .maybe {
      $0.order.format == .pem ? $0.made.privateKey.map { String(decoding: $0, as: UTF8.self) } : nil
    },
    "pkcs12Base64": .maybe("MIIJ…") {
      $0.order.format == .p12 ? $0.made.pkcs12.map { Base64.encode($0) } : nil
    },
  ]).named("MadeCertificate")
}

extension MadeKey {
  static let shape = JSONShape<(made: MadeKey, order: KeyOrder)>([
    "keyId": .show("KEY1234567") { $0.made.keyId }, "team": .show("TEAM123456") { $0.order.team },
    "topics": .show { $0.order.topics.map(\.name) },
    "environments": .show("both", as: .environments) { $0.order.environments },
    "p8": .show("the text of AuthKey_KEY1234567.p8") { String(decoding: $0.made.p8, as: UTF8.self) },
  ]).named("MadeKey")
}

extension RevokedCredential {
  /// By its SHA-256, and by its id.
  static let certificate = JSONShape<String>([
    "sha256": .show(JSONExample.sha256, as: .digits) { $0 }, "revoked": .show(true) { _ in true },
  ]).named("RevokedCertificate")
  static let key = JSONShape<String>([
    "keyId": .show("KEY1234567") { $0 }, "revoked": .show(true) { _ in true },
  ]).named("RevokedKey")
}

extension JSONKind<[Environment]> {
  /// One of them, or both.
  package static var environments: JSONKind {
    .spelled(
      "sandbox, production or both", .words(["sandbox", "production", "both"]),
      { $0 == "both" ? Environment.allCases : Environment(name: $0).map { [$0] } },
      { $0.count == 1 ? $0[0].name : "both" })
  }
}
