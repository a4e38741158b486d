import Basics
import Broker
import ConsoleAnswers
import Transport

/// Certificates and keys for those who don't see the certs folder (`Documentation/console-api.md#credentials`). A private key is
/// answered once, when it is made.
package struct CredentialGroup: RouteGroup {
  private let issuer: any CredentialIssuer
  private let registry: Registry

  package init(_ issuer: any CredentialIssuer, _ registry: Registry) {
    (self.issuer, self.registry) = (issuer, registry)
  }

  package var routes: [Route] { caRoutes + certificateRoutes + keyRoutes }

  private var caRoutes: [Route] {
    [
      .get(
        "/api/v1/ca.pem", "The certificate that clients have to trust, in PEM",
        .answer { _ in try file("application/x-pem-file", issuer.ca) }
      )
      .open.answers(200, "The certificate", .text(), contentType: "application/x-pem-file"),
      .get(
        "/api/v1/ca.jks", "The same as a Java trust store; its password is `changeit`",
        .answer { _ in try file("application/x-java-keystore", issuer.javaTrustStore) }
      )
      .open.answers(
        200, "The store", JSONSchema(["type": "string", "format": "binary"], example: ""),
        contentType: "application/x-java-keystore"),
    ]
  }

  private var certificateRoutes: [Route] {
    [
      .get(
        "/api/v1/certificates", "Push certificates that were issued",
        .document { _ in list("certificates", issuer.listedCertificates()) }
      )
      .answers(200, "Certificates; never their keys", .list("certificates", of: IssuedCertificate.schema)),
      .post(
        "/api/v1/certificates", "Issues a push certificate, with a new key or for a certificate request",
        .exchange(makeCertificate)
      )
      .needs(CertificateOrder.schema).refuses(409)
      .answers(201, "The certificate, and its key, which is not sent again", MadeCertificate.shape.schema),
      .delete(
        "/api/v1/certificates/{sha256}",
        "Revokes a push certificate: refused in every handshake from now on",
        .exchange(revokeCertificate)
      )
      .refuses(409).answers(200, "The certificate is revoked", RevokedCredential.certificate.schema),
    ]
  }

  private var keyRoutes: [Route] {
    [
      .get(
        "/api/v1/keys", "Token keys that were made", .document { _ in list("keys", issuer.listedKeys()) }
      )
      .answers(
        200, "Key ids, teams and topics; never the keys themselves", .list("keys", of: IssuedKey.schema)),
      .post("/api/v1/keys", "Makes a token key", .exchange(makeKey))
        .needs(KeyOrder.schema).refuses(409).answers(
          201, "The key, which is not sent again", MadeKey.shape.schema),
      .delete(
        "/api/v1/keys/{keyId}", "Revokes a token key: its tokens are rejected with InvalidProviderToken",
        .exchange(revokeKey)
      )
      .refuses(409).answers(200, "The key is revoked", RevokedCredential.key.schema),
    ]
  }

  private func file(_ type: String, _ read: () throws -> [UInt8]) throws -> HTTPResponse {
    do {
      return HTTPResponse(status: 200, fields: [HTTPField("Content-Type", type)], body: try read())
    } catch {
      throw ConsoleError.unavailable("\(error)")
    }
  }

  private func list<Item: JSONAnswer>(_ name: String, _ rest: AnyIterator<Item?>) -> GrowingDocument {
    GrowingDocument([
      .list(name) { slice in
        guard let found = rest.next() else { return .end }
        slice.spend(Slice.file)
        return found.map { .value($0.json) } ?? .nothing
      }
    ])
  }

  /// `POST /api/v1/certificates`
  private func makeCertificate(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let order = try CertificateOrder(request.object())
    try take(
      issuer.make(order) { made in
        answer(made, exchange, 201) { made in
          // The directory finds topics by name.
          for topic in order.topics { _ = registry.topic(named: topic) }
          return MadeCertificate.shape.write((made, order))
        }
      })
  }

  /// `POST /api/v1/keys`
  private func makeKey(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let order = try KeyOrder(request.object())
    try take(issuer.make(order) { made in answer(made, exchange, 201) { MadeKey.shape.write(($0, order)) } })
  }

  /// `DELETE /api/v1/certificates/{sha256}`: also of one that is not kept here, as those of a request's key.
  private func revokeCertificate(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let text = request.part("sha256")
    guard let digest = Hex.decode(text), digest.count == 32 else {
      throw ConsoleError.notFound("no certificate has the SHA-256 \(DocumentError.quoted(text))")
    }
    try revoke(
      .certificate(sha256: digest), exchange, RevokedCredential.certificate.write(Hex.encode(digest)))
  }

  /// `DELETE /api/v1/keys/{keyId}`
  private func revokeKey(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let id = request.part("keyId")
    guard issuer.hasKey(id) else {
      throw ConsoleError.notFound("there is no key \(DocumentError.quoted(id))")
    }
    try revoke(.key(id), exchange, RevokedCredential.key.write(id))
  }

  private func revoke(_ item: RevokedCredential, _ exchange: HTTPExchange, _ document: JSONValue) throws {
    try take(issuer.revoke(item) { done in answer(done, exchange, 200) { _ in document } })
  }

  private func take(_ isTaken: Bool) throws {
    guard isTaken else { throw ConsoleError.busy("too many keys are being made; try again") }
  }

  private func answer<Made>(
    _ made: Result<Made, any Error>, _ exchange: HTTPExchange, _ status: Int,
    _ document: (Made) -> JSONValue
  ) {
    let response =
      switch made {
      case .success(let made): HTTPResponse(status: status, json: document(made))
      case .failure(let error): ConsoleError.conflict("\(error)").response
      }
    exchange.answer(response)
  }
}
