import Basics
import Broker
import Faults
import PushModel
import TestSupport
import Testing

import Console

@Suite struct ExportOfBeforeTests {
  private let issuer = FakeIssuer()
  private let lab: ConsoleLab

  init() {
    let issuer = issuer
    lab = ConsoleLab {
      $0.credentials = issuer
      $0.faults = FaultEngine(seed: 1)
    }
  }

  private func load(_ document: [UInt8]) throws {
    let answer = try lab.ask("POST", "/api/v1/import", json: String(decoding: document, as: UTF8.self))
    #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
  }

  @Test("What an earlier tree exported is what was put in, and is exported the same")
  func reading() throws {
    let document = try TreeBefore.bytes("export.json")
    try load(document)
    let expected = try TreeBefore.lines(single: true)
    #expect(lab.broker.stateLines(ids: false).symmetricDifference(expected).sorted() == [])
    #expect(lab.clock.moment == Timestamp(rfc3339: "2026-12-24T12:00:00Z") && lab.clock.frozenAt != nil)
    let (app, other) = (try #require(Topic("com.example.app")), try #require(Topic("com.example.other")))
    #expect(
      issuer.issuedCertificates == [SavedCertificate(topic: app, environments: Environment.allCases)])
    #expect(
      issuer.issuedKeys == [
        SavedKey(keyId: "ABC123DEFG", teamId: "DEF123GHIJ", topics: [app], environments: [.sandbox])
      ])
    let rule = try #require(lab.parts.faults["busy"])
    #expect(rule.match.topic == other.name && lab.parts.faults.rules.count == 1)
    // The command lays it out.
    #expect(try lab.get("/api/v1/export").text == JSONReader.read(document)?.text)
  }

  @Test("What a person wrote is taken as before")
  func writtenByHand() throws {
    try load(TreeBefore.bytes("state.json"))
    // Without the pushes that came then.
    let pushed = try TreeBefore.lines(single: false).filter { !$0.hasPrefix("abab") }
    #expect(lab.broker.stateLines(ids: false).symmetricDifference(pushed).sorted() == [])
  }
}
