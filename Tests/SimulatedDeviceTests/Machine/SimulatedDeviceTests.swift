import CourierWire
import PushModel
import SimulatedDevice
import Testing

/// Device and courier in memory, from first contact to reconnect.
@Suite("Simulated device")
struct SimulatedDeviceTests {
  private let topic: Topic
  private let hash: TopicHash
  private let udid: UDID
  private let baseToken = DeviceToken(loading: 1)
  private let appToken = DeviceToken(loading: 1001)

  init() throws {
    topic = try #require(Topic("com.example.app"))
    hash = TopicHash(topic)
    udid = try #require(UDID("device-1"))
  }

  private func online(topics: [String] = ["com.example.app"]) throws -> World {
    let world = try World(topics: topics)
    world.give(.start)
    world.settle()
    _ = world.takeEvents()
    return world
  }

  private func notifications(_ events: [DeviceEvent]) -> [DeviceNotification] {
    events.compactMap { if case .notification(let notification) = $0 { notification } else { nil } }
  }

  private func payloads(_ events: [DeviceEvent]) -> [String] {
    notifications(events).map { String(decoding: $0.payload, as: UTF8.self) }
  }

  @Test("activates, connects, says its state, gets its token and only then enables the topic")
  func firstContact() throws {
    let world = try World(isActivated: false)
    world.give(.start)
    #expect(
      world.takeEvents() == [
        .activated(udid), .connected(baseToken: baseToken), .token(TokenNeed(topic), appToken),
      ])
    #expect(world.courier.requests.count == 1)
    #expect(world.courier.requests.first?.baseToken == nil)
    #expect(world.courier.requests.first?.simulatedDevice == 1)
    #expect(world.courier.requests.first?.topicNames == [topic])
    #expect(world.courier.filters == [[], [hash]])
    #expect(world.courier.tokenRequests.map(\.topicName) == [topic])
    let app = HeldToken(TokenNeed(topic), token: appToken)
    #expect(world.lastPersisted == DeviceState(udid: udid, baseToken: baseToken, apps: [app]))
  }

  @Test("does the same when bytes arrive one by one")
  func byteByByte() throws {
    let world = try World(topics: ["a", "b"])
    world.pieceSize = 1
    world.give(.start)
    world.courier.push("{}", to: TopicHash(try #require(Topic("b"))))
    world.settle()
    #expect(world.takeEvents().count == 4)
    #expect(world.courier.acknowledgements.count == 1)
  }

  @Test("with a phone it says so, and passes on what is ordered and reported")
  func phone() throws {
    let world = try World(hasPhone: true)
    let (order, report) = (PhoneOrderCommand(number: 1, order: [2]), PhoneReport(number: 1))
    world.give(.phoneReported(report))
    world.give(.start)
    world.settle()
    #expect(world.courier.requests.first?.simulatedDevice == 2)
    world.send(order.encoded)
    world.give(.phoneReported(report))
    #expect(world.orders == [order])
    #expect(world.courier.reports == [report], "what was told before it was connected is lost")
  }

  @Test("without a network the connection stays and no messages are asked for, until it is back")
  func listening() throws {
    let world = try online()
    world.give(.listens(false))
    #expect(world.courier.filters.last == [] && world.isConnected)
    world.courier.push("{}", to: hash)
    world.settle()
    #expect(world.takeEvents().isEmpty)
    world.breakConnection()
    world.advance(seconds: 2)
    world.settle()
    #expect(world.isConnected && notifications(world.takeEvents()).isEmpty)
    world.give(.listens(true))
    world.settle()
    #expect(notifications(world.takeEvents()).count == 1)
  }

  @Test("without a phone orders are passed over")
  func noPhone() throws {
    let world = try online()
    world.send(PhoneOrderCommand(number: 1, order: [2]).encoded)
    #expect(world.orders.isEmpty && world.isConnected)
  }

  @Test("signs a nonce of 17 bytes: zero, the time in milliseconds, eight of chance")
  func nonce() throws {
    let world = try online()
    let nonce = try #require(world.courier.requests.first?.nonce)
    #expect(nonce.count == 17)
    #expect(Array(nonce.prefix(9)) == [0, 0, 0, 0x01, 0x8b, 0xcf, 0xe5, 0x68, 0x00])
    #expect(world.courier.requests.first?.signature == [1, 1] + nonce)
    world.breakConnection()
    world.advance(seconds: 2)
    #expect(world.courier.requests.last?.nonce?.suffix(8) != nonce.suffix(8))
  }

  @Test("shows a notification and acknowledges it with status 0")
  func notification() throws {
    let world = try online()
    world.courier.push(#"{"aps":{"alert":"hi"}}"#, to: hash)
    world.settle()
    let notification = try #require(notifications(world.takeEvents()).first)
    #expect(notification.topic == topic)
    #expect(notification.token == appToken)
    #expect(notification.priority == 10)
    #expect(notification.expiration == nil)
    #expect(!notification.isFromStore)
    #expect(world.courier.acknowledgements.map(\.status) == [0])
  }

  @Test("shows a repeated message once and acknowledges it each time")
  func repeated() throws {
    let world = try online()
    let message = CourierMessage(token: appToken, topic: hash, payload: [1], messageId: 7).encoded
    world.send(message + message)
    #expect(notifications(world.takeEvents()).count == 1)
    #expect(world.courier.acknowledgements.map(\.messageId) == [7, 7])
  }

  @Test("acknowledges a message for an app that it does not have, and shows nothing")
  func unknownTopic() throws {
    let world = try online()
    let other = TopicHash(try #require(Topic("com.example.other")))
    world.send(CourierMessage(token: appToken, topic: other, payload: [1], messageId: 7).encoded)
    #expect(world.takeEvents().isEmpty)
    #expect(world.courier.acknowledgements.map(\.messageId) == [7])
  }

  @Test("comes back with its base token and gets what was kept, once")
  func reconnect() throws {
    let world = try online()
    world.breakConnection()
    #expect(world.takeEvents() == [.disconnected(reason: "broken")])
    for number in 1...3 { world.courier.push("\(number)", to: hash) }
    world.courier.connectionLost()
    world.advance(seconds: 2)
    #expect(world.courier.requests.last?.baseToken == baseToken)
    let events = world.takeEvents()
    #expect(events.first == .connected(baseToken: baseToken))
    #expect(payloads(events) == ["3"])
    #expect(notifications(events).first?.isFromStore == true)
    #expect(!events.contains(.token(TokenNeed(topic), appToken)), "an unchanged token was told before")
    world.breakConnection()
    world.advance(seconds: 5)
    #expect(payloads(world.takeEvents()).isEmpty)
  }

  @Test("enables remembered topics before anything else, and asks for their tokens again")
  func remembered() throws {
    let app = HeldToken(TokenNeed(topic), token: appToken)
    let world = try World(state: DeviceState(udid: udid, baseToken: baseToken, apps: [app]))
    world.courier.tokens[hash] = appToken
    world.give(.start)
    #expect(world.courier.filters == [[hash]])
    #expect(world.courier.tokenRequests.map(\.heldToken) == [appToken])
    #expect(world.takeEvents() == [.connected(baseToken: baseToken), .token(TokenNeed(topic), appToken)])
    #expect(world.lastPersisted == nil)
  }

  @Test("takes over a base token that the courier replaces")
  func replacedBaseToken() throws {
    let world = try online()
    world.courier.baseToken = DeviceToken(loading: 2)
    world.breakConnection()
    world.advance(seconds: 2)
    #expect(world.courier.requests.last?.baseToken == baseToken)
    #expect(world.lastPersisted?.baseToken == DeviceToken(loading: 2))
    #expect(world.courier.tokenRequests.last?.baseToken == DeviceToken(loading: 2))
  }

  @Test("forgets a refused base token and tries again at once without it")
  func refusedToken() throws {
    let world = try online()
    world.courier.refusesToken = true
    world.breakConnection()
    _ = world.takeEvents()
    world.advance(seconds: 2)
    #expect(world.courier.requests.suffix(2).map(\.baseToken) == [baseToken, nil])
    #expect(
      world.takeEvents() == [
        .disconnected(reason: "the server refused the connection with status 2"),
        .connected(baseToken: baseToken),
      ])
    #expect(world.activations == 0)
  }

  @Test("activates anew when it is refused without a token, not without waiting")
  func refusedIdentity() throws {
    let world = try World()
    world.courier.refusesIdentity = true
    world.give(.start)
    #expect(world.activations == 0 && world.connects == 1)
    world.courier.refusesIdentity = false
    world.advance(seconds: 1)
    #expect(world.activations == 1)
    #expect(world.isConnected)
  }

  @Test("tries activation again later when it fails")
  func activationFails() throws {
    let world = try World(isActivated: false)
    world.activationFailure = "no such CA"
    world.give(.start)
    #expect(world.takeEvents() == [.disconnected(reason: "activation failed: no such CA")])
    world.activationFailure = nil
    world.advance(seconds: 1)
    #expect(world.activations == 2)
    #expect(world.isConnected)
  }

  @Test("gets the tokens of several apps one after the other")
  func severalApps() throws {
    let topics = try ["a", "b", "c"].map { try #require(Topic($0)) }
    let world = try World(topics: topics.map(\.name))
    world.give(.start)
    let hashes = topics.map { TopicHash($0) }
    #expect(world.courier.tokenRequests.map(\.topic) == hashes)
    #expect(world.courier.filters == [[], [hashes[0]], [hashes[0], hashes[1]], hashes])
    #expect(world.takeEvents().count == 4)
  }

  @Test("tells a refused token and goes on with the others")
  func tokenRefused() throws {
    let world = try World(topics: ["a", "b"])
    world.courier.tokenRefusal = 1
    world.give(.start)
    let events = try ["a", "b"].map {
      DeviceEvent.tokenRefused(TokenNeed(try #require(Topic($0))), status: 1)
    }
    #expect(Array(world.takeEvents().dropFirst()) == events)
    #expect(world.courier.filters == [[]])
  }

  @Test("drops an app that was removed while it was offline")
  func removedWhileOffline() throws {
    let world = try online()
    world.breakConnection()
    world.courier.tokenRefusal = AppTokenResponse.statusRemoved
    world.advance(seconds: 2)
    #expect(world.state.apps.isEmpty)
    #expect(world.takeEvents().last == .app(topic, .removed))
    #expect(world.courier.filters.last == [])
  }

  @Test("keeps alive once a minute, and reconnects when nobody answers for 15 s")
  func keepAlive() throws {
    let world = try online()
    world.advance(seconds: 3600)
    #expect(world.takeEvents().isEmpty)
    #expect(world.connects == 1)
    world.courier.isStalled = true
    world.advance(seconds: 75)
    #expect(world.takeEvents() == [.disconnected(reason: "keepAlive was not answered")])
    world.courier.isStalled = false
    world.advance(seconds: 2)
    #expect(world.isConnected)
  }

  @Test("gives up on a courier that does not answer connect")
  func connectUnanswered() throws {
    let world = try World()
    world.courier.isStalled = true
    world.give(.start)
    world.advance(seconds: 15)
    #expect(world.takeEvents() == [.disconnected(reason: "connect was not answered")])
  }

  @Test("ends when the courier breaks the protocol, and comes back")
  func brokenCourier() throws {
    let world = try online()
    world.send([0x0a, 0xff, 0xff, 0xff, 0xff])
    #expect(world.takeEvents().count == 1)
    #expect(!world.isConnected)
    world.advance(seconds: 2)
    #expect(world.isConnected)
  }

  @Test("does nothing more once stopped")
  func stop() throws {
    let world = try online()
    world.give(.stop)
    #expect(world.takeEvents() == [.disconnected(reason: "stopped")])
    world.give(.start)
    world.advance(seconds: 600)
    #expect(world.connects == 1)
    #expect(world.takeEvents().isEmpty)
  }
}
