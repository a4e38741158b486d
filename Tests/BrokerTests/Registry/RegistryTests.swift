import PushModel
import Testing

import Broker

@Suite("The token map")
struct RegistryTests {
  let lab = Lab()

  @Test("a topic that was known by its hash gets its name when somebody says it, and keeps its number")
  func naming() throws {
    let name = try #require(Topic("late.app"))
    let index = try #require(lab.broker.registry.topic(hashed: TopicHash(name)))
    #expect(lab.broker.registry[index].label == "sha1:\(TopicHash(name).hex)")
    #expect(lab.broker.registry.knownTopic(named: name) == nil)
    #expect(lab.broker.registry.topic(named: name) == index)
    #expect(lab.broker.registry[index].label == "late.app")
    #expect(lab.broker.registry.knownTopic(hashed: TopicHash(name)) == index)
    #expect(lab.broker.registry.knownTopic(named: name) == index)
  }

  @Test("tokens differ by device, topic, environment and install")
  func different() throws {
    var rows = [
      try lab.row(), try lab.row("tablet"), try lab.row("phone", "a.two"),
      try lab.row("phone", Lab.app, .production),
    ]
    _ = lab.broker.apps.change(.reinstall, device: 0, topic: 0, environment: .sandbox, now: lab.now)
    rows.append(4)
    let tokens = rows.map { lab.broker.registry[$0].token }
    #expect(Set(tokens).count == 5)
    #expect(tokens.map { lab.broker.registry.find($0) } == rows)
  }

  @Test("installs are counted for each app and environment alone")
  func installs() throws {
    _ = try lab.row()
    for _ in 0..<3 {
      _ = lab.broker.apps.change(.reinstall, device: 0, topic: 0, environment: .sandbox, now: lab.now)
    }
    let other = try lab.row("phone", "a.two")
    #expect(lab.broker.registry[other].install == 1)
    let current = try #require(lab.broker.registry.installed(0, 0, .sandbox))
    #expect(lab.broker.registry[current].install == 4)
    #expect(lab.broker.registry.registrations(of: 0) == [4, 3, 2, 1, 0])
  }

  @Test("every token is found however many there are")
  func many() throws {
    for number in 0..<20_000 { _ = try lab.row("device-\(number)") }
    for row in RegistrationID.rows(below: 20_000) {
      let token = lab.broker.registry[row].token
      if lab.broker.registry.find(token) != row { Issue.record("row \(row)") }
      var near = token
      near.words.3 ^= 1
      if lab.broker.registry.find(near) != nil { Issue.record("near row \(row)") }
    }
  }

  // MARK: Names that nothing is of

  private func topic(_ name: String) throws -> TopicID { try lab.topic(name) }

  @Test("names that nothing is of make room for each other, the one asked for longest ago first")
  func unusedNames() throws {
    let registry = lab.broker.registry
    registry.unusedTopicLimit = 3
    let used = try lab.row("phone", "in.use")
    let first = try ["a", "b", "c"].map(topic)
    // Asked for again, by its name or by its hash, it is not the next to go.
    #expect(try topic("a") == first[0])
    #expect(registry.topic(hashed: TopicHash(try #require(Topic("b")))) == first[1])
    let late = try topic("d")
    #expect(late != first[2] && !registry.contains(first[2]))
    #expect(Set(registry.topicNames.map(\.name)) == ["in.use", "a", "b", "d"])
    #expect(registry.knownTopic(named: try #require(Topic("c"))) == nil)
    for number in 0..<100 { _ = try topic("name.\(number)") }
    #expect(registry.topicCount == 4 && registry.contains(registry[used].topic))
    #expect(try topic("in.use") == registry[used].topic)
  }

  @Test("an id of a topic that has made room is nobody's, however many have had its place")
  func oldIds() throws {
    let registry = lab.broker.registry
    registry.unusedTopicLimit = 1
    var ids: [TopicID] = []
    for number in 0..<2048 { ids.append(try topic("name.\(number)")) }
    #expect(Set(ids).count == 2048 && registry.topicCount == 1)
    #expect(ids.filter(registry.contains) == [ids[2047]])
    #expect(registry[ids[2047]].name?.name == "name.2047")
  }

  @Test("a channel and an entry of the feedback service keep their topic, until they go")
  func kept() throws {
    let registry = lab.broker.registry
    registry.unusedTopicLimit = 1
    let channel = try topic("channel")
    let key = ChannelTable.Key(topic: channel, environment: .sandbox, id: [1])
    lab.broker.channels.create(key, storesNewest: false)
    let feedback = try topic("feedback")
    lab.broker.feedback.reportForeignGone(token: [1], topic: feedback, environment: .sandbox, goneAt: lab.now)
    for number in 0..<10 { _ = try topic("name.\(number)") }
    #expect(registry.contains(channel) && registry.isUsed(channel))
    #expect(registry.contains(feedback) && registry.isUsed(feedback))
    _ = lab.broker.channels.delete(key)
    lab.broker.feedback.clearForeign(lab.broker.feedback.foreign.entries.map(\.id))
    for number in 10..<20 { _ = try topic("name.\(number)") }
    #expect(!registry.contains(channel) && !registry.contains(feedback) && registry.topicCount == 3)
  }

  @Test("a name that is only said is kept if somebody has asked for its topic")
  func learning() throws {
    let (known, other) = (try #require(Topic("late.app")), try #require(Topic("other.app")))
    let registry = lab.broker.registry
    let id = try #require(registry.topic(hashed: TopicHash(known)))
    registry.learn(known)
    registry.learn(other)
    #expect(registry[id].label == "late.app" && registry.topicCount == 1)
  }

  @Test("forgetting all devices leaves their topics unused, and a reset makes nobody's id another's")
  func reset() throws {
    let registry = lab.broker.registry
    let rows = try (0..<5).map { try lab.row("phone", "app.\($0)") }
    let topics = rows.map { registry[$0].topic }
    lab.broker.forgetDevices(now: lab.now)
    #expect(topics.allSatisfy { registry.contains($0) && !registry.isUsed($0) })
    registry.unusedTopicLimit = 2
    for number in 0..<5 { _ = try topic("name.\(number)") }
    #expect(registry.topicCount == 5 && !topics.contains(where: registry.contains))
  }
}
