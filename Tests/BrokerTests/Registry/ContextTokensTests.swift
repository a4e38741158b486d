import PushModel
import TestSupport
import Testing

import Broker

@Suite("Tokens of contexts")
struct ContextTokensTests {
  private static let activities = "com.example.app.push-type.liveactivity"
  private static let start = TokenContext.start(attributesType: "Game")
  private static let ride = TokenContext.activity(id: "activity-1")
  let lab = Lab()

  private func token(_ context: TokenContext?, _ phone: TestDevice) throws -> DeviceToken {
    let session = try #require(phone.session)
    return try #require(
      lab.broker.apps.appToken(session, topic: try lab.hash(Self.activities), context, now: lab.now))
  }

  private func row(_ token: DeviceToken) throws -> RegistrationID {
    try #require(lab.broker.registry.find(token))
  }

  private func end(_ context: TokenContext, _ phone: TestDevice) throws {
    let session = try #require(phone.session)
    lab.broker.apps.endToken(session, topic: try lab.hash(Self.activities), context, now: lab.now)
  }

  @Test("each context has a token of its own, and keeps it")
  func oneEach() throws {
    _ = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    let tokens = try [nil, Self.start, Self.ride, .updating("activity-2")].map { try token($0, phone) }
    #expect(Set(tokens).count == 4)
    #expect(try tokens == [nil, Self.start, Self.ride, .updating("activity-2")].map { try token($0, phone) })
    #expect(try lab.broker.registry.context(of: row(tokens[1])) == Self.start)
    #expect(try lab.broker.registry.context(of: row(tokens[0])) == nil)
  }

  @Test("a push reaches the phone with the token that it was sent to")
  func delivered() throws {
    let phone = try lab.connect(enabling: [Self.activities])
    let tokens = try [Self.start, Self.ride].map { try token($0, phone) }
    try lab.enable([Self.activities], on: phone)
    for token in tokens { lab.push(try row(token), "to it") }
    #expect(phone.received.map(\.token) == tokens)
  }

  @Test("the last message is kept for each of them")
  func keptEach() throws {
    let phone = try lab.connect(enabling: [Self.activities])
    let rows = try [Self.start, Self.ride].map { try row(token($0, phone)) }
    try lab.disconnect(phone)
    for id in rows { lab.push(id, "older") }
    for id in rows { lab.push(id, "newer \(id)") }
    #expect(rows.map { lab.kept($0) } == rows.map { "newer \($0)" })
    let again = try lab.connect(enabling: [Self.activities])
    #expect(again.received.count == 2)
  }

  @Test(
    "a token that the phone does not need is gone at the next push, the others are not; asked for again it is another"
  )
  func ended() throws {
    let phone = try lab.connect(enabling: [Self.activities])
    let (starting, riding) = (try token(Self.start, phone), try token(Self.ride, phone))
    try end(Self.ride, phone)
    try end(.activity(id: "never heard of"), phone)
    #expect(lab.broker.apps.wasRemoved(riding, from: try #require(phone.session)))
    #expect(!lab.broker.apps.wasRemoved(starting, from: try #require(phone.session)))
    lab.push(try row(riding), "too late")
    #expect(try !lab.broker.registry[row(riding)].isActive && lab.broker.registry[row(starting)].isActive)
    #expect(try token(Self.ride, phone) != riding)
    #expect(try token(Self.start, phone) == starting)
  }

  @Test(
    "removing the app ends all of them; reinstalling and restoring give back those that are asked for again")
  func withTheApp() throws {
    for change in [AppChange.remove, .reinstall, .restore] {
      let lab = Lab()
      let app = try lab.row()
      let phone = try lab.connect(enabling: [Lab.app])
      let session = try #require(phone.session)
      let hash = try lab.hash(Self.activities)
      let old = try [Self.start, Self.ride].map {
        try #require(lab.broker.apps.appToken(session, topic: hash, $0, now: lab.now))
      }
      let device = lab.broker.registry[app].device
      if change == .restore {
        #expect(lab.broker.apps.restore(device, now: lab.now))
      } else {
        _ = lab.broker.apps.change(change, device: device, topic: 0, environment: .sandbox, now: lab.now)
      }
      let registry = lab.broker.registry
      for token in old { #expect(registry.find(token).map { registry[$0].isAbandoned } == true) }
      let now = registry.installed(on: device).compactMap { registry.context(of: $0) }
      #expect(now == (change == .remove ? [] : [Self.start]), "\(change)")
    }
  }

  @Test("a broadcast goes to the topic's own token, and an ended context leaves no channel")
  func channels() throws {
    let phone = try lab.connect(enabling: [Self.activities])
    let key = ChannelTable.Key(topic: try lab.topic(Self.activities), environment: .sandbox, id: [1])
    lab.broker.channels.create(key, storesNewest: false)
    let session = try #require(phone.session)
    #expect(lab.broker.broadcasts.join(session, key, seenUntil: nil, now: lab.now))
    _ = try token(Self.ride, phone)
    try end(Self.ride, phone)
    #expect(lab.broker.channels.listenerCount(key) == 1)
  }

  @Test("there is room for so many rows of a device, contexts included")
  func bounded() throws {
    let phone = try lab.connect(enabling: [Self.activities])
    let session = try #require(phone.session)
    let hash = try lab.hash(Self.activities)
    for number in 0..<Registry.rowsPerDevice {
      let context = TokenContext.updating("activity-\(number)")
      #expect(lab.broker.apps.appToken(session, topic: hash, context, now: lab.now) != nil)
    }
    #expect(lab.broker.apps.appToken(session, topic: hash, Self.start, now: lab.now) == nil)
    #expect(lab.broker.apps.appToken(session, topic: hash, now: lab.now) == nil)
  }
}
