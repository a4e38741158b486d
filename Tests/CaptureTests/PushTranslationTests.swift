import Basics
import LegacyWire
import Testing

import Capture

@Suite("Pushes in the words of the other protocol")
struct PushTranslationTests {
  /// `Documentation/binary-protocol.md#frames`, "full": token T, payload P, identifier 42, expiry 1700000000, priority
  /// 10.
  private static let full =
    "020000004e010020000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0200167b22617073223a7b22616c657274223a224869227d7d0300040000002a0400046553f1000500010a"
  private static let token = Array<UInt8>(0..<32)

  private static func request(_ frame: [UInt8], _ mapping: ReplayMapping = ReplayMapping()) -> ReplayRequest?
  {
    PushTranslation.request(from: frame.span, topic: "com.example.app", mapping)
  }

  /// `Documentation/provider-api.md#request`.
  @Test("a frame becomes a request with the certificate's topic")
  func frame() throws {
    let request = try #require(Self.request(Hex.decode(Self.full) ?? []))
    #expect(request.path == "/3/device/000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
    #expect(request.body == Array(#"{"aps":{"alert":"Hi"}}"#.utf8))
    #expect(
      request.fields.map { "\($0.name): \($0.value)" } == [
        "apns-topic: com.example.app", "apns-push-type: alert", "apns-priority: 10",
        "apns-expiration: 1700000000",
      ])
  }

  /// `Documentation/provider-api.md#push-types`.
  @Test("a payload that shows nothing is a background push, which must have priority 5")
  func background() throws {
    let payload = Array(#"{"aps":{"content-available":1}}"#.utf8)
    let request = try #require(Self.request(LegacyEncoder.simple(token: Self.token, payload: payload)))
    #expect(request.fields.contains { $0 == ("apns-push-type", "background") })
    #expect(request.fields.contains { $0 == ("apns-priority", "5") })
    #expect(!request.fields.contains { $0.name == "apns-expiration" })
  }

  @Test("what can't be parsed has no translation")
  func malformed() {
    #expect(Self.request([2, 0, 0, 0, 1, 9]) == nil)
    #expect(Self.request([]) == nil)
  }

  @Test(
    "another token takes the place of the old one in every command, whatever its length",
    arguments: [1, 32, 100])
  func mappedToken(length: Int) throws {
    var mapping = ReplayMapping()
    let new = [UInt8](repeating: 0xcc, count: length)
    let isMapped = mapping.addToken("\(Hex.encode(Self.token))=\(Hex.encode(new))")
    #expect(isMapped)
    let payload = Array("{}".utf8)
    let make: [([UInt8]) -> [UInt8]] = [
      { LegacyEncoder.simple(token: $0, payload: payload) },
      { LegacyEncoder.enhanced(identifier: 7, expiration: 8, token: $0, payload: payload) },
      { LegacyEncoder.frame(token: $0, payload: payload, identifier: 7, expiration: 8, priority: 5) },
    ]
    for frame in make {
      let mapped = PushTranslation.frame(frame(Self.token).span, mapping)
      #expect(mapped == frame(new))
    }
    #expect(
      PushTranslation.path("/3/device/\(Hex.encode(Self.token))", mapping) == "/3/device/\(Hex.encode(new))")
  }

  @Test("a request becomes a frame of command 2")
  func requestToFrame() {
    let fields = Lines.fields([
      (Array("apns-expiration".utf8), Array("1700000000".utf8)),
      (Array("apns-priority".utf8), Array("10".utf8)),
    ])
    let frame = PushTranslation.frame(
      path: "/3/device/\(Hex.encode(Self.token))", fields: fields.span,
      body: Array(#"{"aps":{"alert":"Hi"}}"#.utf8).span, identifier: 42, ReplayMapping())
    #expect(frame == Hex.decode(Self.full))
  }

  @Test("a mapping file that says something else is told so")
  func mappingFile() {
    var mapping = ReplayMapping()
    let problem = mapping.add(file: Array(#"{"topics":{"a.b":"c.d"},"tokens":{"00":"ff01"}}"#.utf8))
    #expect(problem == nil)
    #expect(mapping.topic("a.b") == "c.d")
    #expect(mapping.token([0]) == [0xff, 1])
    #expect(mapping.token([1]) == [1])
    for wrong in ["[]", #"{"topic":{}}"#, #"{"tokens":{"0":"ff"}}"#, #"{"topics":{"a":1}}"#, "x"] {
      let problem = mapping.add(file: Array(wrong.utf8))
      #expect(problem != nil)
    }
  }
}

@Suite("Outcomes, old and new")
struct OutcomeComparisonTests {
  private static func equal(
    _ old: CapturedOutcome, _ oldForm: OutcomeComparison.Form, _ new: CapturedOutcome,
    _ newForm: OutcomeComparison.Form
  ) -> Bool { OutcomeComparison.areEqual(old, oldForm, new, newForm) }

  private static func http(_ status: Int, _ reason: String?) -> CapturedOutcome {
    CapturedOutcome(status: status, reason: reason)
  }

  /// `Documentation/binary-protocol.md#error-packet`, `Documentation/provider-api.md#reasons`.
  @Test("a status of the binary protocol is any reason that the table gives it")
  func acrossProtocols() {
    let invalid = CapturedOutcome(status: 8, identifier: 1)
    #expect(Self.equal(invalid, .legacy, Self.http(400, "BadDeviceToken"), .http))
    #expect(Self.equal(invalid, .legacy, Self.http(400, "DeviceTokenNotForTopic"), .http))
    #expect(!Self.equal(invalid, .legacy, Self.http(413, "PayloadTooLarge"), .http))
    #expect(!Self.equal(invalid, .legacy, Self.http(200, nil), .http))
    #expect(Self.equal(CapturedOutcome(status: 5), .legacy, Self.http(400, "BadDeviceToken"), .http))
    #expect(Self.equal(.silence, .legacy, Self.http(200, nil), .http))
    #expect(!Self.equal(.silence, .legacy, Self.http(410, "Unregistered"), .http))
    #expect(Self.equal(Self.http(413, "PayloadTooLarge"), .http, CapturedOutcome(status: 7), .legacy))
  }

  @Test("within a protocol the status must be the same, and over HTTP the reason")
  func withinProtocol() {
    #expect(!Self.equal(CapturedOutcome(status: 5), .legacy, CapturedOutcome(status: 8), .legacy))
    #expect(!Self.equal(Self.http(400, "BadTopic"), .http, Self.http(400, "BadPriority"), .http))
    var closed = CapturedOutcome(status: 8)
    closed.isClosed = true
    var closedNow = CapturedOutcome(status: 0)
    closedNow.isClosed = true
    #expect(Self.equal(closed, .legacy, closedNow, .legacy))
    #expect(!Self.equal(closed, .legacy, .silence, .legacy))
  }
}
