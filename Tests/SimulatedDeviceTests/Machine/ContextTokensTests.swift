import CourierWire
import PushModel
import Testing

import SimulatedDevice

@Suite("Tokens that a phone wants for contexts")
struct ContextTokensTests {
  private let topic: Topic
  private let game: TokenNeed
  private let ride: TokenNeed

  init() throws {
    topic = try #require(Topic("com.example.app.push-type.liveactivity"))
    game = TokenNeed(topic, .start(attributesType: "Game"))
    ride = TokenNeed(topic, .activity(id: "activity-1"))
  }

  private func online() throws -> World {
    let world = try World()
    world.give(.start)
    _ = world.takeEvents()
    return world
  }

  private func asked(_ world: World) -> [String] {
    world.courier.tokenRequests.map { request in
      let name =
        switch request.context {
        case .absent: "app"
        case .named(let context): context.text
        case .unreadable: "?"
        }
      return name + (request.isOver ? " over" : "")
    }
  }

  @Test("are asked for one after the other, and their topic is wanted before they are told")
  func wanted() throws {
    let world = try online()
    world.give(.wants([game, ride]))
    #expect(asked(world) == ["app", "start:Game", "activity:activity-1"])
    let hash = TopicHash(topic)
    #expect(world.courier.filters.last?.last == hash && world.courier.filters.last?.count == 2)
    let told = world.takeEvents()
    #expect(told.count == 2)
    for (event, need) in zip(told, [game, ride]) {
      guard case .token(let whose, _) = event else { throw Unexpected() }
      #expect(whose == need)
    }
    // The same again asks nothing.
    world.give(.wants([game, ride]))
    #expect(asked(world).count == 3)
  }

  @Test("are ended when the phone has no use for them, and the topic is not wanted any more")
  func ended() throws {
    let world = try online()
    world.give(.wants([ride]))
    _ = world.takeEvents()
    world.give(.wants([]))
    #expect(asked(world).last == "activity:activity-1 over")
    #expect(world.takeEvents() == [.tokenEnded(ride)])
    #expect(world.state.contexts.isEmpty && world.courier.filters.last?.count == 1)
  }

  @Test("that were ended while it was offline are ended when it is back; they are remembered till then")
  func endedWhileOffline() throws {
    let world = try online()
    world.give(.wants([game, ride]))
    world.give(.networkLost)
    world.give(.wants([game]))
    let remembered = try #require(world.lastPersisted)
    #expect(try DeviceState(json: Array(remembered.json.text.utf8)) == remembered)
    #expect(remembered.contexts.map(\.isOver) == [false, true])
    let earlier = asked(world).count
    world.give(.networkFound)
    #expect(asked(world).dropFirst(earlier) == ["app", "start:Game", "activity:activity-1 over"])
    #expect(world.state.contexts.map(\.need) == [game])
  }

  @Test("wanted again before their end is confirmed, they are asked for again")
  func wantedAgain() throws {
    let world = try online()
    world.give(.wants([ride]))
    world.give(.networkLost)
    world.give(.wants([]))
    world.give(.wants([ride]))
    world.give(.networkFound)
    #expect(asked(world).last == "activity:activity-1" && world.state.contexts.map(\.isOver) == [false])
  }

  @Test("go with the app; of a reinstalled one those are asked for again that an app asks for")
  func withTheApp() throws {
    let world = try online()
    world.give(.wants([game, ride]))
    let app = try #require(Topic("com.example.app"))
    world.send(world.courier.tell(AppStateChange(.reinstalled, topic: TopicHash(app))))
    #expect(asked(world).suffix(2) == ["app", "start:Game"])
    #expect(world.state.contexts.map(\.need) == [game])
    world.send(world.courier.tell(AppStateChange(.removed, topic: TopicHash(app))))
    #expect(world.state.contexts.isEmpty && world.state.apps.isEmpty)
  }

  @Test("a notification says for which of them it is")
  func notification() throws {
    let world = try online()
    world.give(.wants([game, ride]))
    _ = world.takeEvents()
    let held = try #require(world.state.contexts.last?.token)
    let message = CourierMessage(token: held, topic: TopicHash(topic), payload: [0x7b, 0x7d], messageId: 5)
    world.send(message.encoded)
    guard case .notification(let notification)? = world.takeEvents().last else { throw Unexpected() }
    #expect(notification.context == ride.context && notification.topic == topic)
    #expect(DeviceEvent.notification(notification).jsonLine.contains(#""context":"activity:activity-1""#))
  }

  @Test("one that the service says is gone is asked for anew, without the old one, and no more than once")
  func gone() throws {
    let world = try online()
    world.give(.wants([game]))
    world.breakConnection()
    world.courier.contextRefusal = AppTokenResponse.statusRemoved
    world.advance(seconds: 5)
    let contexts = world.courier.tokenRequests.filter { $0.context == .named(.start(attributesType: "Game")) }
    #expect(contexts.map { $0.heldToken == nil } == [true, false, true])
    #expect(world.takeEvents().contains(.tokenRefused(game, status: AppTokenResponse.statusRemoved)))
  }

  private struct Unexpected: Error {}
}
