import ProviderAPI
import PushModel
import Testing

/// A change of the sample request, and the answer the specification gives to it; nil for 200.
struct ProbeCase: CustomTestStringConvertible, Sendable {
  var name: String
  var changes: [(String, String?)] = []
  var extra: [(String, String)] = []
  var body = Sample.payload
  var status: Int
  var reason: String?

  init(
    _ name: String, _ changes: [(String, String?)] = [], extra: [(String, String)] = [],
    body: [UInt8] = Sample.payload, is status: Int, _ reason: String? = nil
  ) {
    (self.name, self.changes, self.extra, self.body) = (name, changes, extra, body)
    (self.status, self.reason) = (status, reason)
  }

  var testDescription: String { name }

  var message: HTTPMessage { Sample.message(changes, extra: extra, body: body) }
}

@Suite("Provider request check")
struct ProviderRequestCheckTests {
  private static func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x20, count: count) }
  private static func path(_ rest: String) -> [(String, String?)] { [(":path", "/3/device/\(rest)")] }
  private static let voip: [(String, String?)] = [
    ("apns-push-type", "voip"), ("apns-topic", "com.example.app.voip"),
  ]

  /// `Documentation/provider-api.md#example-push`, row by row.
  static let probes = [
    ProbeCase("as it is", is: 200),
    ProbeCase("no authorization", [("authorization", nil)], is: 403, "MissingProviderToken"),
    ProbeCase("GET", [(":method", "GET")], is: 405, "MethodNotAllowed"),
    ProbeCase("path /3/devices/", [(":path", "/3/devices/\(Sample.token)")], is: 404, "BadPath"),
    ProbeCase("no token", path(""), is: 400, "MissingDeviceToken"),
    ProbeCase("token zz", path("zz"), is: 400, "BadDeviceToken"),
    ProbeCase(
      "token zz, bad auth", path("zz") + [("authorization", "bearer x")], is: 403, "InvalidProviderToken"),
    ProbeCase("no topic", [("apns-topic", nil)], is: 400, "MissingTopic"),
    ProbeCase("priority 7", [("apns-priority", "7")], is: 400, "BadPriority"),
    ProbeCase("push type foo", [("apns-push-type", "foo")], is: 400, "InvalidPushType"),
    ProbeCase("id xyz", [("apns-id", "xyz")], is: 400, "BadMessageId"),
    ProbeCase("collapse id of 64", [("apns-collapse-id", String(repeating: "c", count: 64))], is: 200),
    ProbeCase(
      "collapse id of 65", [("apns-collapse-id", String(repeating: "c", count: 65))], is: 400, "BadCollapseId"
    ),
    ProbeCase("empty body", body: [], is: 400, "PayloadEmpty"),
    ProbeCase("4096 bytes", body: bytes(4096), is: 200),
    ProbeCase("4097 bytes", body: bytes(4097), is: 413, "PayloadTooLarge"),
    ProbeCase("5120 bytes of VoIP", voip, body: bytes(5120), is: 200),
    ProbeCase("5121 bytes of VoIP", voip, body: bytes(5121), is: 413, "PayloadTooLarge"),
    ProbeCase("unregistered", path(Sample.gone), is: 410, "Unregistered"),
    ProbeCase("VoIP topic, alert type", [("apns-topic", "com.example.app.voip")], is: 200),
  ]

  /// `Documentation/provider-api.md#request`, `#push-types`, `#reasons` and client quirks beyond
  /// `Documentation/provider-api.md#example-push`.
  static let further = [
    ProbeCase("Bearer", [("authorization", "Bearer good")], is: 200),
    ProbeCase("BEARER and blanks", [("authorization", "BEARER   good ")], is: 200),
    ProbeCase("another scheme", [("authorization", "basic good")], is: 403, "MissingProviderToken"),
    ProbeCase("scheme without a token", [("authorization", "bearer  ")], is: 403, "MissingProviderToken"),
    ProbeCase("empty authorization", [("authorization", "")], is: 403, "MissingProviderToken"),
    ProbeCase(
      "expired token", [("authorization", "bearer ExpiredProviderToken")], is: 403, "ExpiredProviderToken"),
    ProbeCase(
      "token renewed too often", [("authorization", "bearer TooManyProviderTokenUpdates")], is: 429,
      "TooManyProviderTokenUpdates"),
    ProbeCase(
      "unrelated key", [("authorization", "bearer UnrelatedKeyIdInToken")], is: 403, "UnrelatedKeyIdInToken"),
    ProbeCase(
      "key of the other environment", [("authorization", "bearer BadEnvironmentKeyInToken")], is: 403,
      "BadEnvironmentKeyInToken"),
    ProbeCase("forbidden", [("authorization", "bearer Forbidden")], is: 403, "Forbidden"),
    ProbeCase("topic of a scoped key", [("authorization", "bearer scoped")], is: 200),
    ProbeCase(
      "suffixed topic of a scoped key",
      [("authorization", "bearer scoped"), ("apns-topic", "com.example.app.push-type.widgets")], is: 200),
    ProbeCase(
      "topic outside a scoped key",
      [("authorization", "bearer scoped"), ("apns-topic", "com.example.other")], is: 400,
      "TopicDisallowed"),
    ProbeCase("upper-case token", path(Sample.token.uppercased()), is: 200),
    ProbeCase("token of 31 bytes", path(String(Sample.token.dropLast(2))), is: 400, "BadDeviceToken"),
    ProbeCase("token of 63 digits", path(String(Sample.token.dropLast())), is: 400, "BadDeviceToken"),
    ProbeCase("token of 80 bytes", path(String(repeating: "ab", count: 80)), is: 400, "BadDeviceToken"),
    ProbeCase("unknown token", path(Sample.unknown), is: 400, "BadDeviceToken"),
    ProbeCase("expired device token", path(Sample.expired), is: 410, "ExpiredToken"),
    ProbeCase(
      "token of another app", [("apns-topic", "com.example.other")], is: 400, "DeviceTokenNotForTopic"),
    ProbeCase("path with a further part", path("\(Sample.token)/x"), is: 404, "BadPath"),
    ProbeCase("path without a slash", [(":path", "/3/device")], is: 404, "BadPath"),
    ProbeCase("path of another version", [(":path", "/2/device/\(Sample.token)")], is: 404, "BadPath"),
    ProbeCase("query", path("\(Sample.token)?a=b"), is: 400, "BadDeviceToken"),
    ProbeCase("lower-case method", [(":method", "post")], is: 405, "MethodNotAllowed"),
    ProbeCase("empty topic", [("apns-topic", "")], is: 400, "MissingTopic"),
    ProbeCase("topic with a blank", [("apns-topic", "com.example app")], is: 400, "BadTopic"),
    ProbeCase("topic of 256", [("apns-topic", String(repeating: "a", count: 256))], is: 400, "BadTopic"),
    ProbeCase("no push type", [("apns-push-type", nil)], is: 200),
    ProbeCase("empty push type", [("apns-push-type", "")], is: 400, "InvalidPushType"),
    ProbeCase("priority 5", [("apns-priority", "5")], is: 200),
    ProbeCase("priority 1", [("apns-priority", "1")], is: 200),
    ProbeCase("no priority", [("apns-priority", nil)], is: 200),
    ProbeCase("priority 010", [("apns-priority", "010")], is: 400, "BadPriority"),
    ProbeCase("empty priority", [("apns-priority", "")], is: 400, "BadPriority"),
    ProbeCase("urgent background", [("apns-push-type", "background")], is: 400, "BadPriority"),
    ProbeCase(
      "background of priority 5", [("apns-push-type", "background"), ("apns-priority", "5")], is: 200),
    ProbeCase(
      "background without priority", [("apns-push-type", "background"), ("apns-priority", nil)], is: 200),
    ProbeCase("expiration soon", [("apns-expiration", "soon")], is: 400, "BadExpirationDate"),
    ProbeCase(
      "expiration with a fraction", [("apns-expiration", "1700000000.5")], is: 400, "BadExpirationDate"),
    ProbeCase("negative expiration", [("apns-expiration", "-1")], is: 400, "BadExpirationDate"),
    ProbeCase("empty expiration", [("apns-expiration", "")], is: 400, "BadExpirationDate"),
    ProbeCase(
      "endless expiration", [("apns-expiration", String(repeating: "9", count: 40))], is: 400,
      "BadExpirationDate"
    ),
    ProbeCase("far expiration", [("apns-expiration", "4294967296")], is: 200),
    ProbeCase(
      "an expiration of 19 digits", [("apns-expiration", "1" + String(repeating: "0", count: 18))], is: 400,
      "BadExpirationDate"),
    ProbeCase(
      "the farthest expiration", [("apns-expiration", String(repeating: "9", count: 18))], is: 200),
    ProbeCase("no expiration", [("apns-expiration", nil)], is: 200),
    ProbeCase("upper-case id", [("apns-id", "ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB")], is: 200),
    ProbeCase("empty id", [("apns-id", "")], is: 400, "BadMessageId"),
    ProbeCase("no id", [("apns-id", nil)], is: 200),
    ProbeCase("body that is no JSON", body: Array("hello".utf8), is: 200),
    ProbeCase(
      "VoIP topic without a type", [("apns-push-type", nil), ("apns-topic", "com.example.app.voip")],
      body: bytes(5120), is: 200),
    ProbeCase("body of a megabyte", body: bytes(1 << 20), is: 413, "PayloadTooLarge"),
    ProbeCase(
      "foreign fields", extra: [("content-type", "text/plain"), ("cookie", "a"), ("cookie", "b")], is: 200),
    ProbeCase("content-type twice", extra: [("content-type", "a"), ("content-type", "b")], is: 200),
  ]

  /// Every field that must be single, repeated (`Documentation/provider-api.md#order-of-checks`).
  static let repetitions =
    [
      "authorization", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-id", ":path",
      ":method",
    ].map { name in
      ProbeCase(
        "\(name) twice", extra: [(name, Sample.fields.first { $0.0 == name }?.1 ?? "")], is: 400,
        "DuplicateHeaders")
    } + [
      ProbeCase(
        "an unknown apns- field twice", extra: [("apns-new", "1"), ("apns-new", "1")], is: 400,
        "DuplicateHeaders"
      )
    ]

  @Test("gives the answer of the specification", arguments: probes + further + repetitions)
  func probe(_ probe: ProbeCase) {
    let verdict = Sample.check().judge(probe.message, now: Sample.now)
    #expect(verdict.rejected?.rejection.reason == probe.reason)
    #expect(verdict.rejected?.rejection.status ?? 200 == probe.status)
    let explanation = verdict.rejected?.explanation
    #expect(explanation?.text.contains("good") != true, "a secret was explained")
    #expect(explanation?.expected.isEmpty != true && explanation?.got.isEmpty != true)
  }

  /// `Documentation/provider-api.md#push-types`.
  @Test("accepts every push type with its topic", arguments: PushType.allCases)
  func pushTypes(_ type: PushType) throws {
    let changes = [("apns-push-type", type.name), ("apns-topic", "com.example.app\(type.topicSuffix)")]
    let message = Sample.message(changes + [("apns-priority", "5")])
    let accepted = try #require(Sample.check().judge(message, now: Sample.now).accepted)
    #expect(accepted.pushType == type)
  }

  @Test("reads everything out of the request")
  func reads() throws {
    let message = Sample.message([("apns-collapse-id", "score"), ("apns-expiration", "1700009999")])
    let accepted = try #require(Sample.check().judge(message, now: Sample.now).accepted)
    #expect(accepted.token.hex == Sample.token)
    #expect(accepted.topic.name == "com.example.app")
    #expect(accepted.pushType == .alert)
    #expect(accepted.priority == .immediate && accepted.saysPriority)
    #expect(accepted.expiration == 1_700_009_999)
    #expect(accepted.apnsID.description == Sample.id)
    #expect(accepted.waived.isEmpty)
  }

  @Test("takes defaults for what is absent, and nothing from the request before")
  func defaults() throws {
    let check = Sample.check()
    _ = check.judge(Sample.message([("apns-collapse-id", "score"), ("apns-priority", "5")]), now: Sample.now)
    let bare = Sample.message([
      ("apns-push-type", nil), ("apns-priority", nil), ("apns-expiration", nil), ("apns-id", nil),
    ])
    let accepted = try #require(check.judge(bare, now: Sample.now).accepted)
    #expect(accepted.pushType == nil && accepted.expiration == nil)
    #expect(accepted.priority == .immediate && !accepted.saysPriority)
    #expect(accepted.apnsID != APNSID(Sample.id))
  }

  /// `Documentation/provider-api.md#open-questions`.
  @Test("finds a token of the other environment bad")
  func otherEnvironment() {
    let verdict = Sample.check(environment: .production).judge(Sample.message(), now: Sample.now)
    #expect(verdict.rejected?.rejection == .badDeviceToken)
    let explanation = verdict.rejected?.explanation.text ?? ""
    #expect(
      explanation.hasSuffix("got one of sandbox, whose host is api.sandbox.push.apple.com"), "\(explanation)")
  }

  @Test("stops a flood only when everything else is right")
  func flood() {
    let directory = Sample.directory()
    directory.floodedTokens = [Sample.token(Sample.token)]
    let check = Sample.check(directory: directory)
    #expect(check.judge(Sample.message(), now: Sample.now).rejected?.rejection == .tooManyRequests)
    #expect(check.judge(Sample.message(body: []), now: Sample.now).rejected?.rejection == .payloadEmpty)
  }

  @Test("looks a topic up once while it is among the last ones used")
  func topicMemory() {
    let directory = Sample.directory()
    let check = Sample.check(directory: directory)
    for _ in 0..<10 { _ = check.judge(Sample.message(), now: Sample.now) }
    #expect(directory.handleCalls == 1)
    #expect(directory.standingCalls == 10)
    for number in 0..<20 {
      _ = check.judge(Sample.message([("apns-topic", "com.example.n\(number)")]), now: Sample.now)
    }
    #expect(check.judge(Sample.message(), now: Sample.now).accepted != nil)
    #expect(directory.handleCalls == 22)
  }

  @Test("remembers eight topics")
  func eightTopics() {
    let directory = Sample.directory()
    let check = Sample.check(directory: directory)
    let look = { (number: Int) in
      _ = check.judge(Sample.message([("apns-topic", "com.example.n\(number)")]), now: Sample.now)
      return directory.handleCalls
    }
    #expect((0..<8).map(look).last == 8)
    #expect((0..<8).map(look).last == 8)
    // The ninth takes the place of the first.
    #expect(look(8) == 9 && look(7) == 9 && look(0) == 10)
  }

  @Test("names five topics of a certificate, and how many more it has", arguments: [5, 6])
  func coverage(count: Int) {
    let topics = (1...count).map { "com.example.n\($0)" }
    let check = Sample.check(Sample.certificate(topics, implied: nil))
    let refused = check.judge(Sample.message(), now: Sample.now).rejected
    #expect(
      refused?.explanation.expected
        == "one of " + topics.prefix(5).joined(separator: ", ") + (count == 6 ? " or 1 more" : ""))
  }

  @Test("does not let one token use a topic that another token was allowed")
  func memoryPerGrant() {
    let check = Sample.check()
    let other = [("apns-topic", "com.example.other")]
    let refused = check.judge(Sample.message(other), now: Sample.now).rejected
    #expect(refused?.rejection == .deviceTokenNotForTopic)
    #expect(refused?.explanation.got == "one of com.example.issued")
    let scoped = Sample.message(other + [("authorization", "bearer scoped")])
    #expect(check.judge(scoped, now: Sample.now).rejected?.rejection == .topicDisallowed)
  }

  @Test("knows when a connection has shown a valid provider token")
  func authenticated() {
    let check = Sample.check()
    _ = check.judge(Sample.message([("authorization", "bearer bad")]), now: Sample.now)
    #expect(!check.hasAuthenticated)
    _ = check.judge(Sample.message([("apns-topic", nil)]), now: Sample.now)
    #expect(check.hasAuthenticated)
  }

  /// `Documentation/provider-api.md#open-questions`.
  @Test("refuses a urgent background push only if told to")
  func urgentBackground() {
    var options = ProviderCheckOptions()
    options.refusesUrgentBackground = false
    let message = Sample.message([("apns-push-type", "background")])
    #expect(Sample.check(options: options).judge(message, now: Sample.now).accepted != nil)
  }

  /// `Documentation/provider-api.md#example-push`, last row.
  @Test(
    "compares suffix and push type if told to",
    arguments: [
      ("alert", "com.example.app.voip", true), ("voip", "com.example.app", true),
      ("voip", "com.example.app.voip", false), ("alert", "com.example.app", false),
    ])
  func suffix(_ type: String, _ topic: String, _ isRefused: Bool) {
    for rejection in [Rejection.deviceTokenNotForTopic, .invalidPushType] {
      var options = ProviderCheckOptions()
      options.suffixMismatch = rejection
      let message = Sample.message([("apns-push-type", type), ("apns-topic", topic)])
      let verdict = Sample.check(options: options).judge(message, now: Sample.now)
      #expect(verdict.rejected?.rejection == (isRefused ? rejection : nil))
    }
  }

  @Test("a topic that has made room for another is looked up again, and remembered once")
  func replacedTopic() {
    let directory = FakeDirectory()
    let check = Sample.check(directory: directory)
    let message = Sample.message()
    for _ in 0..<3 { _ = check.judge(message, now: Sample.now) }
    #expect(directory.handleCalls == 1)
    directory.isForgetful = true
    for _ in 0..<20 { _ = check.judge(message, now: Sample.now) }
    #expect(directory.handleCalls == 21)
    directory.isForgetful = false
    for _ in 0..<20 { _ = check.judge(message, now: Sample.now) }
    #expect(directory.handleCalls == 21)
  }
}
