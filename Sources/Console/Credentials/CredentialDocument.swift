import PushModel

/// Certificates and keys as the API shows them.
extension IssuedCertificate: JSONAnswer {
  public static let shape = JSONShape<IssuedCertificate>([
    "topic": .show(JSONExample.topic) { $0.certificate.topic.name },
    "moreTopics": .show { $0.certificate.moreTopics.map(\.name) },
    "environment": .show("both", as: .environments) { $0.certificate.environments },
    "single": .show { $0.certificate.isSingle },
    "sha256": .show(JSONExample.sha256, as: .digits) { Hex.encode($0.sha256) },
    "revoked": .show { $0.isRevoked },
  ]).named("PushCertificate")
}

extension IssuedKey: JSONAnswer {
  public static let shape = JSONShape<IssuedKey>([
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
