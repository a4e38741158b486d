import ProviderAPI
import PushModel
import Testing

/// A channel management request, and the reason for which `Documentation/provider-api.md#channel-reasons` refuses it;
/// nil for success.
struct ChannelCase: CustomTestStringConvertible, Sendable {
  static let path = "/1/apps/com.example.app/channels"
  static let list = "/1/apps/com.example.app/all-channels"

  var name: String
  var method = "GET"
  var path = Self.path
  var fields: [(String, String)] = []
  var body = ""
  var authorization: String? = "good"
  var rejection: Rejection?

  var testDescription: String { name }

  var message: HTTPMessage {
    var message = HTTPMessage()
    for (name, value) in [(":method", method), (":path", path)] + fields {
      message.append(name: name, value: value)
    }
    if let authorization { message.append(name: "authorization", value: "bearer \(authorization)") }
    message.appendBody(Array(body.utf8).span)
    return message
  }

  static func body(_ name: String, _ body: String, _ rejection: Rejection) -> ChannelCase {
    ChannelCase(name: name, method: "POST", body: body, rejection: rejection)
  }

  static func path(_ path: String, _ rejection: Rejection) -> ChannelCase {
    ChannelCase(name: path, path: path, rejection: rejection)
  }

  static func token(_ token: String?, _ rejection: Rejection) -> ChannelCase {
    ChannelCase(name: "token \(token ?? "none")", authorization: token, rejection: rejection)
  }

  static func channel(_ channel: String?, _ rejection: Rejection) -> ChannelCase {
    let fields = channel.map { [("apns-channel-id", $0)] } ?? []
    return ChannelCase(name: "channel \(channel ?? "none")", fields: fields, rejection: rejection)
  }
}

@Suite("Channel management")
struct ChannelTests {
  private static let configuration = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
  private static let stored = FakeChannels.stored?.text ?? ""

  /// `Documentation/provider-api.md#channel-management`.
  @Test("creates, reads, lists and deletes a channel")
  func lifeCycle() throws {
    let handler = FakeChannels().handler()
    let id = "11111111-2222-4333-8444-555555555555"
    let create = ChannelCase(
      name: "", method: "POST", fields: [("apns-request-id", id)], body: Self.configuration)
    let created = handler.answer(create.message, now: Sample.now)
    #expect(created.status == 201 && created.body.isEmpty && created.requestID.description == id)
    let named = [("apns-channel-id", try #require(created.channelID).text)]
    let read = handler.answer(ChannelCase(name: "", fields: named).message, now: Sample.now)
    #expect(read.status == 200)
    #expect(String(decoding: read.body, as: UTF8.self) == Self.configuration)
    let list = handler.answer(ChannelCase(name: "", path: ChannelCase.list).message, now: Sample.now)
    #expect(list.status == 200)
    #expect(
      String(decoding: list.body, as: UTF8.self)
        == #"{"channels":["AAAAAAAAAAAAAAAAAAAAAA==","AQEBAQEBAQEBAQEBAQEBAQ==","made"]}"#)
    let delete = ChannelCase(name: "", method: "DELETE", fields: named)
    let deleted = handler.answer(delete.message, now: Sample.now)
    #expect(deleted.status == 204 && deleted.body.isEmpty)
    #expect(handler.answer(delete.message, now: Sample.now).rejected?.rejection == .channelNotRegistered)
  }

  @Test("an id has at most 128 characters (our limit)")
  func longestID() {
    #expect(ChannelID(String(repeating: "A", count: 128)) != nil)
    #expect(ChannelID(String(repeating: "A", count: 132)) == nil)
  }

  /// `Documentation/provider-api.md#channel-reasons`, and the paths that another client uses
  /// (`Documentation/provider-api.md#open-questions`).
  static let refusals: [ChannelCase] = [
    .path("/1/apps/com.example.app/channel", .badPath),
    .path("/1/apps/com.example.app/channels/AAAA", .badPath),
    .path("/1/apps/com.example.app", .badPath),
    .path("/3/device/00", .badPath),
    ChannelCase(name: "PUT", method: "PUT", rejection: .methodNotAllowed),
    ChannelCase(
      name: "POST to the list", method: "POST", path: ChannelCase.list, rejection: .methodNotAllowed),
    ChannelCase(
      name: "channel twice", fields: [("apns-channel-id", stored), ("apns-channel-id", stored)],
      rejection: .duplicateHeaders),
    ChannelCase(
      name: "request id", fields: [("apns-request-id", "x"), ("apns-channel-id", stored)],
      rejection: .badMessageId),
    .token(nil, .missingProviderToken),
    .token("x", .invalidProviderToken),
    .token("ExpiredProviderToken", .expiredProviderToken),
    .token("TooManyProviderTokenUpdates", .tooManyProviderTokenUpdates),
    .path("/1/apps/com%20x/channels", .badPath),
    .path("/1/apps//channels", .badPath),
    .path("/1/apps/com.example.app.voip/channels", .topicDisallowed),
    .path("/1/apps/com.disabled/channels", .featureNotEnabled),
    ChannelCase(
      name: "scope", path: "/1/apps/com.other/channels", authorization: "scoped", rejection: .topicMismatch),
    .channel(nil, .missingChannelId),
    .channel("", .missingChannelId),
    .channel("a-b!", .badChannelId),
    .channel("AAA", .badChannelId),
    .channel("A===", .badChannelId),
    .channel(String(repeating: "A", count: 132), .badChannelId),
    .channel("BBBB", .channelNotRegistered),
    .body("no body", "", .payloadEmpty),
    .body("large body", String(repeating: " ", count: 5121), .payloadTooLarge),
    .body("no JSON", "hello", .badRequestPayload),
    .body("array", "[1]", .badRequestPayload),
    .body(
      "unknown member", #"{"message-storage-policy":1,"push-type":"LiveActivity","name":"score"}"#,
      .badRequestParams),
    .body(
      "member in other letters", #"{"Message-Storage-Policy":1,"push-type":"LiveActivity"}"#,
      .badRequestParams),
    .body("policy 2", #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, .missingChannelQueueSize),
    .body(
      "policy as text", #"{"message-storage-policy":"1","push-type":"LiveActivity"}"#,
      .missingChannelQueueSize),
    .body("no policy", #"{"push-type":"LiveActivity"}"#, .missingChannelQueueSize),
    .body("no push type", #"{"message-storage-policy":1}"#, .missingPushType),
    .body("push type", #"{"message-storage-policy":1,"push-type":"alert"}"#, .invalidPushType),
  ]

  @Test("refuses with its reasons", arguments: refusals)
  func refusal(_ probe: ChannelCase) {
    let channels = FakeChannels()
    channels.disabled = [Sample.topic("com.disabled")]
    let answer = channels.handler().answer(probe.message, now: Sample.now)
    #expect(answer.rejected?.rejection == probe.rejection)
    #expect(answer.status == probe.rejection?.status)
    #expect(answer.body == probe.rejection.map { ErrorBody.bytes($0) })
    #expect(channels.storages.count == 2)
  }

  @Test("an answer that has nothing to do with the request carries its id as well")
  func refusedFromOutside() {
    let id = "11111111-2222-4333-8444-555555555555"
    let message = ChannelCase(name: "", fields: [("apns-request-id", id)]).message
    let why = Explanation(rule: "", expected: "", got: "")
    let answer = FakeChannels().handler().refuse(message, .shutdown, explanation: why, now: Sample.now)
    #expect(answer.status == 503 && answer.requestID.description == id)
  }

  @Test("takes a body of 5120 bytes, and no longer one")
  func longestBody() {
    let largest = Self.configuration + String(repeating: " ", count: 5120 - Self.configuration.utf8.count)
    for (body, status) in [(largest, 201), (largest + " ", 413)] {
      let create = ChannelCase(name: "", method: "POST", body: body)
      #expect(FakeChannels().handler().answer(create.message, now: Sample.now).status == status)
    }
  }

  @Test("says which member it does not know")
  func unknownMember() {
    let body = #"{"message-storage-policy":1,"push-type":"LiveActivity","channel-name":"score"}"#
    let create = ChannelCase(name: "", method: "POST", body: body)
    let rejected = FakeChannels().handler().answer(create.message, now: Sample.now).rejected
    #expect(rejected?.explanation.expected == "no members but message-storage-policy and push-type")
    #expect(rejected?.explanation.got.contains("channel-name") == true)
  }

  @Test(
    "makes no more channels than allowed, and says of what there are too many",
    arguments: [
      (ChannelsFull.ofBundle(limit: 10_000), "10000 channels of a bundle id"),
      (.ofAll(limit: 100_000), "100000 channels of all"), (.topicsOfTeam(limit: 10_000), "10000 bundle ids"),
      (.topics(limit: 1_000_000), "1000000 topics"),
    ])
  func limit(full: ChannelsFull, expected: String) {
    let channels = FakeChannels()
    (channels.limit, channels.full) = (2, full)
    let create = ChannelCase(name: "", method: "POST", body: Self.configuration)
    let answer = channels.handler().answer(create.message, now: Sample.now)
    #expect(answer.rejected?.rejection == .cannotCreateChannelConfig)
    #expect(answer.rejected?.explanation.expected.contains(expected) == true)
    #expect(channels.team == FakeTokens().grant.teamID)
  }

  /// `Documentation/provider-api.md#open-questions`.
  @Test(
    "takes the push type in any letter case",
    arguments: ["LiveActivity", "Liveactivity", "liveactivity"])
  func letterCase(_ type: String) {
    let body = "{\"push-type\":\"\(type)\",\"message-storage-policy\":0}"
    let answer = FakeChannels().handler().answer(
      ChannelCase(name: "", method: "POST", body: body).message, now: Sample.now)
    #expect(answer.status == 201)
  }

  @Test("serves a certificate for its bundle id only")
  func certificate() {
    let handler = FakeChannels().handler(Sample.certificate())
    let own = ChannelCase(name: "", path: ChannelCase.list, authorization: nil)
    #expect(handler.answer(own.message, now: Sample.now).status == 200)
    let other = ChannelCase(name: "", path: "/1/apps/com.other/all-channels", authorization: nil)
    #expect(handler.answer(other.message, now: Sample.now).rejected?.rejection == .topicMismatch)
  }
}
