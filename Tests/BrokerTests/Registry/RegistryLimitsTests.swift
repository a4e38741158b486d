import PushModel
import Testing

@testable import Broker

/// How many there may be, as `Documentation/limits.md` has it.
@Suite("Limits of the token map")
struct RegistryLimitsTests {
  private let lab = Lab()
  private var registry: Registry { lab.broker.registry }

  private func topic(_ name: String, in table: inout TopicTable) throws -> TopicID? {
    table.id(try #require(Topic(name)))
  }

  @Test("a topic that nothing is of makes room for another; once all are in use there is none")
  func topics() throws {
    var table = TopicTable(limit: 2)
    let (used, unused) = (try #require(try topic("a", in: &table)), try #require(try topic("b", in: &table)))
    table.retain(used)
    let next = try #require(try topic("c", in: &table))
    #expect(table.contains(used) && !table.contains(unused) && table.count == 2)
    table.retain(next)
    #expect(try topic("d", in: &table) == nil)
    table.release(used)
    #expect(try topic("d", in: &table) != nil && table.count == 2)
    #expect(Registry.topicLimit == 1_000_000)
  }

  @Test("a context that is known needs no room; a further one is refused")
  func contexts() {
    var table = ContextTable(limit: 2)
    let contexts = ["one", "two", "three", "one"].compactMap { TokenContext.updating($0) }
    #expect(contexts.map { table.id($0)?.index } == [0, 1, nil, 0])
    #expect(ContextTable().limit == 1_000_000)
  }

  @Test("there are as many rows, and as many devices, as the table may have")
  func rows() throws {
    #expect(registry.rowLimit == 16_000_000)
    registry.rowLimit = 2
    let session = try #require(try lab.connect().session)
    let names = ["a", "b", "c"]
    let tokens = try names.map { lab.broker.apps.appToken(session, topic: try lab.hash($0), now: lab.now) }
    #expect(tokens.map { $0 != nil } == [true, true, false])
    // A saved state brings its rows without asking.
    var told = TokenRow()
    told.token = DeviceToken(bytes: [UInt8](repeating: 9, count: 32))
    let imported = lab.broker.rows.admit(told, of: 0, try lab.topic("c"), because: .imported, now: lab.now)
    #expect(imported == nil && registry.registrationCount == 2)
    let devices = try ["tablet", "watch"].map { registry.device(try #require(UDID($0)), now: lab.now) }
    #expect(devices == [1, nil])
  }

  @Test("devices bring topics until so many are in use; what is in use they may ask for")
  func topicsOfDevices() throws {
    #expect(registry.topicLimitOfDevices == 750_000)
    registry.topicLimitOfDevices = 2
    let phone = try #require(try lab.connect().session)
    let tablet = try #require(try lab.connect("tablet").session)
    func mayUse(_ name: String, _ session: DeviceSession) throws -> Bool {
      lab.broker.apps.appToken(session, topic: try lab.hash(name), now: lab.now) != nil
    }
    #expect(try mayUse("a", phone) && mayUse("b", phone) && !mayUse("c", phone))
    #expect(try mayUse("a", tablet) && !mayUse("c", tablet))
  }

  @Test("a team brings so many topics, each of which counts until nothing is of it")
  func topicsOfTeams() throws {
    #expect(registry.topicsPerTeam == 10_000)
    registry.topicsPerTeam = 2
    func key(_ name: String) throws -> ChannelTable.Key {
      ChannelTable.Key(topic: try lab.topic(name), environment: .sandbox, id: [1])
    }
    func bring(_ name: String, _ team: String) throws -> Bool {
      let key = try key(name)
      guard registry.mayUse(key.topic, team: team) else { return false }
      lab.broker.channels.create(key, storesNewest: false)
      registry.noteFirstUse(of: key.topic, by: team)
      return true
    }
    #expect(try ["a", "b", "c"].map { try bring($0, "ours") } == [true, true, false])
    #expect(try bring("c", "theirs") && bring("c", "ours"), "it is in use now")
    _ = lab.broker.channels.delete(try key("a"))
    #expect(try ["d", "e"].map { try bring($0, "ours") } == [true, false])
  }
}
