import Credentials
import Foundation
import PushModel
import TestSupport
import Testing

import Emulator
import Transport

extension LiveTests {
  /// Each row of `Documentation/provider-api.md#example-push` and each reason of
  /// `Documentation/provider-api.md#reasons` that a client can reach, over the wire.
  @Suite("Provider API, answers")
  struct ProviderAnswerTests {
    static let ownID = "11111111-2222-4333-8444-555555555555"

    /// An emulator with tokens of every standing.
    final class Stage {
      let harness: EmulatorHarness
      let token: DeviceToken
      let otherApp: DeviceToken
      let otherEnvironment: DeviceToken
      let voip: DeviceToken

      init(_ configure: (inout ServeOptions) -> Void = { _ in }) throws {
        harness = try EmulatorHarness(configure)
        token = try harness.offlineToken()
        otherApp = try harness.offlineToken(topic: "com.example.other")
        otherEnvironment = try harness.offlineToken(serverName: "courier.push.apple.com")
        voip = try harness.offlineToken(topic: Site.topic + ".voip")
      }

      func request() throws -> ProviderRequest { .push(token.hex, authorization: try harness.bearer()) }
    }

    /// Status, fields and body, to the byte.
    private func check(
      _ answer: ProviderAnswer, _ status: Int, _ reason: String?, id: String? = ownID,
      _ name: Comment, sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(answer.status == status, name, sourceLocation: sourceLocation)
      let expected = reason.map { #"{"reason":"\#($0)"}"# } ?? ""
      #expect(answer.text == expected, name, sourceLocation: sourceLocation)
      if let id {
        #expect(answer["apns-id"] == id, name, sourceLocation: sourceLocation)
      } else {
        #expect(Self.isMadeByServer(answer["apns-id"]), name, sourceLocation: sourceLocation)
      }
      let names = Set(answer.fields.map(\.name))
      let wanted: Set<String> =
        status == 200 ? [":status", "apns-id", "apns-unique-id"] : [":status", "apns-id", "content-type"]
      #expect(names == wanted && answer.fields.count == wanted.count, name, sourceLocation: sourceLocation)
      if status != 200 { #expect(answer["content-type"] == "application/json") }
    }

    /// Upper case, in the form of a UUID (`Documentation/provider-api.md#response`).
    private static func isMadeByServer(_ id: String?) -> Bool {
      guard let id, UUID(uuidString: id) != nil else { return false }
      return id == id.uppercased() && id != ownID.uppercased()
    }

    @Test("every row of the probe table, each on a connection of its own")
    func table() throws {
      let stage = try Stage()
      for row in Self.rows {
        var request = try stage.request()
        try row.change(&request, stage)
        let client = try HTTP2Client(stage.harness)
        let answer = try client.answer(request)
        let own = request["apns-id"].flatMap { APNSID($0) == nil ? nil : $0 }
        check(answer, row.status, row.reason, id: own, "\(row.testDescription)")
        client.connection.close()
      }
      let accepted = Self.rows.count { $0.status == 200 }
      #expect(stage.harness.broker.counters.accepted == UInt64(accepted))
    }

    @Test("every row of the probe table, one after another on a single connection")
    func oneConnection() throws {
      let stage = try Stage { $0.provider.binding.updates.scope = .off }
      let client = try HTTP2Client(stage.harness)
      // Topic-specific keys would not be related to the first one.
      for row in Self.rows where !row.testDescription.contains("key of the topic") {
        var request = try stage.request()
        try row.change(&request, stage)
        let answer = try client.answer(request)
        let bound = row.testDescription == "a key of another topic"
        #expect(answer.status == (bound ? 403 : row.status), "\(row.testDescription)")
        let reason = bound ? "UnrelatedKeyIdInToken" : row.reason
        #expect(answer.text == reason.map { #"{"reason":"\#($0)"}"# } ?? "", "\(row.testDescription)")
      }
    }

    @Test("a token whose app is gone gets 410 with the time, to the millisecond")
    func unregistered() throws {
      let stage = try Stage()
      let harness = stage.harness
      let device = try harness.device()
      try harness.remove(Site.topic, from: "phone-1")
      let client = try HTTP2Client(harness)
      harness.clock.setFrozen(true)
      let now = harness.clock.now()
      let request = try stage.request()
      // The device is tried, and reports it: this one was still taken.
      #expect(try client.answer(request).status == 200)
      harness.clock.advance(nanoseconds: 5_000_000_000)
      let answer = try client.answer(request)
      #expect(answer.status == 410 && answer["apns-unique-id"] == nil)
      #expect(answer.text == #"{"reason":"Unregistered","timestamp":\#(now.milliseconds)}"#)
      #expect(device.messages.isEmpty)
      // The binary protocol takes such a token in silence: there the feedback service tells it.
      let legacy = try harness.provider()
      legacy.send(Frames.full(stage.token, id: 1))
      harness.turn(until: "it is taken") { harness.broker.counters.accepted == 2 }
      // The life of the token is looked at before its topic (`Documentation/provider-api.md#order-of-checks` step 6).
      var other = request
      other["apns-topic"] = "com.example.other"
      #expect(try client.answer(other).text == answer.text)
    }

    @Test("410 begins after the operator's grace")
    func grace() throws {
      let stage = try Stage { $0.broker.goneGraceSeconds = 3600 }
      let harness = stage.harness
      _ = try harness.device()
      try harness.remove(Site.topic, from: "phone-1")
      let client = try HTTP2Client(harness, .app())
      #expect(try client.answer(.push(stage.token.hex)).status == 200)
      harness.clock.advance(nanoseconds: 3590 * 1_000_000_000)
      #expect(try client.answer(.push(stage.token.hex)).status == 200)
      harness.clock.advance(nanoseconds: 20 * 1_000_000_000)
      #expect(try client.answer(.push(stage.token.hex)).status == 410)
    }

    @Test(
      "a second token within twenty minutes is one too many, a token of another team or family is refused")
    func followingTokens() throws {
      let stage = try Stage()
      let harness = stage.harness
      func follow(
        _ first: (String, String), _ second: (String, String), after seconds: Int64 = 0
      ) throws -> String {
        let client = try HTTP2Client(harness)
        let now = harness.clock.now()
        let token = stage.token.hex
        #expect(
          try client.answer(
            .push(token, authorization: harness.bearer(first.0, team: first.1, at: now))
          ).status == 200)
        harness.clock.advance(nanoseconds: seconds * 1_000_000_000)
        let then = now.adding(seconds: max(1, seconds))
        return try client.answer(
          .push(token, authorization: harness.bearer(second.0, team: second.1, at: then))
        ).text
      }
      let ours = (Site.teamKey, Site.team)
      #expect(try follow(ours, ours).isEmpty)
      #expect(
        try follow(ours, (Site.foreignKey, Site.otherTeam)) == #"{"reason":"InvalidProviderToken"}"#)
      #expect(
        try follow((Site.topicKey, Site.team), ours) == #"{"reason":"UnrelatedKeyIdInToken"}"#)
    }

    @Test("where an operator sets the limit to one token, a renewal within twenty minutes is too many")
    func renewal() throws {
      let stage = try Stage { $0.provider.binding.updates.tokensPerInterval = 1 }
      let (client, now) = (try HTTP2Client(stage.harness), stage.harness.clock.now())
      func answer(issuedAfter seconds: Int64) throws -> String {
        let bearer = try stage.harness.bearer(Site.teamKey, team: Site.team, at: now.adding(seconds: seconds))
        return try client.answer(.push(stage.token.hex, authorization: bearer)).text
      }
      #expect(try answer(issuedAfter: 0).isEmpty)
      #expect(try answer(issuedAfter: 1) == #"{"reason":"TooManyProviderTokenUpdates"}"#)
      stage.harness.clock.advance(nanoseconds: 1_201_000_000_000)
      #expect(try answer(issuedAfter: 1).isEmpty)
    }

    @Test("the documented spelling of the environment reason can be had")
    func otherSpelling() throws {
      let stage = try Stage { $0.provider.binding.otherEnvironment = .badEnvironmentKeyIdInToken }
      let client = try HTTP2Client(stage.harness)
      let request = ProviderRequest.push(
        stage.token.hex, authorization: try stage.harness.bearer(Site.productionKey))
      check(try client.answer(request), 403, "BadEnvironmentKeyIdInToken", "documented")
    }

    @Test("too many pushes in a second to one device are refused where the operator sets a limit")
    func flood() throws {
      let stage = try Stage { $0.provider.floodLimit = 3 }
      let client = try HTTP2Client(stage.harness, .app())
      for _ in 0..<3 { #expect(try client.answer(.push(stage.token.hex)).status == 200) }
      // The second goes by a clock that nobody sets, so on a slow machine it may be over between; `FloodGateTests` sets it.
      var answer = try client.answer(.push(stage.token.hex))
      for _ in 0..<100 where answer.status == 200 { answer = try client.answer(.push(stage.token.hex)) }
      check(answer, 429, "TooManyRequests", "one too many")
    }

    @Test("a certificate implies its only topic, chooses among several, and allows no other")
    func certificateTopics() throws {
      let stage = try Stage()
      let second = try stage.harness.offlineToken(topic: "com.example.second")
      let cases: [(ClientCertificate, DeviceToken, String?, Int, String?)] = [
        (try .sandbox(), stage.token, nil, 200, nil), (try .sandbox(), stage.token, Site.topic, 200, nil),
        // A universal certificate lists its VoIP and complication topics too
        // (`Documentation/provider-api.md#topics-extension`).
        (try .app(), stage.token, nil, 400, "MissingTopic"), (try .app(), stage.token, Site.topic, 200, nil),
        (try .app(), stage.otherApp, "com.example.other", 400, "TopicDisallowed"),
        (try .several(), stage.token, nil, 400, "MissingTopic"),
        (try .several(), stage.token, Site.topic, 200, nil),
        (try .several(), second, "com.example.second", 200, nil),
        (try .withoutTopic(), stage.token, Site.topic, 403, "BadCertificate"),
      ]
      for (certificate, token, topic, status, reason) in cases {
        let client = try HTTP2Client(stage.harness, certificate)
        var request = ProviderRequest.push(token.hex)
        request["apns-topic"] = topic
        check(try client.answer(request), status, reason, "\(certificate.certificate) \(topic ?? "-")")
      }
    }

    @Test("with a certificate authorization is not looked at, and what needs a token is disallowed")
    func certificateLimits() throws {
      let stage = try Stage()
      let client = try HTTP2Client(stage.harness, .app())
      check(
        try client.answer(.push(stage.token.hex, authorization: "bearer nonsense")), 200, nil, "ignored")
      for (type, suffix) in [("location", ".location-query"), ("liveactivity", ".push-type.liveactivity")] {
        var request = ProviderRequest.push(stage.token.hex)
        request["apns-push-type"] = type
        request["apns-topic"] = Site.topic + suffix
        check(try client.answer(request), 400, "TopicDisallowed", "\(type)")
      }
    }

    @Test("production answers have no unique id; its host names take production tokens")
    func production() throws {
      let stage = try Stage()
      let client = try HTTP2Client(stage.harness, .app(), serverName: "api.push.apple.com")
      let answer = try client.answer(.push(stage.otherEnvironment.hex))
      #expect(answer.status == 200 && answer["apns-unique-id"] == nil)
      #expect(try client.answer(.push(stage.token.hex)).text == #"{"reason":"BadDeviceToken"}"#)
    }

    @Test("lenient mode answers pushes without any authentication")
    func lenient() throws {
      let stage = try Stage { $0.credentials.isLenient = true }
      let client = try HTTP2Client(stage.harness)
      check(try client.answer(.push(stage.token.hex)), 200, nil, "no token")
      check(try client.answer(.push(stage.token.hex, authorization: "bearer x")), 200, nil, "nonsense")
    }

    @Test("lenient mode notes what strict has against a key or certificate that it does not know")
    func lenientReasons() throws {
      let stage = try Stage { $0.credentials.isLenient = true }
      let harness = stage.harness
      func noted() -> String {
        let journal = harness.broker.journal
        return journal.detail(journal.nextId - 1)?.explanation ?? "nothing"
      }
      let signer = try ProviderTokenSigner(
        p8Path: harness.certs + "/keys/AuthKey_\(Site.teamKey).p8", keyId: "NOBODYKNOW", teamId: Site.team)
      let stranger = "bearer " + (try signer.token(at: harness.clock.now()))
      let byToken = try HTTP2Client(harness)
      for _ in 0..<2 {
        let answer = try byToken.answer(.push(stage.token.hex, authorization: stranger))
        #expect(answer.status == 200 && noted().hasPrefix("strict would answer InvalidProviderToken"))
      }
      let foreign = try ClientCertificate.foreign(by: ClientCertificate.ca(), name: "foreign")
      let byCertificate = try HTTP2Client(harness, foreign)
      let answer = try byCertificate.answer(.push(stage.token.hex))
      #expect(answer.status == 200 && noted().hasPrefix("strict would refuse the certificate: "))
      let good = try HTTP2Client(harness)
      #expect(try good.answer(.push(stage.token.hex, authorization: harness.bearer())).status == 200)
      #expect(noted() == "nothing")
    }

    @Test("a key put into the folder is good at once")
    func newKey() throws {
      let folder = ScratchFolder()
      let certs = folder.path + "/certs"
      try FileManager.default.copyItem(atPath: Site.path(), toPath: certs)
      let harness = try EmulatorHarness(certs: certs)
      let token = try harness.offlineToken()
      let client = try HTTP2Client(harness)
      #expect(try client.answer(.push(token.hex, authorization: harness.bearer())).status == 200)
      let issuer = CertsFolder(path: certs)
      try issuer.issueTokenKey(team: Site.team, keyId: "FRESHKEY01", now: Site.now)
      let fresh = try HTTP2Client(harness)
      let answer = try fresh.answer(.push(token.hex, authorization: harness.bearer("FRESHKEY01")))
      #expect(answer.status == 200)
    }

    @Test("what was accepted reaches the device with its id, priority and expiration")
    func delivery() throws {
      let stage = try Stage()
      let device = try stage.harness.device()
      device.filter([Site.topic])
      device.roundTrip()
      stage.harness.passPause()
      let client = try HTTP2Client(stage.harness)
      var request = try stage.request()
      request["apns-priority"] = "5"
      #expect(try client.answer(request).status == 200)
      device.waitForMessages(1)
      let message = device.messages[0]
      #expect(message.payload == request.body && message.priority == 5 && message.expiry == 4_000_000_000)
      let id = message.tracingIdentifier
      #expect(id == bytes(Self.ownID.filter { $0 != "-" }) || id == Array(Self.ownID.utf8))
    }
  }
}
