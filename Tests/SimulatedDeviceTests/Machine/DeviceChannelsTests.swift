import CourierWire
import PushModel
import Testing

import SimulatedDevice

@Suite("Channels that a phone listens to")
struct DeviceChannelsTests {
  private let app: Topic
  private let one: ChannelNeed
  private let two: ChannelNeed

  init() throws {
    app = try #require(Topic("com.example.app"))
    one = ChannelNeed(app, [1])
    two = ChannelNeed(app, [2])
  }

  private func online(hasPhone: Bool = true) throws -> World {
    let world = try World(hasPhone: hasPhone)
    world.give(.start)
    return world
  }

  private func joined(_ world: World) -> [[[UInt8]]] {
    world.courier.subscriptions.map { $0.entries.flatMap(\.join).map(\.id) }
  }

  @Test("are told as a whole when they change; what an earlier run listened to ends first")
  func told() throws {
    let world = try online()
    world.give(.listensTo([one]))
    world.give(.listensTo([one]))
    world.give(.listensTo([one, two]))
    world.give(.listensTo([]))
    #expect(joined(world) == [[], [[1]], [[1], [2]], []])
    #expect(world.courier.subscriptions.allSatisfy { $0.replaces && $0.baseToken == world.state.baseToken })
    #expect(world.courier.subscriptions[1].entries.map(\.topic) == ["com.example.app"])
    #expect(Set(world.courier.subscriptions.map(\.index)).count == 4)
  }

  @Test("a device without a phone tells of none")
  func withoutPhone() throws {
    #expect(try online(hasPhone: false).courier.subscriptions.isEmpty)
  }

  @Test("are told again after a break only if the service has not confirmed them")
  func again() throws {
    let world = try online()
    world.give(.listensTo([one]))
    world.breakConnection()
    world.advance(seconds: 5)
    #expect(joined(world) == [[], [[1]]])
    world.courier.confirmsChannels = false
    world.give(.listensTo([two]))
    world.breakConnection()
    world.courier.confirmsChannels = true
    world.advance(seconds: 5)
    #expect(joined(world) == [[], [[1]], [[2]], [[2]]])
  }

  @Test("are joined from the newest message on that has come")
  func newest() throws {
    let world = try online()
    world.give(.listensTo([one]))
    var message = CourierMessage(
      token: DeviceToken(loading: 1), topic: TopicHash(app), payload: [0x7b, 0x7d], messageId: 5)
    for time in [70, 60] as [UInt64] {
      message.channel = CourierChannel(id: [1], lastMessageTime: time)
      message.messageId += 1
      world.send(message.encoded)
    }
    guard case .notification(let notification)? = world.takeEvents().last else { throw Unexpected() }
    #expect(notification.channel == [1])
    world.give(.listensTo([one, two]))
    let join = try #require(world.courier.subscriptions.last).entries.flatMap(\.join)
    #expect(join == [CourierChannel(id: [1], lastMessageTime: 70), CourierChannel(id: [2])])
  }

  private struct Unexpected: Error {}
}
