import CourierWire
import PushModel
import SimulatedDevice
import Testing

/// What a person does to an app, here or through the console.
@Suite("Apps of the simulated device")
struct AppChangeTests {
  private let topic: Topic
  private let other: Topic
  private let world: World

  init() throws {
    topic = try #require(Topic("com.example.app"))
    other = try #require(Topic("com.example.other"))
    world = try World()
    world.give(.start)
    world.settle()
    _ = world.takeEvents()
  }

  private func tell(_ action: AppStateChange.Action, _ topic: Topic, naming: Bool = false) {
    world.send(
      world.courier.tell(AppStateChange(action, topic: TopicHash(topic), topicName: naming ? topic : nil)))
  }

  @Test("removed: the topic is no longer wanted and its token forgotten")
  func removed() {
    tell(.removed, topic)
    #expect(world.takeEvents() == [.app(topic, .removed)])
    #expect(world.courier.filters.last == [])
    #expect(world.lastPersisted?.apps == [])
    tell(.removed, topic)
    #expect(world.takeEvents().isEmpty)
  }

  @Test("reinstalled: a new token is asked for, and enabled")
  func reinstalled() {
    world.courier.tokens = [:]
    tell(.reinstalled, topic)
    let new = DeviceToken(loading: 1002)
    #expect(world.takeEvents() == [.app(topic, .reinstalled), .token(TokenNeed(topic), new)])
    #expect(world.courier.tokenRequests.last?.heldToken == nil)
    #expect(world.courier.filters.suffix(2) == [[], [TopicHash(topic)]])
    #expect(world.lastPersisted?.apps.first?.token == new)
  }

  @Test("reinstalled, though it was removed before: installed")
  func reinstalledUnknown() {
    tell(.reinstalled, other, naming: true)
    #expect(
      world.takeEvents() == [.app(other, .installed), .token(TokenNeed(other), DeviceToken(loading: 1002))])
  }

  @Test("installed: known by its name, with a token of its own; without a name nothing can be done")
  func installed() {
    tell(.installed, other)
    #expect(world.takeEvents().isEmpty)
    tell(.installed, other, naming: true)
    #expect(
      world.takeEvents() == [.app(other, .installed), .token(TokenNeed(other), DeviceToken(loading: 1002))])
    #expect(world.courier.filters.last == [TopicHash(topic), TopicHash(other)])
  }

  @Test("updated: the token stays")
  func updated() {
    let filters = world.courier.filters
    tell(.updated, topic)
    #expect(world.takeEvents() == [.app(topic, .updated)])
    #expect(world.courier.filters == filters)
    tell(.updated, other, naming: true)
    #expect(world.takeEvents().isEmpty)
  }

  @Test("erased: a new certificate, no token offered, no apps")
  func erased() throws {
    let udid = try #require(UDID("device-1"))
    world.courier.baseToken = DeviceToken(loading: 5)
    world.send(world.courier.tell(AppStateChange(.erased)))
    #expect(world.activations == 1)
    #expect(world.courier.requests.last?.baseToken == nil)
    #expect(
      world.takeEvents() == [
        .erased(udid), .activated(udid), .connected(baseToken: DeviceToken(loading: 5)),
      ])
    #expect(world.lastPersisted?.apps.isEmpty == true)
  }

  @Test("removed or reinstalled: so are its topics with a suffix")
  func family() throws {
    let suffixed = try #require(Topic(topic.name + ".voip"))
    for each in [suffixed, other] { world.give(.install(each)) }
    world.courier.tokens = [:]
    _ = world.takeEvents()
    tell(.reinstalled, topic)
    let told = world.takeEvents()
    #expect(told.first == .app(topic, .reinstalled))
    let topics = told.compactMap { if case .token(let need, _) = $0 { need.topic } else { nil } }
    #expect(topics == [topic, suffixed])
    tell(.removed, topic)
    #expect(world.takeEvents() == [.app(topic, .removed), .app(suffixed, .removed)])
    #expect(world.state.apps.map(\.topic) == [other])
    #expect(world.courier.filters.last == [TopicHash(other)])
  }

  @Test("restored: a new certificate, no token offered, new tokens for all")
  func restored() throws {
    let udid = try #require(UDID("device-1"))
    world.courier.tokens = [:]
    world.courier.baseToken = DeviceToken(loading: 5)
    world.send(world.courier.tell(AppStateChange(.restored)))
    #expect(world.activations == 1)
    #expect(world.courier.requests.last?.baseToken == nil)
    #expect(
      world.takeEvents() == [
        .restored(udid), .activated(udid), .connected(baseToken: DeviceToken(loading: 5)),
        .token(TokenNeed(topic), DeviceToken(loading: 1002)),
      ])
  }

  @Test("installed and removed here")
  func here() {
    world.give(.install(other))
    #expect(
      world.takeEvents() == [.app(other, .installed), .token(TokenNeed(other), DeviceToken(loading: 1002))])
    world.give(.remove(other))
    #expect(world.takeEvents() == [.app(other, .removed)])
    #expect(world.courier.filters.last == [TopicHash(topic)])
  }

  @Test("installed while it is offline: asked for on return")
  func whileOffline() {
    world.breakConnection()
    world.give(.install(other))
    _ = world.takeEvents()
    world.advance(seconds: 2)
    #expect(world.takeEvents().contains(.token(TokenNeed(other), DeviceToken(loading: 1002))))
  }

  @Test("removed while its token is on its way: the late token is not shown")
  func removedMeanwhile() {
    let late = AppTokenResponse(
      answering: AppTokenRequest(baseToken: nil, topic: TopicHash(other)), with: DeviceToken(loading: 9))
    world.courier.isStalled = true
    world.give(.install(other))
    world.give(.remove(other))
    _ = world.takeEvents()
    world.send(late.encoded)
    #expect(world.takeEvents().isEmpty)
    #expect(world.state.apps.map(\.topic) == [topic])
  }

  @Test("no more than a thousand")
  func tooMany() throws {
    let names = (0..<1200).map { "app\($0)" }
    let crowded = try World(topics: names)
    crowded.give(.start)
    #expect(crowded.state.apps.count == DeviceState.maximumApps)
    #expect(crowded.isConnected)
    #expect(crowded.courier.filters.last?.count == DeviceState.maximumApps)
  }
}
