import Basics
import Foundation
import PushModel
import Testing
import Transport

import Console

@Suite("Certificates and keys over the console")
struct CredentialRoutesTests {
  private let issuer = FakeIssuer()
  private let digest = String(repeating: "ab", count: 32)

  private func lab() -> ConsoleLab { ConsoleLab { $0.credentials = issuer } }

  private func made(_ path: String, _ json: String) throws -> JSONValue {
    let answer = try lab().ask("POST", path, json: json)
    try #require(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))")
    #expect(answer.field("cache-control") == "no-store")
    return try #require(JSONReader.read(answer.body))
  }

  @Test("the authority comes as a file, and as a Java trust store")
  func ca() throws {
    let answers = try ["/api/v1/ca.pem", "/api/v1/ca.jks"].map { try lab().ask("GET", $0) }
    #expect(answers.map(\.status) == [200, 200])
    #expect(
      answers.map { $0.field("content-type") } == ["application/x-pem-file", "application/x-java-keystore"])
    #expect(answers[0].body == Array("the authority".utf8) && answers[1].body == [0xfe, 0xed, 0xfe, 0xed])
  }

  @Test("a certificate comes with its key, in the format that was asked for")
  func certificate() throws {
    let pem = try made("/api/v1/certificates", #"{"topics":["com.example.app"],"environment":"sandbox"}"#)
    #expect(
      pem.text
        == #"{"topics":["com.example.app"],"environment":"sandbox","certificate":"c","sha256":"\#(digest)","privateKey":"k"}"#
    )
    let bundle = try made(
      "/api/v1/certificates", #"{"topics":["com.example.app"],"format":"p12","password":"secret"}"#)
    #expect(
      bundle.text
        == #"{"topics":["com.example.app"],"environment":"both","certificate":"c","sha256":"\#(digest)","pkcs12Base64":"AQID"}"#
    )
    #expect(issuer.orders.map(\.password) == ["", "secret"])
    #expect(issuer.orders.map(\.environments) == [[.sandbox], [.sandbox, .production]])
  }

  @Test("a key comes as text, once; the list has no key")
  func key() throws {
    let key = try made("/api/v1/keys", #"{"team":"TEAM123456","topics":["com.example.app"]}"#)
    #expect(key["p8"].string == "p" && key["keyId"].string == "MADEUPKEY0")
    issuer.issue(SavedKey(keyId: "K", teamId: "T", topics: [], environments: [.production]))
    #expect(
      try lab().get("/api/v1/keys")["keys"][0].text
        == #"{"keyId":"K","team":"T","topics":[],"environments":"production","revoked":false}"#)
  }

  @Test("files are read a few a turn, however many there are")
  func files() throws {
    issuer.files = 1_000
    let lab = lab()
    let answer = try lab.open("GET", "/api/v1/certificates")
    var (most, before) = (issuer.filesRead, issuer.filesRead)
    while !answer.isComplete {
      lab.turn()
      most = max(most, issuer.filesRead - before)
      before = issuer.filesRead
    }
    #expect(issuer.filesRead == 1_000)
    #expect(most <= 50, "a certificate takes 0.1 ms to read, a turn some milliseconds")
    let text = String(decoding: try lab.whole(answer).body, as: UTF8.self)
    #expect(text.components(separatedBy: digest).count == 1_000, "the first file holds none")
  }

  @Test("certificates are listed")
  func list() throws {
    let topic = try #require(Topic("com.example.app"))
    issuer.issue(SavedCertificate(topic: topic, environments: [.sandbox], isSingle: true))
    #expect(
      try lab().get("/api/v1/certificates")["certificates"][0].text
        == #"{"topic":"com.example.app","moreTopics":[],"environment":"sandbox","single":true,"sha256":"\#(digest)","revoked":false}"#
    )
  }

  @Test(
    "what makes no sense is refused with what was expected",
    arguments: [
      ("/api/v1/certificates", #"{}"#, "topics"), ("/api/v1/certificates", #"{"topics":[]}"#, "1 to 100"),
      ("/api/v1/certificates", #"{"topics":["a"],"format":"der"}"#, "pem"),
      ("/api/v1/certificates", #"{"topics":["a"],"password":"x"}"#, "format p12"),
      ("/api/v1/certificates", #"{"topics":["a"],"csr":"x","format":"p12"}"#, "does not have the key"),
      ("/api/v1/certificates", #"{"topics":["a"],"environment":"test"}"#, "sandbox, production or both"),
      ("/api/v1/keys", #"{}"#, "team"), ("/api/v1/keys", #"{"team":"T","topics":["a b"]}"#, "bundle id"),
    ])
  func refused(path: String, json: String, expected: String) throws {
    let message = try lab().refusal("POST", path, 400, json: json)
    #expect(message.contains(expected), "\(message)")
    #expect(issuer.orders.isEmpty && issuer.keyOrders.isEmpty)
  }

  @Test("what was revoked says so in the lists, and is not exported")
  func revoked() throws {
    issuer.issue(SavedCertificate(topic: try #require(Topic("com.example.app")), environments: [.sandbox]))
    issuer.issue(SavedKey(keyId: "K", teamId: "T", topics: [], environments: [.production]))
    let lab = lab()
    for (path, document) in [
      ("/api/v1/certificates/\(digest)", #"{"sha256":"\#(digest)","revoked":true}"#),
      ("/api/v1/keys/K", #"{"keyId":"K","revoked":true}"#),
    ] {
      let answer = try lab.ask("DELETE", path)
      #expect(answer.status == 200 && String(decoding: answer.body, as: UTF8.self) == document)
    }
    #expect(try lab.get("/api/v1/certificates")["certificates"][0]["revoked"].bool == true)
    #expect(try lab.get("/api/v1/keys")["keys"][0]["revoked"].bool == true)
    let state = try lab.get("/api/v1/export")
    #expect(state["keys"].elements.isEmpty && state["apps"][0]["certificate"].isNull)
    for path in ["/api/v1/certificates/abc", "/api/v1/keys/L"] {
      _ = try lab.refusal("DELETE", path, 404)
    }
  }

  @Test("what can't be made is a conflict; too many at a time are told to come again")
  func failures() throws {
    issuer.problem = DocumentError("the certificate request is not a PEM request with a key")
    let message = try lab().refusal("POST", "/api/v1/certificates", 409, json: #"{"topics":["a"],"csr":"x"}"#)
    #expect(message == "the certificate request is not a PEM request with a key")
    issuer.isBusy = true
    let answer = try lab().ask("POST", "/api/v1/keys", json: #"{"team":"T"}"#)
    #expect(answer.status == 503 && answer.field("retry-after") != nil)
  }
}
