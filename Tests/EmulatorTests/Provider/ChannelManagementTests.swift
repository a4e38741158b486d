import Basics
import CourierWire
import ProviderAPI
import PushModel
import Testing

import Emulator
import Transport

extension LiveTests {
  /// Channel management (`Documentation/provider-api.md#channel-management`) and the reasons of
  /// `Documentation/provider-api.md#channel-reasons`.
  @Suite("Channels")
  struct ChannelManagementTests {
    static let ownID = "11111111-2222-4333-8444-555555555555"
    static let path = "/1/apps/\(Site.topic)/channels"

    static func request(
      _ method: String, _ path: String = path, channel: String? = nil, policy: Int? = nil
    ) -> ProviderRequest {
      var request = ProviderRequest(method: method, path: path)
      request.fields = [("apns-request-id", ownID)]
      if let channel { request.fields.append(("apns-channel-id", channel)) }
      let body = policy.map { #"{"message-storage-policy":\#($0),"push-type":"LiveActivity"}"# }
      request.body = Array((body ?? "").utf8)
      return request
    }

    @Test(
      "channels are made, read, listed and deleted on the gateway's and the feedback service's port",
      arguments: [("gateway", true), ("gateway", false), ("feedback", true), ("feedback", false)])
    func lifeCycle(listener: String, usesCertificate: Bool) throws {
      let harness = try EmulatorHarness()
      let client = try HTTP2Client(harness, listener: listener, usesCertificate ? .app() : nil)
      let bearer = try harness.bearer()
      func answer(_ request: ProviderRequest) throws -> ProviderAnswer {
        var request = request
        if !usesCertificate { request["authorization"] = bearer }
        let answer = try client.answer(request)
        #expect(answer["apns-request-id"] == Self.ownID && answer["apns-id"] == nil)
        return answer
      }
      #expect(
        try answer(Self.request("GET", "/1/apps/\(Site.topic)/all-channels")).text == #"{"channels":[]}"#)
      let made = try answer(Self.request("POST", policy: 1))
      let channel = try #require(made["apns-channel-id"])
      #expect(made.status == 201 && made.body.isEmpty && Base64.decode(channel.utf8) != nil)
      let read = try answer(Self.request("GET", channel: channel))
      #expect(read.status == 200)
      #expect(read.text == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
      let listed = try answer(Self.request("GET", "/1/apps/\(Site.topic)/all-channels"))
      #expect(listed.status == 200 && listed.text == #"{"channels":["\#(channel)"]}"#)
      let deleted = try answer(Self.request("DELETE", channel: channel))
      #expect(deleted.status == 204 && deleted.body.isEmpty)
      let gone = try answer(Self.request("GET", channel: channel))
      #expect(gone.status == 400 && gone.text == #"{"reason":"ChannelNotRegistered"}"#)
    }

    @Test("a channel belongs to one app in one environment")
    func scope() throws {
      let harness = try EmulatorHarness()
      let client = try HTTP2Client(harness, listener: "gateway", .several())
      let made = try client.answer(Self.request("POST", policy: 0))
      let channel = try #require(made["apns-channel-id"])
      let other = Self.request("GET", "/1/apps/com.example.second/channels", channel: channel)
      #expect(try client.answer(other).text == #"{"reason":"ChannelNotRegistered"}"#)
      let production = try HTTP2Client(
        harness, listener: "feedback", .several(), serverName: "api-manage-broadcast.push.apple.com")
      #expect(
        try production.answer(Self.request("GET", channel: channel)).text
          == #"{"reason":"ChannelNotRegistered"}"#)
    }

    /// A request, and the answer to it.
    struct Row: Sendable, CustomTestStringConvertible {
      var testDescription: String
      var status: Int
      var reason: String
      var change: @Sendable (inout ProviderRequest) -> Void

      init(
        _ name: String, _ status: Int, _ reason: String,
        _ change: @escaping @Sendable (inout ProviderRequest) -> Void
      ) {
        (testDescription, self.status, self.reason, self.change) = (name, status, reason, change)
      }

      static func body(_ text: String) -> [UInt8] { Array(text.utf8) }

      static let management: [Row] = [
        Row("another path", 404, "BadPath") { $0.path = "/1/apps/\(Site.topic)/chans" },
        Row("the channel in the path", 404, "BadPath") { $0.path += "/abcd" },
        Row("PUT", 405, "MethodNotAllowed") { $0.method = "PUT" },
        Row("POST to the list", 405, "MethodNotAllowed") { $0.path = "/1/apps/\(Site.topic)/all-channels" },
        Row("a field twice", 400, "DuplicateHeaders") { $0.fields.append(("apns-request-id", ownID)) },
        Row("a bad request id", 400, "BadMessageId") { $0["apns-request-id"] = "xyz" },
        Row("no token", 403, "MissingProviderToken") { $0["authorization"] = nil },
        Row("a bad token", 403, "InvalidProviderToken") { $0["authorization"] = "bearer x" },
        Row("a bundle id with a suffix", 400, "TopicDisallowed") {
          $0.path = "/1/apps/\(Site.topic).voip/channels"
        },
        Row("a bundle id that is none", 404, "BadPath") { $0.path = "/1/apps//channels" },
        Row("no channel id", 400, "MissingChannelId") { $0.method = "GET" },
        Row("a channel id that is no base64", 400, "BadChannelId") {
          $0.method = "DELETE"
          $0["apns-channel-id"] = "?"
        },
        Row("an unknown channel", 400, "ChannelNotRegistered") {
          $0.method = "GET"
          $0["apns-channel-id"] = "AAAA"
        },
        Row("no body", 400, "PayloadEmpty") { $0.body = [] },
        Row("a large body", 413, "PayloadTooLarge") { $0.body = [UInt8](repeating: 0x20, count: 5121) },
        Row("a body that is no JSON", 400, "BadRequestPayload") { $0.body = body("x") },
        Row("an unknown member", 400, "BadRequestParams") {
          $0.body = body(#"{"message-storage-policy":1,"push-type":"LiveActivity","name":"x"}"#)
        },
        Row("no policy", 400, "MissingChannelQueueSize") { $0.body = body(#"{"push-type":"LiveActivity"}"#) },
        Row("policy 2", 400, "MissingChannelQueueSize") {
          $0.body = body(#"{"message-storage-policy":2,"push-type":"LiveActivity"}"#)
        },
        Row("no push type", 400, "MissingPushType") { $0.body = body(#"{"message-storage-policy":1}"#) },
        Row("another push type", 400, "InvalidPushType") {
          $0.body = body(#"{"message-storage-policy":1,"push-type":"alert"}"#)
        },
      ]
    }

    @Test("each thing that is wrong with a management request has its reason")
    func managementReasons() throws {
      let harness = try EmulatorHarness()
      let bearer = try harness.bearer()
      for row in Row.management {
        let client = try HTTP2Client(harness, listener: "gateway")
        var request = Self.request("POST", policy: 1)
        request["authorization"] = bearer
        row.change(&request)
        let answer = try client.answer(request)
        #expect(answer.status == row.status, "\(row.testDescription)")
        #expect(answer.text == #"{"reason":"\#(row.reason)"}"#, "\(row.testDescription)")
        #expect(answer["apns-request-id"] != nil && answer["content-type"] == "application/json")
        client.connection.close()
      }
      let other = try HTTP2Client(harness, listener: "gateway", .app("com.example.other"))
      let answer = try other.answer(Self.request("POST", policy: 1))
      #expect(answer.status == 403 && answer.text == #"{"reason":"TopicMismatch"}"#)
    }

    @Test("one channel more than ten thousand can't be made")
    func tooMany() throws {
      let harness = try EmulatorHarness()
      let topic = try #require(Topic(Site.topic))
      for _ in 0..<ChannelLimits.channels {
        _ = try harness.emulator.provider.channels.createChannel(topic, .sandbox, storage: .none, team: nil)
      }
      let client = try HTTP2Client(harness, listener: "gateway", .app())
      let answer = try client.answer(Self.request("POST", policy: 1))
      #expect(answer.status == 400 && answer.text == #"{"reason":"CannotCreateChannelConfig"}"#)
      let list = try client.answer(Self.request("GET", "/1/apps/\(Site.topic)/all-channels"))
      #expect(list.status == 200 && list.text.count { $0 == "," } == ChannelLimits.channels - 1)
    }

    @Test("a team makes channels of so many bundle ids that no device has an app of")
    func topicsOfTeam() throws {
      let harness = try EmulatorHarness()
      let registry = harness.emulator.broker.registry
      registry.topicsPerTeam = 2
      let channels = harness.emulator.provider.channels
      func make(_ name: String, _ team: String? = "TEAM") throws -> ChannelID {
        try channels.createChannel(
          try #require(Topic(name)), .sandbox, storage: .none, team: team)
      }
      let first = try make("first")
      _ = try (make("first"), make("second"))
      #expect(throws: ChannelsFull.topicsOfTeam(limit: 2)) { try make("third") }
      _ = try (make("second"), make("third", "OTHER"), make("third"), make("fourth", nil))
      let topic = try #require(Topic("first"))
      let others = channels.channels(topic, .sandbox)
      #expect(others.count == 2 && others.contains(first))
      for channel in others { #expect(channels.deleteChannel(channel, topic, .sandbox)) }
      _ = try make("fifth")
    }

    @Test("without a certificate only channel management is let through the gateway's handshake")
    func certificateOptional() throws {
      let harness = try EmulatorHarness()
      for listener in ["gateway", "feedback"] {
        let managing = try HTTP2Client(harness, listener: listener)
        managing.open()
        #expect(managing.connection.alpn == "h2" && managing.session.peerSettingsFrames == 1)
        for alpn in [[], ["apns-pack-v1"]] {
          let recorder = Recorder()
          _ = try harness.connect(listener, as: recorder, context: harness.context(), alpn: alpn)
          harness.turn(until: "the handshake fails") { recorder.hasEnded }
          #expect(!recorder.hasOpened)
        }
      }
    }
  }
}
