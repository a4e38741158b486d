import Basics
import Broker
import Faults
import PushModel
import TestSupport
import Testing

import Console

/// Every number and time of a saved state, set to the ends of its type: the document is refused with a sentence, or what it has made
/// can be used.
@Suite struct MutatedNumbersTests {
  /// As JSON spells them: around the ends of all types that numbers are read into, and what is no whole number.
  private static let numbers = [
    "-1", "0", "-0", "1", "255", "256", "4095", "4096", "4097", "65535", "65536", "2147483646", "2147483647",
    "2147483648", "-2147483647", "-2147483648", "-2147483649", "4294967295", "4294967296",
    "9007199254740991", "9007199254740993", "-9007199254740993", "9223372036854775806", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "0.5",
    "1.5", "1e3", "1e18", "1e19", "-1e19", "1e308", "1e400", "5e-324",
  ]
  private static let times = [
    "0000-01-01T00:00:00Z", "1677-09-21T00:12:43.145Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z",
    "2106-02-07T06:28:16Z", "2200-01-01T00:00:00Z", "2262-04-11T23:47:16.854Z",
    "9999-12-31T23:59:59.999999999Z", "2026-01-01T00:00:00.00000000000000000001+23:59",
  ]

  private static let topic = "com.example.app"

  /// Has each kind of row, and each number and time that there may be.
  private static func document(clock: String) -> String {
    """
    {"version":1,"clock":\(clock),
     "apps":[{"topic":"\(topic)","certificate":"both"}],
     "keys":[{"keyId":"KEY1234567","teamId":"TEAM123456","topics":["\(topic)"]}],
     "devices":[
      {"udid":"phone","identity":7,"keyFingerprint":"0101","firstSeenAt":"2026-01-01T00:00:00Z",
       "lastSeenAt":"2026-01-02T00:00:00Z","apps":[
        {"topic":"\(topic)","install":3,"state":"gone","token":"\(goneToken)",
         "issuedAt":"2026-01-01T00:00:00Z","goneAt":"2026-01-01T12:00:00Z"},
        {"topic":"\(topic)","install":4,"issuedAt":"2026-01-01T13:00:00Z","message":{
          "payload":{"aps":{"badge":3}},"priority":5,"pushType":"alert","collapseId":"c","expiration":4000000000,
          "apnsId":"123e4567-e89b-12d3-a456-426614174000","receivedAt":"2026-01-01T14:00:00Z",
          "expiresAt":"2026-02-01T14:00:00Z"}},
        {"topic":"com.example.other","install":1,"state":"removed","message":{"payloadBase64":"e30="}},
        {"topicHash":"0102030405060708090a0b0c0d0e0f1011121314","install":1},
        {"topic":"\(topic).push-type.liveactivity","context":"start:Ride","install":2},
        {"topic":"com.example.mdm","token":"abcdef","chosen":true,"install":9}]},
      {"udid":"tablet","identity":1,"apps":[{"topic":"\(topic)","install":1}]}],
     "channels":[{"topic":"\(topic)","id":"AQIDBA==","storesNewest":true,
       "message":{"payload":{"aps":{"event":"update"}},"priority":10,"expiration":4000000000,
         "receivedAt":"2026-01-01T00:00:00Z","expiresAt":"2026-03-01T00:00:00Z"},
       "subscribers":[{"udid":"phone","seenUntil":"2025-12-31T00:00:00Z"},{"udid":"tablet"}]}],
     "feedback":["\(goneToken)"],
     "faults":[
      {"name":"a","when":{"next":2},"effect":{"delayMs":5,"jitterMs":7,"legacy":{"status":10,"identifier":4}}},
      {"name":"b","when":{"every":3},"effect":{"rstStream":7,"dribble":{"bytes":2,"everyMs":9}}},
      {"name":"c","when":{"probability":0.5},"effect":{"garbage":100}},
      {"name":"d","when":{"from":"2026-01-01T00:00:00Z","to":"2027-01-01T00:00:00Z"},"effect":{"tlsAlert":40}}]}
    """
  }

  private static let goneToken = String(repeating: "cd", count: 32)

  /// A member or an element on the way to a value.
  private enum Step {
    case member(Int)
    case element(Int)
  }

  /// Where the numbers are, and the times.
  private static func places(in value: JSONValue, _ path: [Step] = []) -> [(path: [Step], mutants: [String])]
  {
    switch value {
    case .integer, .number: [(path, numbers)]
    case .string(let text) where Timestamp(rfc3339: text) != nil: [(path, times.map { "\"\($0)\"" })]
    case .array(let values):
      values.enumerated().flatMap { places(in: $0.element, path + [.element($0.offset)]) }
    case .object(let members):
      members.enumerated().flatMap { places(in: $0.element.1, path + [.member($0.offset)]) }
    default: []
    }
  }

  private static func replaced(_ value: JSONValue, at path: ArraySlice<Step>, by text: String) -> JSONValue {
    switch (value, path.first) {
    case (.array(var values), .element(let index)?):
      values[index] = replaced(values[index], at: path.dropFirst(), by: text)
      return .array(values)
    case (.object(var members), .member(let index)?):
      members[index].1 = replaced(members[index].1, at: path.dropFirst(), by: text)
      return .object(members)
    default: return .verbatim(Array(text.utf8))
    }
  }

  private func lab() -> ConsoleLab {
    ConsoleLab {
      $0.credentials = FakeIssuer()
      $0.faults = FaultEngine(seed: 1)
    }
  }

  /// Imports a document; answers whether it was taken. A refusal has a sentence.
  private func load(_ document: String, into lab: ConsoleLab) throws -> Bool {
    let answer = try lab.ask("POST", "/api/v1/import", json: document)
    guard answer.status != 200 else { return true }
    let message = JSONReader.read(answer.body)?.member("error")?.string("message") ?? ""
    #expect((400..<500).contains(answer.status) && !message.isEmpty, "\(answer.status) for \(document)")
    return false
  }

  @Test("A mutated document is refused with a sentence, or what it made can be used and exported")
  func mutants() throws {
    let document = Self.document(clock: #"{"offset":3600.5}"#)
    let tree = try #require(JSONReader.read(Array(document.utf8)))
    #expect(try load(document, into: lab()))
    let places = Self.places(in: tree)
    let (taken, refused) = try mutate(tree, places)
    #expect(places.count > 30 && taken > 200 && refused > 300, "\(places.count), \(taken), \(refused)")
  }

  @Test("So is one whose clock stands still")
  func frozen() throws {
    let document = Self.document(clock: #"{"frozenAt":"2026-01-03T00:00:00Z"}"#)
    let tree = try #require(JSONReader.read(Array(document.utf8)))
    #expect(try load(document, into: lab()))
    let place = try #require(Self.places(in: tree).first { $0.mutants.count == Self.times.count })
    let (taken, refused) = try mutate(tree, [place])
    #expect(taken > 1 && refused > 1)
  }

  /// Answers how many mutants were taken, and how many refused.
  private func mutate(_ tree: JSONValue, _ places: [(path: [Step], mutants: [String])]) throws -> (Int, Int) {
    var (taken, refused) = (0, 0)
    for (path, mutants) in places {
      for mutant in mutants {
        let text = Self.replaced(tree, at: path[...], by: mutant).text
        let lab = lab()
        guard try load(text, into: lab) else {
          refused += 1
          continue
        }
        taken += 1
        try use(lab, text)
      }
    }
    return (taken, refused)
  }

  /// Does everything that is done with devices, tokens, messages, channels and rules.
  private func use(_ lab: ConsoleLab, _ document: String) throws {
    try export(lab, document)
    for udid in ["phone", "tablet"] { try connect(udid, lab, document) }
    for row in RegistrationID.rows(below: lab.broker.registry.registrationCount) {
      try lab.push(lab.broker.registry.bytes(of: row), "{}", app: Self.topic)
    }
    for key in lab.broker.channels.keys { broadcast(to: key, lab) }
    let point = FaultPoint(.push, at: .gateway)
    for _ in 0..<5 { _ = lab.parts.faults.decide(point, now: lab.now) }
    for udid in ["phone", "tablet"] { try change(udid, lab, document) }
    lab.clock.pass(seconds: 90 * 86400)
    lab.broker.deliveries.dropExpired(now: lab.now, budget: .max)
    lab.broker.feedback.clear(lab.broker.feedback.rows)
    _ = lab.broker.turn.takeChanges()
    for path in ["devices/phone", "tokens", "notifications", "feedback", "channels", "faults"] {
      #expect(try lab.ask("GET", "/api/v1/\(path)").status == 200, "\(path) of \(document)")
    }
    try export(lab, document)
  }

  /// What is exported can be imported elsewhere.
  private func export(_ lab: ConsoleLab, _ document: String) throws {
    let answer = try lab.ask("GET", "/api/v1/export")
    #expect(answer.status == 200)
    let other = try load(String(decoding: answer.body, as: UTF8.self), into: self.lab())
    #expect(other, "what came of \(document)")
  }

  /// The device comes twice, the second time with another key, which gives another base token.
  private func connect(_ udid: String, _ lab: ConsoleLab, _ document: String) throws {
    let phone = try lab.connect(udid, enabling: [Self.topic, "com.example.other"])
    let session = try #require(phone.session)
    for (index, message) in phone.received.enumerated() {
      lab.broker.deliveries.acknowledge(
        phone.link, messageId: message.messageId, status: UInt8(index & 1), now: lab.now)
    }
    let hash = TopicHash(try #require(Topic(Self.topic)))
    #expect(lab.broker.apps.appToken(session, topic: hash, now: lab.now) != nil, "\(document)")
    let before = lab.broker.registry.baseToken(session.device, .sandbox)
    let other = TestDevice(connectedAt: lab.now)
    let again = lab.broker.devices.connect(
      try #require(UDID(udid)), keyFingerprint: [2], environment: .sandbox, offeredBaseToken: nil,
      link: other.link, now: lab.now)
    #expect(again?.baseToken != before, "\(document)")
    if let session = again?.session { lab.broker.devices.sessionEnded(session, now: lab.now) }
  }

  private func change(_ udid: String, _ lab: ConsoleLab, _ document: String) throws {
    let (registry, name) = (lab.broker.registry, try #require(Topic(Self.topic)))
    let device = try #require(UDID(udid).flatMap(registry.knownDevice))
    let topic = try #require(registry.topic(named: name))
    var tokens: [DeviceToken?] = [], bases = [registry.baseToken(device, .sandbox)]
    for step in 0..<3 {
      tokens.append(
        lab.broker.apps.change(
          .reinstall, device: device, topic: topic, environment: .sandbox, now: lab.now))
      if step == 1 {
        #expect(lab.broker.apps.restore(device, now: lab.now))
      } else {
        lab.broker.apps.erase(device, now: lab.now)
      }
      bases.append(registry.baseToken(device, .sandbox))
    }
    #expect(Set(tokens.compactMap(\.self)).count == 3, "each install has its own token: \(document)")
    #expect(Set(bases).count == 4, "each identity has its own base token: \(document)")
  }

  private func broadcast(to key: ChannelTable.Key, _ lab: ConsoleLab) {
    _ = lab.broker.withBroadcast("{}", of: key, expiration: 4_000_000_000) {
      lab.broker.broadcasts.send($0, to: key, storageSeconds: 28_800, now: lab.now)
    }
  }
}
