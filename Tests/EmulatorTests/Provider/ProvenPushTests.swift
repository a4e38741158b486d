import Broker
import Foundation
import PushModel
import TestSupport
import Testing

import Console
import Credentials
import Emulator

extension LiveTests {
  @Suite("Test pushes with a credential")
  struct ProvenPushTests {
    private let harness: EmulatorHarness
    private let token: DeviceToken

    init() throws {
      harness = try EmulatorHarness()
      token = try harness.offlineToken()
    }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    private func credential(_ file: String, key: String? = nil) throws -> PushCredential {
      var credential = PushCredential()
      (credential.file, credential.name) = (try bytes(file), String(file.split(separator: "/").last ?? ""))
      credential.key = try key.map(bytes)
      return credential
    }

    private func credential(_ certificate: ClientCertificate) throws -> PushCredential {
      try credential(certificate.certificate, key: certificate.key)
    }

    /// The verdict on a push, or why there was none.
    private func send(_ credential: PushCredential, _ change: (inout TestPush) -> Void = { _ in }) throws
      -> String
    {
      var push = TestPush(
        token: Array(token.bytes), topic: try #require(Topic(Site.topic)), environment: .sandbox)
      (push.payload, push.credential) = (Array(#"{"aps":{}}"#.utf8), credential)
      change(&push)
      var said: String?
      let sender = harness.emulator.testPushes
      let isTaken = sender.prove(push, credential) { result in
        switch result {
        case .failure(let error): said = "\(error)"
        case .success(let proof):
          push.proof = proof
          sender.send(push) { id in
            let record = id.flatMap { harness.broker.journal[$0] }
            said = record.map { $0.rejection?.reason ?? "accepted" } ?? "nothing"
          }
        }
      }
      #expect(isTaken)
      harness.turn(until: "it is settled") { said != nil }
      return said ?? ""
    }

    @Test(
      "a certificate is believed for its topics, on either protocol",
      arguments: [TestPush.Form.http2, .legacy])
    func certificate(form: TestPush.Form) throws {
      #expect(try send(credential(.app())) { $0.form = form } == "accepted")
      let other = try send(credential(.app("com.example.other"))) { $0.form = form }
      #expect(other == (form == .http2 ? "TopicDisallowed" : "BadDeviceToken"))
    }

    @Test("what would fail in the handshake is no push", arguments: [TestPush.Form.http2, .legacy])
    func handshake(form: TestPush.Form) throws {
      let foreign = try ClientCertificate.foreign(by: ClientCertificate.ca(), name: "foreign")
      let cases: [(ClientCertificate, String)] = [
        (try .expired(), "has expired"),
        (foreign, "neither the CA of the certs folder nor in the trust folder"),
      ]
      for (certificate, reason) in cases {
        let said = try send(credential(certificate)) { $0.form = form }
        #expect(said.hasPrefix("the handshake would fail: ") && said.contains(reason), "\(said)")
      }
      #expect(harness.broker.counters.received == 0)
    }

    @Test("a certificate for the other environment is refused as that protocol does")
    func environment() throws {
      #expect(try send(credential(.production())) == "BadCertificateEnvironment")
      let said = try send(credential(.production())) { $0.form = .legacy }
      #expect(said.contains("close the connection without an answer"), "\(said)")
    }

    @Test("a key signs a token, with what its name and the folder say; on the gateway it is of no use")
    func key() throws {
      let folder = harness.certs + "/keys/"
      #expect(try send(credential(folder + "AuthKey_\(Site.teamKey).p8")) == "accepted")
      #expect(try send(credential(folder + "AuthKey_\(Site.productionKey).p8")) == "BadEnvironmentKeyInToken")
      #expect(try send(credential(folder + "AuthKey_\(Site.otherTopicKey).p8")) == "TopicDisallowed")
      var renamed = try credential(folder + "AuthKey_\(Site.teamKey).p8")
      renamed.name = "my.p8"
      #expect(try send(renamed).contains("expected a key id"))
      renamed.keyId = "UNKNOWNKEY"
      #expect(try send(renamed).contains("expected the team of key UNKNOWNKEY"))
      renamed.team = Site.team
      #expect(try send(renamed) == "InvalidProviderToken")
      renamed.keyId = Site.teamKey
      #expect(try send(renamed) == "accepted")
      #expect(try send(renamed) { $0.form = .legacy }.contains("needs a certificate"))
    }

    @Test("what can't be read says what was expected")
    func unreadable() throws {
      var garbage = PushCredential()
      (garbage.file, garbage.name) = ([1, 2, 3], "x.p12")
      #expect(try send(garbage) == "x.p12: expected a certificate in PEM, PKCS#12 or DER, got something else")
      #expect(try send(credential(ClientCertificate.app().certificate)).contains("has no key"))
    }
  }
}
