import Basics
import PushModel
import Testing

import Broker

@Suite struct EventLogTests {
  private func words(_ lab: Lab, from first: UInt64 = 1) -> [String] {
    (first..<lab.broker.events.nextNumber).compactMap { number in
      lab.broker.events[number].map { event in
        switch event.kind {
        case .notification: "notification \(event.subject)"
        case .delivery: "\(event.state) \(event.subject)"
        case .device, .token: "\(event.kind) \(event.change) \(event.subject)"
        case .phone: "phone \(event.subject)"
        case .other: "other \(event.subject)"
        }
      }
    }
  }

  @Test("Nothing is written until somebody watches")
  func off() throws {
    let lab = Lab()
    lab.push(try lab.row(), "unseen")
    #expect(lab.broker.events.nextNumber == 1 && lab.broker.events[1] == nil)
    #expect(lab.broker.events.append(subject: 1, at: lab.now) == 0)
  }

  @Test("A message's way, its device and its token are written in order")
  func journey() throws {
    let lab = Lab()
    lab.broker.events.turnOn()
    let row = try lab.row()
    lab.push(row, "kept")
    lab.push(row, "newer")
    let phone = try lab.connect(enabling: [Lab.app])
    lab.acknowledge(phone, 0)
    lab.push(row, "lost")
    try lab.disconnect(phone)
    #expect(lab.broker.events.append(subject: 77, at: lab.now) == lab.broker.events.nextNumber - 1)
    #expect(
      words(lab) == [
        "token issued 0", "notification 1", "stored 1", "notification 2", "replaced 1", "stored 2",
        "device connected 0", "sent 2", "delivered 2", "notification 3", "sent 3", "device disconnected 0",
        "stored 3", "other 77",
      ])
  }

  @Test("A removed app, its discovery, and an erased or restored phone are written")
  func apps() throws {
    let lab = Lab()
    lab.broker.events.turnOn()
    let row = try lab.row()
    let device = try lab.device()
    _ = lab.broker.apps.change(
      .remove, device: device, topic: try lab.topic(), environment: .sandbox, now: lab.now)
    _ = try lab.connect()
    let first = lab.broker.events.nextNumber
    lab.push(row, "finds out")
    lab.broker.apps.erase(device, now: lab.now)
    let isRestored = lab.broker.apps.restore(device, now: lab.now)
    #expect(isRestored)
    #expect(
      words(lab, from: first) == [
        "notification 1", "token gone 0", "discarded 1", "device erased 0", "device disconnected 0",
        "device restored 0",
      ])
    #expect(words(lab).contains("token removed 0"))
  }

  @Test("Of what is imported it is written whether its token is there or gone")
  func imported() throws {
    let lab = Lab()
    let (device, topic) = (try lab.device(), try lab.topic())
    lab.broker.events.turnOn()
    var told = TokenRow()
    told.token = DeviceToken(bytes: [UInt8](repeating: 7, count: 32))
    for isGone in [false, true, false] {
      told.isGone = isGone
      #expect(lab.broker.rows.admit(told, of: device, topic, because: .imported, now: lab.now) == 0)
      #expect(lab.broker.feedback.rows == (isGone ? [0] : []))
    }
    #expect(words(lab) == ["token issued 0", "token gone 0", "token issued 0"])
  }

  @Test("A broadcast's way is written, and that somebody else is to decide about a push")
  func others() throws {
    let lab = Lab()
    lab.broker.events.turnOn()
    let key = ChannelTable.Key(topic: try lab.topic(), environment: .sandbox, id: [1])
    lab.broker.channels.create(key, storesNewest: true)
    lab.submission(to: [], "news", topic: key.topic, expiration: lab.time(in: 60)) {
      _ = lab.broker.broadcasts.send($0, to: key, storageSeconds: 60, now: lab.now)
      _ = lab.broker.history.beginElsewhere($0.plain, nil, now: lab.now)
    }
    #expect(words(lab) == ["notification 1", "stored 1", "notification 2", "stored 2"])
  }

  @Test("The ring keeps the newest")
  func ring() {
    let lab = Lab()
    lab.broker.events.turnOn()
    let events = lab.broker.events
    func append(_ subjects: ClosedRange<UInt64>) {
      for subject in subjects { _ = events.append(subject: subject, at: lab.now) }
    }
    append(1...16_383)
    #expect(events.firstNumber == 1 && events[0] == nil && events[16_384] == nil)
    append(16_384...16_394)
    #expect(events.firstNumber == 11)
    #expect(events[10] == nil)
    #expect(events[11]?.subject == 11)
    #expect(events[16_394]?.subject == 16_394 && events[16_395] == nil)
  }
}
