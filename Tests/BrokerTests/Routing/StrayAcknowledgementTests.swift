import Basics
import TestSupport
import Testing

import Broker

@Suite("Acknowledgements of what a connection was not given")
struct StrayAcknowledgementTests {
  let lab = Lab()

  private func acknowledge(_ phone: TestDevice, _ messageId: UInt32) -> Deliveries.AcknowledgementOutcome {
    lab.broker.deliveries.acknowledge(phone.link, messageId: messageId, status: 0, now: lab.now)
  }

  /// How many of so many strays were put up with.
  private func strays(_ phone: TestDevice, _ count: Int) -> Int {
    (0..<count).count { acknowledge(phone, 0x7000_0000 + UInt32($0)) == .stray }
  }

  @Test("are put up with up to 1024, then they are too many")
  func limit() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    for number in 0..<DeviceLink.windowLimit { lab.push(row, "\(number)") }
    #expect(strays(phone, 5000) == 1024)
    #expect(acknowledge(phone, 0x7000_0000) == .tooManyStrays)
  }

  @Test("are normal for the message acknowledged last, however often")
  func repeated() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "message")
    lab.acknowledge(phone, 0)
    for _ in 0..<3 * DeviceLink.strayLimit {
      if acknowledge(phone, phone.received[0].messageId) != .stray { Issue.record("not harmless") }
    }
  }

  @Test("are normal once for each message, also a whole window late")
  func repeatedLate() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    for round in 0..<3 {
      for number in 0..<DeviceLink.windowLimit { lab.push(row, "\(round) \(number)") }
      let ids = phone.received.suffix(DeviceLink.windowLimit).map(\.messageId)
      for id in ids where acknowledge(phone, id) != .taken { Issue.record("not taken") }
      for id in ids where acknowledge(phone, id) != .stray { Issue.record("not harmless") }
    }
    #expect(
      strays(phone, 100_000) <= DeviceLink.strayLimit + DeviceLink.windowLimit, "nothing adds up for ever")
  }

  @Test("are normal for broadcasts, which nobody waits for")
  func broadcasts() throws {
    let key = ChannelTable.Key(topic: try lab.topic(), environment: .sandbox, id: [1])
    lab.broker.channels.create(key, storesNewest: false)
    let phone = try lab.connect(enabling: [Lab.app])
    _ = lab.broker.broadcasts.join(try #require(phone.session), key, seenUntil: nil, now: lab.now)
    let count = 3 * DeviceLink.strayLimit
    for _ in 0..<count {
      lab.submission(to: [], "{}", topic: key.topic) {
        _ = lab.broker.broadcasts.send($0, to: key, storageSeconds: 0, now: lab.now)
      }
      _ = lab.broker.broadcasts.goOn()
    }
    #expect(phone.broadcasts.count == count)
    #expect(strays(phone, count) == count)
  }

  @Test("are normal for what has moved to another connection meanwhile")
  func moved() throws {
    let row = try lab.row("second")
    let mac = try lab.connect("first")
    let session = mac.session
    _ = try lab.connect("second", on: mac, enabling: [Lab.app])
    for number in 0..<3 * DeviceLink.strayLimit { lab.push(row, "\(number)") }
    let elsewhere = try lab.connect("second", enabling: [Lab.app])
    #expect(elsewhere.texts.count == 1 && session != nil)
    for message in mac.received where acknowledge(mac, message.messageId) != .stray {
      Issue.record("not harmless")
    }
  }
}
