import ProviderAPI
import PushModel
import Testing

@Suite("Broadcast")
struct BroadcastTests {
  private static let id = "11111111-2222-4333-8444-555555555555"
  private static let unstored = FakeChannels.unstored?.text ?? ""
  private static let stored = FakeChannels.stored?.text ?? ""

  /// The request of `Documentation/provider-api.md#broadcast`, with some fields set to another value, or removed (nil).
  private static func message(_ changes: [(String, String?)] = [], body: Int = 20) -> HTTPMessage {
    var fields = [
      (":method", "POST"), (":path", "/4/broadcasts/apps/com.example.app"), ("authorization", "bearer good"),
      ("apns-channel-id", stored), ("apns-push-type", "Liveactivity"), ("apns-expiration", "1700009999"),
      ("apns-priority", "5"), ("apns-request-id", id),
    ]
    for (name, value) in changes {
      fields.removeAll { $0.0 == name }
      if let value { fields.append((name, value)) }
    }
    var message = HTTPMessage()
    for (name, value) in fields { message.append(name: name, value: value) }
    message.appendBody([UInt8](repeating: 0x20, count: body).span)
    return message
  }

  private func judge(_ message: HTTPMessage) -> ProviderVerdict<AcceptedBroadcast> {
    FakeChannels().broadcastCheck().judge(message, now: Sample.now)
  }

  /// `Documentation/provider-api.md#broadcast`.
  @Test("is accepted with everything it says")
  func accepted() {
    guard case .accepted(let accepted) = judge(Self.message()) else {
      Issue.record("refused")
      return
    }
    #expect(accepted.bundle.name == "com.example.app" && accepted.channel.text == Self.stored)
    #expect(accepted.storage == .newest && accepted.priority == .conserving)
    #expect(accepted.expiration == 1_700_009_999 && accepted.requestID.description == Self.id)
  }

  struct Probe: CustomTestStringConvertible, Sendable {
    var changes: [(String, String?)]
    var body = 20
    var rejection: Rejection?
    var testDescription: String {
      changes.map { "\($0.0): \($0.1 ?? "-")" }.joined(separator: ", ") + " \(body)"
    }
  }

  static let probes = [
    Probe(changes: [], body: 5120),
    Probe(changes: [], body: 5121, rejection: .payloadTooLarge),
    Probe(changes: [], body: 0, rejection: .payloadEmpty),
    Probe(changes: [(":method", "GET")], rejection: .methodNotAllowed),
    Probe(changes: [(":path", "/4/broadcasts/apps/com.example.app/x")], rejection: .badPath),
    Probe(changes: [(":path", "/4/broadcasts/apps/")], rejection: .badPath),
    Probe(changes: [("authorization", nil)], rejection: .missingProviderToken),
    Probe(changes: [("apns-channel-id", nil)], rejection: .missingChannelId),
    Probe(changes: [("apns-channel-id", "*")], rejection: .badChannelId),
    Probe(changes: [("apns-channel-id", "BBBB")], rejection: .channelNotRegistered),
    Probe(changes: [("apns-push-type", nil)], rejection: .missingPushType),
    Probe(changes: [("apns-push-type", "alert")], rejection: .invalidPushType),
    Probe(changes: [("apns-push-type", "LIVEACTIVITY")]),
    Probe(changes: [("apns-expiration", nil)], rejection: .badExpirationDate),
    Probe(changes: [("apns-expiration", "soon")], rejection: .badExpirationDate),
    Probe(changes: [("apns-channel-id", unstored)], rejection: .badExpirationDate),
    Probe(changes: [("apns-channel-id", unstored), ("apns-expiration", "0")]),
    Probe(changes: [("apns-priority", nil)], rejection: .badPriority),
    Probe(changes: [("apns-priority", "7")], rejection: .badPriority),
    Probe(changes: [("apns-priority", "10")]),
    Probe(changes: [("apns-request-id", "x")], rejection: .badMessageId),
    Probe(changes: [("apns-request-id", nil), ("apns-id", "x")], rejection: .badMessageId),
    Probe(changes: [("apns-topic", "com.other")]),
    Probe(changes: [(":path", "/4/broadcasts/apps/com.example.app.voip")], rejection: .topicDisallowed),
    Probe(
      changes: [(":path", "/4/broadcasts/apps/com.other"), ("authorization", "bearer scoped")],
      rejection: .topicMismatch),
  ]

  @Test("gives the documented answer", arguments: probes)
  func probe(_ probe: Probe) {
    switch judge(Self.message(probe.changes, body: probe.body)) {
    case .accepted: #expect(probe.rejection == nil)
    case .rejected(let rejected): #expect(rejected.rejection == probe.rejection)
    }
  }

  /// `Documentation/provider-api.md#broadcast`.
  @Test("takes its id from apns-id where a client uses that")
  func apnsID() {
    let other = "22222222-2222-4333-8444-555555555555"
    guard case .accepted(let accepted) = judge(Self.message([("apns-request-id", nil), ("apns-id", other)]))
    else {
      Issue.record("refused")
      return
    }
    #expect(accepted.requestID.description == other)
  }

  /// `Documentation/provider-api.md#channel-reasons`.
  @Test("is refused where its channel has had too many, whatever else is right")
  func flooded() {
    let channels = FakeChannels()
    channels.flooded = FakeChannels.stored
    let verdict = channels.broadcastCheck().judge(Self.message(), now: Sample.now)
    guard case .rejected(let rejected) = verdict else {
      Issue.record("accepted")
      return
    }
    #expect(rejected.rejection == .tooManyRequests)
  }

  @Test("is told from a device push by its path")
  func route() {
    #expect(BroadcastCheck.isBroadcast(Self.message()))
    #expect(!BroadcastCheck.isBroadcast(Sample.message()))
  }
}
