import PushModel
import TestSupport
import Testing

import Broker

@Suite("Tokens of somebody's own choosing")
struct AdoptionTests {
  let lab = Lab()

  private func token(_ hex: String) throws -> CustomToken { try #require(CustomToken(hex: hex)) }

  private func adopt(_ hex: String, _ udid: String = "phone", _ topic: String = Lab.app) throws
    -> Apps.Adoption
  {
    lab.broker.apps.adopt(
      try token(hex), device: try lab.device(udid), topic: try lab.topic(topic), environment: .sandbox,
      now: lab.now)
  }

  private func row(_ adoption: Apps.Adoption) throws -> RegistrationID {
    guard case .registered(let row) = adoption else {
      Issue.record("\(adoption)")
      throw CancellationError()
    }
    return row
  }

  private func push(_ hex: String, _ text: String = "hello") throws -> SubmissionResult {
    lab.submission(to: try token(hex).bytes, text, topic: try lab.topic()) {
      lab.broker.routing.submit($0, now: lab.now)
    }
  }

  /// As a stream is, to which any token is the same.
  private final class Reader: CourierOutlet {
    private(set) var texts: [String] = []
    private(set) lazy var link = DeviceLink(outlet: self)
    let unsentBytes = 0
    let systemQueuedBytes = 0
    let way = DeviceWay.stream

    func deliver(_ message: OutgoingNotification) -> Int {
      texts.append(message.content.payload.text)
      return unsentBytes
    }
    func deliver(_: ChannelTable.Broadcast, channel: [UInt8], token: DeviceToken, topic: TopicHash) {}
    func endSession(reason: String) {}
    func appChanged(_ topic: TopicHash, _ change: AppChange) {}
  }

  private func read(_ udid: String = "phone") throws -> Reader {
    let reader = Reader()
    let connected = lab.broker.devices.connect(
      try #require(UDID(udid)), keyFingerprint: [], environment: .sandbox, offeredBaseToken: nil,
      link: reader.link, now: lab.now)
    lab.broker.devices.setFilter(try #require(connected).session, enabled: [try lab.hash()], now: lab.now)
    return reader
  }

  @Test(
    "the app has it from then on, asked for again it is the same, and nobody else gets it",
    arguments: [4, 32, 100])
  func own(count: Int) throws {
    let hex = String(repeating: "7f", count: count)
    let given = try lab.row()
    let row = try row(adopt(hex))
    #expect(lab.broker.registry.text(of: row) == hex)
    #expect(lab.broker.registry[given].isAbandoned && !lab.broker.registry[row].isAbandoned)
    #expect(try adopt(hex) == .same(row))
    #expect(try adopt(hex, "tablet") == .taken(row))
    #expect(try adopt(hex, "phone", "com.example.other") == .taken(row))
    #expect(lab.broker.registry.customCount == 1)
  }

  @Test("a push by it is kept, and reaches the device", arguments: [4, 32, 100])
  func delivered(count: Int) throws {
    let hex = String(repeating: "7f", count: count)
    let row = try row(adopt(hex))
    #expect(try push(hex).rejection == nil)
    #expect(lab.kept(row) == "hello")
    let reader = try read()
    #expect(reader.texts == ["hello"])
    #expect(try push(hex, "again").rejection == nil)
    #expect(reader.texts == ["hello", "again"])
    withExtendedLifetime(reader) {}
  }

  @Test(
    "an iPhone's connection gets nothing by tokens of other lengths than iPhones know, and is not told of them"
  )
  func courier() throws {
    let (short, long) = (
      try row(adopt("abcd", "phone")), try row(adopt(String(repeating: "ab", count: 32), "tablet"))
    )
    let phone = try lab.connect(enabling: [Lab.app])
    let tablet = try lab.connect("tablet", enabling: [Lab.app])
    lab.submit(long, "hello")
    #expect(try push("abcd").rejection == nil)
    #expect(tablet.texts == ["hello"] && phone.texts.isEmpty && lab.kept(short) == "hello")
    let session = try #require(phone.session)
    #expect(try lab.broker.apps.appToken(session, topic: lab.hash(), now: lab.now) == nil)
  }

  @Test("what the table calls a token of another length is no token of anybody else's")
  func apart() throws {
    let row = try row(adopt("abcd"))
    let registry = lab.broker.registry
    #expect(try [token("abcd"), token("abcd00")].map { registry.find($0) } == [row, nil])
    #expect(registry.hasOtherLength(row) && registry.bytes(of: row) == [0xab, 0xcd])
    #expect(try registry.find(token("abcd" + String(repeating: "0", count: 60))) == nil)
  }

  @Test("an app that was removed has it again, also when the phone has told of that")
  func again() throws {
    let row = try row(adopt("abcd"))
    let (device, topic) = (try lab.device(), try lab.topic())
    for isReported in [false, true] {
      _ = lab.broker.apps.change(.remove, device: device, topic: topic, environment: .sandbox, now: lab.now)
      if isReported { lab.broker.feedback.reportGone(row, now: lab.now) }
      #expect(try adopt("abcd") == .same(row))
      #expect(lab.broker.registry.installed(device, topic, .sandbox) == row)
      #expect(lab.broker.feedback.count == 0)
    }
  }

  @Test("an unknown token is registered at its first push if that is wanted, to a device named after it")
  func firstPush() throws {
    #expect(try push("abcd").rejection == .badDeviceToken)
    var options = BrokerOptions()
    options.adoptsTokens = true
    let lab = Lab(options: options)
    lab.broker.registry.customLimit = 2
    func refusal(_ hex: String) throws -> Rejection? {
      let topic = try lab.topic()
      return lab.submission(to: try token(hex).bytes, "hello", topic: topic) {
        lab.broker.routing.submit($0, now: lab.now)
      }.rejection
    }
    #expect(try [refusal("abcd"), refusal("abcd")] == [nil, nil])
    #expect(try refusal(String(repeating: "ab", count: 32)) == nil)
    let device = try #require(UDID("abcd").flatMap(lab.broker.registry.knownDevice))
    #expect(lab.broker.registry.installed(on: device).count == 1)
    #expect(lab.broker.apps.refusedAdoptions == 0)
    #expect(try refusal("abcdef") == .badDeviceToken)
    #expect(lab.broker.apps.refusedAdoptions == 1 && lab.broker.registry.customCount == 2)
    #expect(UDID("abcdef").flatMap(lab.broker.registry.knownDevice) == nil)
    #expect(!lab.broker.apps.hasRoomForUnknown() && lab.broker.apps.refusedAdoptions == 2)
    let chosen = lab.broker.apps.adopt(
      try token("abcdef"), device: device, topic: try lab.topic(), environment: .production, now: lab.now)
    #expect(chosen == .full)
    lab.broker.forgetDevices(now: lab.now)
    #expect(lab.broker.registry.customCount == 0 && !lab.broker.registry.hasOtherLengths)
    #expect(lab.broker.apps.hasRoomForUnknown())
    #expect(try refusal("abcdef") == nil)
  }
}
