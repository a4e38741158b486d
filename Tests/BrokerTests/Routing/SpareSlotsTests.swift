import PushModel
import TestSupport
import Testing

import Broker

/// Memory that acknowledged messages leave in their slots.
@Suite("Memory of empty slots")
struct SpareSlotsTests {
  private let lab = Lab()

  /// A phone with so many apps, each of which has had a message of 200 bytes and acknowledged it: 256 bytes of memory.
  private func acknowledged(_ count: Int) throws -> (phone: TestDevice, rows: [RegistrationID]) {
    let topics = (0..<count).map { "a.b\($0)" }
    let rows = try topics.map { try lab.row("phone", $0) }
    let phone = try lab.connect(enabling: topics)
    for row in rows { lab.push(row, String(repeating: "x", count: 200)) }
    for index in rows.indices { lab.acknowledge(phone, index) }
    return (phone, rows)
  }

  @Test("is counted while no message is in it")
  func counted() throws {
    let (phone, rows) = try acknowledged(3)
    #expect(lab.broker.deliveries.spareBytes == 3 * 256)
    lab.push(rows[0], "again")
    #expect(lab.broker.deliveries.spareBytes == 2 * 256)
    lab.acknowledge(phone, 3)
    #expect(lab.broker.deliveries.spareBytes == 3 * 256)
    lab.broker.forgetDevices(now: lab.now)
    #expect(lab.broker.deliveries.spareBytes == 0)
  }

  @Test("has a limit, beyond which it goes with the acknowledgement")
  func limited() throws {
    lab.broker.deliveries.limitSpare(to: 3 * 256)
    let (phone, rows) = try acknowledged(10)
    #expect(lab.broker.deliveries.spareBytes == 3 * 256)
    for row in rows { lab.push(row, "again") }
    #expect(phone.texts.suffix(10) == Array(repeating: "again", count: 10)[...])
    #expect(lab.broker.deliveries.spareBytes == 0)
  }

  @Test("goes when no message has come for a minute, and the next one finds new memory")
  func idle() throws {
    let (phone, rows) = try acknowledged(3)
    lab.pass(seconds: 59)
    lab.push(rows[1], "in use")
    lab.acknowledge(phone, 3)
    lab.pass(seconds: 2)
    lab.broker.deliveries.dropExpired(now: lab.now, budget: 100)
    #expect(lab.broker.deliveries.spareBytes == 256)
    lab.push(rows[0], "again")
    #expect(phone.texts.last == "again" && lab.broker.deliveries.spareBytes == 256)
  }

  @Test("is given back before history, of which as much stays as is wanted")
  func givenBack() throws {
    let (_, rows) = try acknowledged(4)
    let history = lab.broker.journal.heldBytes
    #expect(lab.broker.spareBytes == history + 4 * 256)
    for (bytes, left) in [(256, 3 * 256), (44, 2 * 256)] {
      lab.broker.giveBack(bytes, keepingOfHistory: 0, budget: 100)
      #expect(lab.broker.deliveries.spareBytes == left && lab.broker.journal.heldBytes == history)
    }
    lab.broker.giveBack(2 * 256 + 1, keepingOfHistory: 0, budget: 100)
    #expect(lab.broker.deliveries.spareBytes == 0 && lab.broker.journal.heldBytes == history - 256)
    lab.broker.giveBack(.max, keepingOfHistory: 256, budget: 100)
    #expect(lab.broker.journal.heldBytes == 256)
    #expect(lab.push(rows[0], "still here") == 5 && lab.kept(rows[0]) == "still here")
  }

  @Test("is given back by no more slots than may be looked at")
  func budget() throws {
    _ = try acknowledged(4)
    lab.broker.giveBack(.max, keepingOfHistory: .max, budget: 3)
    #expect(lab.broker.deliveries.spareBytes == 256)
  }
}
