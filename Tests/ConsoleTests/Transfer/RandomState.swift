import Broker
import Console
import PushModel
import Testing

/// Does to an emulator what people, devices and providers do, at random but repeatably.
struct RandomState {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

  private mutating func next(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(bound))
  }

  func fill(_ lab: ConsoleLab, _ issuer: FakeIssuer) throws {
    var copy = self
    for _ in 0..<60 { try copy.step(lab, issuer) }
  }

  /// A phone's Live Activities come and go.
  private mutating func useActivities(_ lab: ConsoleLab, _ udid: String, _ app: String) throws {
    let phone = try lab.connect(udid, enabling: [app])
    let session = try #require(phone.session)
    let topic = try #require(Topic(app + ".push-type.liveactivity"))
    let context = try #require(
      [TokenContext.starting("Ride"), .updating("activity-1"), .updating("activity-2")][next(3)])
    _ = lab.broker.registry.topic(named: topic)
    _ = lab.broker.apps.appToken(session, topic: TopicHash(topic), context, now: lab.clock.moment)
    if next(3) == 0 {
      lab.broker.apps.endToken(session, topic: TopicHash(topic), context, now: lab.clock.moment)
    }
    lab.broker.devices.sessionEnded(session, now: lab.clock.moment)
  }

  private mutating func step(_ lab: ConsoleLab, _ issuer: FakeIssuer) throws {
    let (udid, app) = ("phone-\(next(4))", "com.example.app\(next(3))")
    let (device, topic) = (try #require(UDID(udid)), try #require(Topic(app)))
    lab.clock.pass(seconds: Int64(next(100)))
    switch next(13) {
    case 0...2: try lab.install(udid, app)
    case 3...4: try push(lab, device)
    case 5: _ = try lab.ask("POST", "/api/v1/devices/\(udid)/apps/\(app)/reinstall")
    case 6: _ = try lab.ask("POST", "/api/v1/devices/\(udid)/apps/\(app)/remove")
    case 7: _ = try lab.ask("POST", "/api/v1/devices/\(udid)/erase")
    case 8: try reportGone(lab, udid, app)
    case 9:
      if !issuer.issuedCertificates.contains(where: { $0.topic == topic }) {
        issuer.issue(
          next(3) == 0
            ? SavedCertificate(topic: topic, environments: [.production], isSingle: true)
            : SavedCertificate(
              topic: topic, moreTopics: next(2) == 0 ? [] : [try #require(Topic("more"))],
              environments: [.sandbox]))
        issuer.issue(
          SavedKey(
            keyId: "K\(issuer.issuedKeys.count)", teamId: "T", topics: [topic],
            environments: Environment.allCases))
      }
      let effect = [
        #"{"reason":"TooManyRequests"}"#, #"{"legacy":{"status":10}}"#, #"{"delayMs":5,"jitterMs":7}"#,
        #"{"goaway":{"lastStream":"zero","keepsOpen":true},"taken":true,"streamLimit":1}"#,
      ][next(4)]
      let when = [
        "null", #"{"next":2}"#, #"{"probability":0.25}"#, #"{"from":"2026-01-01T00:00:00.000Z"}"#,
        #"{"nth":2}"#,
      ][next(5)]
      _ = try lab.ask(
        "POST", "/api/v1/faults",
        json: #"{"name":"f\#(next(3))","match":{"topic":"a"},"when":\#(when),"effect":\#(effect)}"#)
    case 10: try useActivities(lab, udid, app)
    case 11: try choose(lab, device, topic)
    default:
      try useChannel(lab, udid, topic)
    }
  }

  /// Somebody has a token of his own, of any length.
  private mutating func choose(_ lab: ConsoleLab, _ udid: UDID, _ topic: Topic) throws {
    let token = try #require(
      CustomToken(bytes: [UInt8](repeating: UInt8(next(256)), count: [4, 32, 100][next(3)])))
    let device = try #require(lab.broker.registry.device(udid, now: lab.now))
    _ = lab.broker.apps.adopt(
      token, device: device, topic: try #require(lab.broker.registry.topic(named: topic)),
      environment: .sandbox, now: lab.now)
  }

  /// There is a channel; perhaps somebody listens, and something is sent, in either order.
  private mutating func useChannel(_ lab: ConsoleLab, _ udid: String, _ topic: Topic) throws {
    let key = ChannelTable.Key(
      topic: try #require(lab.broker.registry.topic(named: topic)),
      environment: next(3) == 0 ? .production : .sandbox, id: [UInt8(next(3))])
    lab.broker.channels.create(key, storesNewest: next(2) == 0)
    for _ in 0..<2 {
      if next(2) == 0 { broadcast(lab, key) } else { try listen(lab, udid, key) }
    }
  }

  private mutating func broadcast(_ lab: ConsoleLab, _ key: ChannelTable.Key) {
    Array(#"{"aps":{"event":"update","n":\#(next(9))}}"#.utf8).withUnsafeBytes { payload in
      var submission = Submission(
        interface: .provider, topic: key.topic, environment: key.environment,
        token: .none, payload: payload.span)
      submission.plain.expiration = UInt32(lab.now.seconds) + 5000
      lab.broker.broadcasts.send(submission, to: key, storageSeconds: 8 * 3600, now: lab.now)
    }
  }

  private mutating func listen(_ lab: ConsoleLab, _ udid: String, _ key: ChannelTable.Key) throws {
    guard key.environment == .sandbox else { return }
    let session = try #require(try lab.connect(udid, enabling: []).session)
    _ = lab.broker.broadcasts.join(session, key, seenUntil: next(2) == 0 ? nil : lab.now, now: lab.now)
    lab.broker.devices.sessionEnded(session, now: lab.now)
  }

  private mutating func push(_ lab: ConsoleLab, _ udid: UDID) throws {
    let registry = lab.broker.registry
    guard let device = registry.knownDevice(udid) else { return }
    let rows = registry.registrations(of: device)
    guard !rows.isEmpty else { return }
    let row = rows[next(rows.count)]
    let registration = registry[row]
    try lab.push(
      registry.bytes(of: row), next(2) == 0 ? #"{"aps":{"badge":\#(next(9))}}"# : "not JSON \(next(9))",
      app: registry[registration.topic].label,
      expiration: next(3) == 0 ? UInt32(lab.now.seconds) + 5000 : nil)
  }

  /// The device comes, is tried, says that the app is gone, and goes.
  private mutating func reportGone(_ lab: ConsoleLab, _ udid: String, _ app: String) throws {
    guard let device = UDID(udid).flatMap(lab.broker.registry.knownDevice) else { return }
    let phone = try lab.connect(udid, enabling: [app])
    for row in lab.broker.registry.registrations(of: device) where next(2) == 0 {
      let registration = lab.broker.registry[row]
      let label = lab.broker.registry[registration.topic].label
      try lab.push(lab.broker.registry.bytes(of: row), "{}", app: label)
    }
    if let session = phone.session { lab.broker.devices.sessionEnded(session, now: lab.now) }
  }
}
