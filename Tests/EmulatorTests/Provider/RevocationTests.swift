import Basics
import Foundation
import TestSupport
import Testing

import Credentials
import Emulator
import Transport

extension LiveTests {
  @Suite("What becomes of providers whose certificate or key is revoked")
  struct RevocationTests {
    private let home = ScratchFolder()
    private let harness: EmulatorHarness
    private let certs: CertsFolder

    init() throws {
      let path = home.path + "/certs"
      try FileManager.default.copyItem(atPath: Site.path(), toPath: path)
      (certs, harness) = (
        CertsFolder(path: path), try EmulatorHarness(certs: path) { $0.provider.explains = true }
      )
    }

    private func revoke(_ certificate: ClientCertificate) throws {
      try certs.revoke(
        RevocableCertificate(file: certificate.certificate).item, name: "test", now: Site.now)
    }

    private func push(_ client: HTTP2Client, authorization: String? = nil) throws -> ProviderAnswer {
      try client.answer(.push(harness.offlineToken().hex, authorization: authorization))
    }

    @Test(
      "a revoked certificate fails the handshake with its own alert",
      arguments: ["gateway", "feedback", "provider"])
    func handshake(listener: String) throws {
      let certificate = try ClientCertificate.several()
      let before = try LegacyClient(harness, listener: listener, certificate)
      try before.open()
      try revoke(certificate)
      let after = try LegacyClient(harness, listener: listener, certificate)
      harness.turn(until: "the handshake fails") { after.recorder.hasEnded }
      #expect(
        after.recorder.endReason?.contains("certificate revoked") == true, "\(after.recorder.endReason ?? "")"
      )
      try LegacyClient(harness, listener: listener, .app()).open()
    }

    @Test("over an open HTTP/2 connection its requests are BadCertificate")
    func openConnection() throws {
      let certificate = try ClientCertificate.app()
      let client = try HTTP2Client(harness, certificate)
      #expect(try push(client).status == 200)
      try revoke(certificate)
      let answer = try push(client)
      #expect(answer.status == 403 && answer.text == #"{"reason":"BadCertificate"}"#)
      #expect(answer["apns-emulator-explanation"]?.contains("revoked") == true)
    }

    @Test("an open gateway connection ends without a word at its next frame, and what came before counts")
    func openGateway() throws {
      let token = try harness.offlineToken()
      let certificate = try ClientCertificate.app()
      let client = try harness.provider(certificate)
      client.send(Frames.full(token, id: 1))
      harness.turn(until: "it is taken") { harness.broker.counters.accepted == 1 }
      try revoke(certificate)
      client.send(Frames.full(token, id: 2))
      #expect(client.readToEnd().isEmpty)
      #expect(harness.broker.counters.received == 1)
    }

    @Test("what streams in over the gateway is taken for a few reads more, also if its turn reads for long")
    func streaming() throws {
      let token = try harness.offlineToken()
      let certificate = try ClientCertificate.app()
      let client = try harness.provider(certificate)
      // A turn reads all that there is, and looks wherever it asks the clock.
      let long: Int64 = 80_000_000_000
      harness.loop.readTimes = .init(turn: long, quietTurn: long, least: long, look: 0)
      var (isRevoked, failure): (Bool, (any Error)?) = (false, nil)
      harness.loop.atTurnBegin {
        guard !isRevoked, harness.broker.counters.received > 0 else { return }
        isRevoked = true
        do { try revoke(certificate) } catch { failure = error }
      }
      let count = 20_000
      let frames = (1...count).flatMap { Frames.full(token, id: UInt32($0)) }
      client.send(frames)
      #expect(client.readToEnd().isEmpty && failure == nil)
      let bytesTaken = Int(harness.broker.counters.received) * (frames.count / count)
      #expect(bytesTaken <= 2 * ReadBudget.readsPerLook * ReadBudget.recordSize)
    }

    @Test("a revoked key is InvalidProviderToken on the next request, and says why; other keys go on")
    func key() throws {
      let client = try HTTP2Client(harness)
      let bearer = try harness.bearer()
      #expect(try push(client, authorization: bearer).status == 200)
      try certs.revoke(certs.revocableKey(Site.teamKey), name: Site.teamKey, now: Site.now)
      let answer = try push(client, authorization: bearer)
      #expect(answer.status == 403 && answer.text == #"{"reason":"InvalidProviderToken"}"#)
      #expect(answer["apns-emulator-explanation"]?.contains("\(Site.teamKey) was revoked") == true)
      let other = try HTTP2Client(harness)
      #expect(try push(other, authorization: harness.bearer(Site.topicKey)).status == 200)
    }
  }
}
