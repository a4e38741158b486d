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
    _ = lab.broker.change(.reinstall, device: 0, topic: 0, environment: .sandbox, now: lab.now)
    rows.append(4)
    let tokens = rows.map { lab.broker.registry[$0].token }
    #expect(Set(tokens).count == 5)
    #expect(tokens.map { lab.broker.registry.find($0) } == rows)
  }

  @Test("installs are counted for each app and environment alone")
  func installs() throws {
    _ = try lab.row()
    for _ in 0..<3 {
      _ = lab.broker.change(.reinstall, device: 0, topic: 0, environment: .sandbox, now: lab.now)
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
}
