import Broker
import Faults
import PushModel
import TestSupport
import Testing
import Transport

import Console

/// An import that takes long, and what others do meanwhile.
@Suite struct ImportTests {
  private let app = ConsoleLab.app
  private let issuer = FakeIssuer()
  private let background = FakeBackground()

  private func lab() -> ConsoleLab {
    ConsoleLab {
      $0.credentials = issuer
      $0.background = background
      $0.faults = FaultEngine(seed: 1)
    }
  }

  /// One row each.
  private func devices(_ count: Int, from start: Int = 0) -> String {
    (start..<start + count).map { #"{"udid":"p\#($0)","apps":[{"topic":"a"}]}"# }.joined(separator: ",")
  }

  private func document(_ members: String) -> String { #"{"version":1,\#(members)}"# }

  private func apps(_ count: Int, certificate: String = "both") -> String {
    let entries = (0..<count).map { #"{"topic":"app\#($0)","certificate":"\#(certificate)"}"# }
    return "\"apps\":[\(entries.joined(separator: ","))]"
  }

  private func begin(_ lab: ConsoleLab, _ document: String) throws -> Answer {
    try lab.open("POST", "/api/v1/import", json: document)
  }

  private func status(_ answer: Answer) -> Int? { answer.isComplete ? answer.response?.status : nil }

  private func message(_ answer: Answer) -> String {
    String(decoding: answer.response?.body ?? [], as: UTF8.self)
  }

  // MARK: Limits

  @Test(
    "More certificates and keys than are made for one document are refused with both numbers, and none is made"
  )
  func tooManyCredentials() throws {
    let lab = lab()
    let keys = #""keys":[{"keyId":"KEY1234567","teamId":"TEAM123456"}]"#
    let refused = try lab.refusal("POST", "/api/v1/import", 413, json: document(apps(100) + "," + keys))
    #expect(refused.contains("at most 100 certificates and keys, got 101"))
    #expect(issuer.issuedCertificates.isEmpty && lab.broker.registry.topicCount == 0)
    #expect(try lab.ask("POST", "/api/v1/import", json: document(apps(100))).status == 200)
    #expect(issuer.issuedCertificates.count == 100)
  }

  @Test("More rows than a document may have are refused with both numbers")
  func tooManyRows() throws {
    let lab = lab()
    let tokens = [String](repeating: #""0011""#, count: 50_001).joined(separator: ",")
    let answer = try begin(lab, document("\"feedback\":[\(tokens)]"))
    background.finishFirst()
    #expect(
      status(answer) == 413
        && message(answer).contains("at most 50000 entries of the feedback service, got 50001"))
  }

  @Test("A body of more values than the route takes is refused before any is made, with both numbers")
  func tooManyValues() throws {
    let lab = lab()
    let zeros = "[" + [String](repeating: "0", count: 1_000_000).joined(separator: ",") + "]"
    let answer = try begin(lab, #"{"a":\#(zeros)}"#)
    background.finishFirst()
    #expect(status(answer) == 413 && message(answer).contains("at most 1000000 JSON values, got 1000002"))
    let small = [String](repeating: "0", count: 10_000).joined(separator: ",")
    let refused = try lab.refusal("POST", "/api/v1/reset", 413, json: #"{"what":[\#(small)]}"#)
    #expect(refused.contains("at most 10000 JSON values, got 10002"))
  }

  @Test(
    "Each route says how many bytes it takes",
    arguments: [
      ("POST", "/api/v1/import", 16_384), ("POST", "/api/v1/push", 256), ("POST", "/3/device/ab", 256),
      ("POST", "/4/broadcasts/apps/a", 256), ("POST", "/api/v1/explain", 256),
      ("POST", "/api/v1/devices/a/stream/ack", 256), ("POST", "/api/v1/faults", 64),
      ("POST", "/api/v1/notifications/wait", 64), ("GET", "/api/v1/import", 64), ("POST", "/nothing", 64),
    ] as [(String, String, Int)])
  func bodyLimits(method: String, path: String, kibibytes: Int) throws {
    let request = try #require(HTTPRequest(method, path, fields: [HTTPField("Host", "localhost")]))
    #expect(lab().console.bodyLimit(of: request) == kibibytes << 10)
  }

  // MARK: Beside the loop, and in slices

  @Test("A long document is read beside the loop, and applied over many turns in which others are answered")
  func slices() throws {
    let lab = lab()
    let answer = try begin(lab, document("\"devices\":[\(devices(10_000))]"))
    #expect(background.count == 1 && lab.broker.registry.deviceCount == 0)
    background.finishFirst()
    var turns = 0
    while !answer.isComplete, turns < 10_000 {
      #expect(try lab.open("GET", "/livez").response?.status == 200)
      lab.turn()
      turns += 1
    }
    #expect(status(answer) == 200 && lab.broker.registry.registrationCount == 10_000)
    // Each row is looked at and made, at a cost of 4 units each of the 500 of a turn.
    #expect(turns >= 10_000 * 8 / 500)
  }

  @Test("Where nothing can be read beside the loop any more, it says when to come again")
  func busyBackground() throws {
    let lab = lab()
    background.isFull = true
    let long = document("\"devices\":[\(devices(10_000))]")
    let refused = try lab.ask("POST", "/api/v1/import", json: long)
    #expect(refused.status == 503 && refused.field("retry-after") != nil)
    background.isFull = false
    let answer = try begin(lab, long)
    background.finishFirst()
    #expect(try lab.whole(answer).status == 200)
  }

  @Test(
    "Certificates are made one after the other beside the loop, and nothing else changes before they are there"
  )
  func credentials() throws {
    let lab = lab()
    issuer.isSlow = true
    let answer = try begin(lab, document(apps(3) + ",\"devices\":[\(devices(1))]"))
    for made in 0..<3 {
      lab.turn()
      #expect(issuer.waiting.count == 1 && issuer.issuedCertificates.count == made)
      #expect(lab.broker.registry.deviceCount == 0 && !answer.isComplete)
      #expect(try lab.open("GET", "/livez").response?.status == 200)
      issuer.makeFirst()
    }
    #expect(try lab.whole(answer).status == 200 && lab.broker.registry.deviceCount == 1)
  }

  @Test("A certificate waits for its turn when many are being made")
  func busyIssuer() throws {
    let lab = lab()
    issuer.isBusy = true
    let answer = try begin(lab, document(apps(1)))
    for _ in 0..<3 { lab.timers.pass(milliseconds: 50) }
    #expect(!answer.isComplete)
    issuer.isBusy = false
    lab.timers.pass(milliseconds: 50)
    #expect(try lab.whole(answer).status == 200 && issuer.issuedCertificates.count == 1)
  }

  @Test("A certificate that can't be made is told of, and nothing else changes")
  func failedCredential() throws {
    let lab = lab()
    issuer.problem = ConsoleProblem()
    let refused = try lab.refusal("POST", "/api/v1/import", 409, json: document(apps(1)))
    #expect(refused.contains("issuing certificates and keys: the disk is full"))
    #expect(lab.broker.registry.topicCount == 0)
  }

  private struct ConsoleProblem: Error, CustomStringConvertible { let description = "the disk is full" }

  // MARK: What comes between

  @Test("A second document meanwhile is told to come again, and then may")
  func oneAtATime() throws {
    let lab = lab()
    issuer.isSlow = true
    let first = try begin(lab, document(apps(1)))
    let second = try lab.ask("POST", "/api/v1/import", json: document(apps(1)))
    #expect(second.status == 503 && second.field("retry-after") != nil)
    issuer.makeFirst()
    #expect(try lab.whole(first).status == 200)
    #expect(try lab.ask("POST", "/api/v1/import", json: document(apps(1))).status == 200)
  }

  @Test("A reset in the middle ends it: what was reset does not come back")
  func reset() throws {
    for turns in [0, 1, 60] {
      let lab = lab()
      let answer = try begin(lab, document("\"devices\":[\(devices(3000))]"))
      for _ in 0..<turns { lab.turn() }
      #expect(try lab.ask("POST", "/api/v1/reset").status == 200)
      #expect(status(answer) == 409 && message(answer).contains("reset"))
      for _ in 0..<10 { lab.turn() }
      #expect(lab.broker.registry.deviceCount == 0, "after \(turns) turns")
    }
  }

  @Test("It goes on when the client has gone")
  func clientGone() throws {
    let lab = lab()
    let answer = try begin(lab, document("\"devices\":[\(devices(3000))]"))
    answer.exchange?.clientGone()
    for _ in 0..<1000 { lab.turn() }
    #expect(lab.broker.registry.deviceCount == 3000)
  }

  @Test("A row that fits no more is told of, and the same document completes what is missing once it does")
  func conflictHalfWay() throws {
    let lab = lab()
    issuer.isSlow = true
    let token = String(repeating: "ab", count: 32)
    let row = #"{"udid":"p","apps":[{"topic":"a","token":"\#(token)"}]}"#
    let text = document(apps(1) + ",\"devices\":[\(row)]")
    let answer = try begin(lab, text)
    // Somebody else is given the token while the certificate is made.
    let claim = try lab.ask(
      "PUT", "/api/v1/tokens/\(token)", json: #"{"udid":"other","topic":"a"}"#)
    #expect(claim.status == 201)
    issuer.makeFirst()
    #expect(try lab.whole(answer).status == 409 && message(answer).contains("devices[0].apps[0].token"))
    #expect(lab.broker.registry.knownDevice(try #require(UDID("p"))) == nil)
  }

  @Test("An end of the emulator in the middle is told")
  func shutDown() throws {
    let lab = lab()
    issuer.isSlow = true
    let answer = try begin(lab, document(apps(1)))
    lab.console.shutDown()
    #expect(status(answer) == 503 && message(answer).contains("import it again"))
  }

  @Test("A device with more rows than a device may have is refused whole")
  func rowsOfOneDevice() throws {
    let rows = [String](repeating: #"{"topic":"a"}"#, count: Registry.rowsPerDevice + 1).joined(
      separator: ",")
    let lab = lab()
    let text = document("\"devices\":[{\"udid\":\"p\",\"apps\":[\(rows)]}]")
    #expect(try lab.refusal("POST", "/api/v1/import", 400, json: text).contains("at most 4096 rows"))
  }
}
