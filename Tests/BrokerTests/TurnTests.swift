import PushModel
import Testing

import Broker

/// What the store is told at the end of a turn. The store here is a dictionary that does as it is told.
@Suite("The end of a turn")
struct TurnTests {
  let lab = Lab()

  private final class Disk {
    var messages: [RegistrationID: String] = [:]

    func take(_ changes: BrokerChanges, _ broker: Broker) {
      for row in changes.notifications {
        messages[row] = broker.deliveries.stored(row).map { $0.payload.text }
      }
    }
  }

  @Test("nothing changed: nothing to write")
  func nothing() {
    #expect(lab.broker.turn.takeChanges().isEmpty)
    #expect(!lab.broker.deliveries.storeUnsent())
  }

  @Test("new rows of the registry are named once written, and not again")
  func registry() throws {
    _ = try lab.row()
    let changes = lab.broker.turn.takeChanges()
    #expect(Set(changes.devices) == [0])
    #expect(Set(changes.topics) == [0])
    #expect(Set(changes.registrations) == [0])
    #expect(lab.broker.turn.takeChanges().isEmpty)
    _ = lab.broker.apps.change(.remove, device: 0, topic: 0, environment: .sandbox, now: lab.now)
    #expect(lab.broker.turn.takeChanges().registrations == [0])
    let phone = try lab.connect()
    #expect(Set(lab.broker.turn.takeChanges().devices) == [0], "its key, and when it was seen")
    try lab.disconnect(phone)
    #expect(Set(lab.broker.turn.takeChanges().devices) == [0])
  }

  @Test("a kept message is written once a turn, however often it was replaced")
  func kept() throws {
    let row = try lab.row()
    for number in 0..<5 { lab.push(row, "\(number)") }
    let changes = lab.broker.turn.takeChanges()
    #expect(changes.notifications == [row])
    #expect(lab.broker.turn.takeChanges().notifications.isEmpty)
  }

  @Test("a message that went out at once is not written")
  func sent() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "message")
    #expect(!lab.broker.deliveries.storeUnsent())
    #expect(lab.broker.turn.takeChanges().notifications.isEmpty)
    lab.acknowledge(phone, 0)
    #expect(lab.broker.turn.takeChanges().notifications.isEmpty)
  }

  @Test("a message that the system has not taken is written, and removed when it is acknowledged")
  func unsent() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "message")
    phone.unsentBytes = 100
    #expect(lab.broker.deliveries.storeUnsent())
    let disk = Disk()
    disk.take(lab.broker.turn.takeChanges(), lab.broker)
    #expect(disk.messages == [row: "message"])
    phone.unsentBytes = 0
    #expect(!lab.broker.deliveries.storeUnsent())
    lab.acknowledge(phone, 0)
    disk.take(lab.broker.turn.takeChanges(), lab.broker)
    #expect(disk.messages.isEmpty)
  }

  @Test("a message that a provider is told of is written while it is still in this system's buffers")
  func queuedBySystem() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.submit(row, "handed over", interface: .provider)
    #expect(!lab.broker.deliveries.storeUnsent())
    phone.systemQueuedBytes = 1
    lab.submit(row, "queued", interface: .provider)
    #expect(lab.broker.deliveries.storeUnsent())
    let disk = Disk()
    disk.take(lab.broker.turn.takeChanges(), lab.broker)
    #expect(disk.messages == [row: "queued"])
    lab.acknowledge(phone, 1)
    disk.take(lab.broker.turn.takeChanges(), lab.broker)
    #expect(disk.messages.isEmpty)
  }

  @Test("what the gateway took in silence is written when a provider learns how far it got")
  func gatewayAnswers() throws {
    let rows = [try lab.row(), try lab.row("phone", "a.two"), try lab.row("tablet")]
    let phone = try lab.connect(enabling: [Lab.app, "a.two"])
    let tablet = try lab.connect("tablet", enabling: [Lab.app])
    phone.systemQueuedBytes = 1
    lab.push(rows[0], "older")
    lab.push(rows[0], "newer")
    lab.push(rows[1], "acknowledged")
    lab.push(rows[2], "handed over")
    lab.acknowledge(phone, 2)
    #expect(!lab.broker.deliveries.storeUnsent())
    lab.broker.deliveries.gatewayAnswers()
    #expect(lab.broker.deliveries.storeUnsent())
    let disk = Disk()
    disk.take(lab.broker.turn.takeChanges(), lab.broker)
    #expect(disk.messages == [rows[0]: "newer"])
    // Said once.
    lab.push(rows[1], "silent again")
    #expect(!lab.broker.deliveries.storeUnsent())
    #expect(tablet.texts == ["handed over"])
  }

  @Test("what is written is not written again when another provider learns how far it got")
  func toldAgain() throws {
    let rows = [try lab.row(), try lab.row("phone", "a.two")]
    let phone = try lab.connect(enabling: [Lab.app, "a.two"])
    phone.systemQueuedBytes = 1
    func writtenWhenTold() -> [RegistrationID] {
      lab.broker.deliveries.gatewayAnswers()
      _ = lab.broker.deliveries.storeUnsent()
      return lab.broker.turn.takeChanges().notifications
    }
    lab.push(rows[0], "first")
    #expect(writtenWhenTold() == [rows[0]])
    #expect(writtenWhenTold().isEmpty)
    lab.push(rows[1], "second")
    #expect(writtenWhenTold() == [rows[1]])
    lab.push(rows[0], "newer than the first")
    #expect(lab.broker.turn.takeChanges().notifications == [rows[0]], "the store has the first")
    #expect(writtenWhenTold().isEmpty)
    // What comes out of order, or is acknowledged meanwhile, hides nothing.
    lab.acknowledge(phone, 1)
    #expect(lab.broker.turn.takeChanges().notifications == [rows[1]], "it is removed")
    lab.push(rows[1], "third")
    #expect(writtenWhenTold() == [rows[1]])
  }

  @Test("a newer message takes the place of a written one also when it goes out at once")
  func newerSent() throws {
    let row = try lab.row()
    let disk = Disk()
    lab.push(row, "older")
    disk.take(lab.broker.turn.takeChanges(), lab.broker)
    _ = try lab.connect(enabling: [Lab.app])
    lab.push(row, "newer")
    disk.take(lab.broker.turn.takeChanges(), lab.broker)
    #expect(disk.messages == [row: "newer"])
  }

  @Test("a written message that the device refused, or did not acknowledge, stays written")
  func staysWritten() throws {
    let row = try lab.row()
    let disk = Disk()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "message")
    lab.acknowledge(phone, 0, status: 2)
    disk.take(lab.broker.turn.takeChanges(), lab.broker)
    #expect(disk.messages == [row: "message"])
    try lab.disconnect(phone)
    let again = try lab.connect(enabling: [Lab.app])
    disk.take(lab.broker.turn.takeChanges(), lab.broker)
    #expect(disk.messages == [row: "message"])
    lab.acknowledge(again, 0)
    disk.take(lab.broker.turn.takeChanges(), lab.broker)
    #expect(disk.messages.isEmpty)
  }

  @Test("once a message has been removed, those that go out at once are not written either")
  func nothingMoreToRemove() throws {
    let row = try lab.row()
    lab.push(row, "kept")
    let phone = try lab.connect(enabling: [Lab.app])
    _ = lab.broker.turn.takeChanges()
    lab.acknowledge(phone, 0)
    #expect(lab.broker.turn.takeChanges().notifications == [row])
    lab.push(row, "sent")
    lab.acknowledge(phone, 1)
    #expect(lab.broker.turn.takeChanges().notifications.isEmpty)
  }

  @Test("expired messages, and those of gone tokens, are removed")
  func removed() throws {
    let (expiring, going) = (try lab.row(), try lab.row("phone", "a.two"))
    let disk = Disk()
    lab.push(expiring, "expiring", expiration: lab.time(in: 5))
    lab.push(going, "going")
    disk.take(lab.broker.turn.takeChanges(), lab.broker)
    #expect(disk.messages.count == 2)
    lab.pass(seconds: 6)
    lab.broker.deliveries.dropExpired(now: lab.now, budget: 10)
    lab.broker.feedback.reportGone(going, now: lab.now)
    disk.take(lab.broker.turn.takeChanges(), lab.broker)
    #expect(disk.messages.isEmpty)
  }

  @Test("what is put back goes out like what was never away, and is removed when it is acknowledged")
  func restored() throws {
    let topic = try #require(Topic(Lab.app))
    let udid = try #require(UDID("phone"))
    let token = lab.derivation.appToken(
      environment: .sandbox, udid: udid, topicHash: TopicHash(topic), install: 1)
    lab.broker.registry.restoreTopic(TopicHash(topic), topic)
    var device = DeviceRow(udid)
    (device.identity, device.keyFingerprint) = (1, [1])
    #expect(lab.broker.rows.admit(device, now: lab.now) == 0)
    var row = TokenRow()
    (row.token, row.issuedAt) = (token, lab.now)
    #expect(lab.broker.rows.admit(row, of: 0, 0, because: .stored, now: lab.now) == 0)
    #expect(lab.broker.rows.admit(row, of: 0, 0, because: .stored, now: lab.now) == nil, "it is there")
    // The store has them.
    _ = lab.broker.turn.takeChanges()
    let payload = Array("back".utf8)
    let head = NotificationHead(
      id: 41, receivedAt: lab.now, expiresAt: lab.now.adding(nanoseconds: 1_000_000_000), expiry: 7,
      priority: .conserving)
    lab.broker.deliveries.restore(
      StoredNotification(registration: 0, head: head, content: NotificationContent(payload.span)))
    #expect(lab.broker.turn.takeChanges().isEmpty)
    let phone = try lab.connect(enabling: [Lab.app])
    #expect(phone.texts == ["back"])
    #expect(phone.received[0].messageId == 41)
    #expect(phone.received[0].expiry == 7)
    #expect(phone.received[0].priority == .conserving)
    #expect(lab.broker.journal.nextId == 42)
    lab.acknowledge(phone, 0)
    #expect(lab.broker.turn.takeChanges().notifications == [0])
    #expect(lab.broker.deliveries.stored(0) == nil)
  }

  @Test("what is imported for a device that is there goes out at once, and is kept for one that is not")
  func imported() throws {
    let rows = [try lab.row(), try lab.row("tablet")]
    let phone = try lab.connect(enabling: [Lab.app])
    for row in rows {
      lab.submission(to: lab.broker.registry[row].token.bytes, "imported", topic: try lab.topic()) {
        lab.broker.deliveries.importNotification(
          $0, row: row, receivedAt: lab.now, expiresAt: .never, now: lab.now)
      }
    }
    #expect(phone.texts == ["imported"] && lab.kept(rows[1]) == "imported")
    #expect([1, 2].map { lab.state($0) } == [.sent, .stored])
  }

  @Test("what another node has stored for a token is there until that node says that it has nothing")
  func replicated() throws {
    let row = try lab.row()
    let (token, payload) = (lab.broker.registry[row].token, Array("elsewhere".utf8))
    let head = NotificationHead(id: 41, receivedAt: lab.now, expiresAt: .never)
    func replicate(_ token: DeviceToken) -> Bool {
      lab.broker.deliveries.replicate((head, NotificationContent(payload.span)), for: token)
    }
    _ = lab.broker.turn.takeChanges()
    #expect(replicate(token) && lab.kept(row) == "elsewhere")
    #expect(lab.broker.deliveries.replicate(nil, for: token) && lab.kept(row) == nil)
    let nobodys = try #require(DeviceToken(bytes: [UInt8](repeating: 1, count: 32)))
    #expect(!replicate(nobodys) && !lab.broker.deliveries.replicate(nil, for: nobodys))
    #expect(lab.broker.turn.takeChanges().isEmpty, "the store of this node has nothing of it")
    lab.push(row, "here")
    #expect(lab.broker.turn.takeChanges().notifications == [row] && lab.kept(row) == "here")
    // Memory that a row keeps for its next notification goes with what that node says.
    #expect(lab.broker.deliveries.spareBytes == 0)
    let phone = try lab.connect(enabling: [Lab.app])
    lab.acknowledge(phone, 0)
    #expect(lab.broker.deliveries.spareBytes > 0)
    #expect(lab.broker.deliveries.replicate(nil, for: token) && lab.broker.deliveries.spareBytes == 0)
  }

  @Test("a row that points nowhere is not put back")
  func restoredNowhere() {
    var row = TokenRow()
    row.token = DeviceToken(bytes: [UInt8](repeating: 1, count: 32))
    #expect(lab.broker.rows.admit(row, of: 0, 0, because: .stored, now: lab.now) == nil)
  }
}
