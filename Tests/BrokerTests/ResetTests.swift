import Basics
import Testing

import Broker

@Suite struct ResetTests {
  @Test("Dropping kept messages leaves those that are on their way")
  func storedNotifications() throws {
    let lab = Lab()
    let (offline, online) = (try lab.row("offline"), try lab.row("online"))
    let phone = try lab.connect("online", enabling: [Lab.app])
    let (first, second) = (lab.push(offline, "kept"), lab.push(online, "sent"))
    #expect(lab.broker.deliveries.dropStored(from: 0, budget: .max, now: lab.now) == nil)
    #expect(lab.state(first) == .discarded && lab.kept(offline) == nil)
    #expect(lab.state(second) == .sent)
    lab.acknowledge(phone, 0)
    #expect(lab.state(second) == .delivered)
  }

  @Test("Forgotten devices lose connections, tokens, messages and feedback, and begin again as at first")
  func devices() throws {
    let lab = Lab()
    let row = try lab.row()
    let token = lab.broker.registry[row].token
    let device = try lab.device()
    let topic = try lab.topic()
    _ = lab.broker.apps.change(.reinstall, device: device, topic: topic, environment: .sandbox, now: lab.now)
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "finds the app gone")
    let id = lab.push(1, "on its way")
    #expect(lab.broker.feedback.rows == [row])

    lab.broker.forgetDevices(now: lab.now)
    #expect(phone.endReasons.count == 1)
    #expect(lab.broker.registry.devices.isEmpty && lab.broker.registry.registrationCount == 0)
    #expect(lab.broker.feedback.rows.isEmpty && lab.broker.registry.find(token) == nil)
    #expect(lab.state(id) == .discarded && lab.broker.journal[id]?.registration == nil)
    let changes = lab.broker.turn.takeChanges()
    #expect(changes.startsOver && changes.topics == [topic] && changes.notifications.isEmpty)
    #expect(!lab.broker.turn.takeChanges().startsOver)

    let again = try lab.row()
    #expect(lab.broker.registry[again].token == token, "the first install again")
    lab.push(again, "new")
    #expect(lab.kept(again) == "new")
    lab.broker.deliveries.acknowledge(phone.link, messageId: 2, status: 0, now: lab.now)
  }

  @Test("An ended session can't ask for tokens any more")
  func endedSession() throws {
    let lab = Lab()
    let phone = try lab.connect()
    let session = try #require(phone.session)
    lab.broker.forgetDevices(now: lab.now)
    #expect(lab.broker.apps.appToken(session, topic: try lab.hash(), now: lab.now) == nil)
    #expect(lab.broker.devices.setFilter(session, enabled: [try lab.hash()], now: lab.now) == 0)
  }
}
