import Basics
import PushModel
import Testing

import Broker

/// What phones have made of notifications.
@Suite("Steps of phones")
struct PhoneStepsTests {
  private func step(_ event: String) -> PhoneStep { PhoneStep(at: Timestamp(seconds: 1), event: event) }

  @Test("are told of the notification that went to the phone, as an event and in order")
  func told() throws {
    let lab = Lab()
    let row = try lab.row()
    let id = lab.push(row, "{}")
    let udid = lab.broker.registry[lab.broker.registry[row].device].udid
    let other = try #require(UDID("somebody-else"))
    lab.broker.events.turnOn()
    let first = lab.broker.events.nextNumber
    for event in ["presented", "sound"] {
      lab.broker.devices.phoneTold(step(event), of: id, on: udid, now: lab.now)
      lab.broker.devices.phoneTold(step(event), of: id, on: other, now: lab.now)
      lab.broker.devices.phoneTold(step(event), of: id + 1, on: udid, now: lab.now)
    }
    #expect(lab.broker.journal.phoneSteps(id).map(\.event) == ["presented", "sound"])
    #expect(lab.broker.events.nextNumber == first + 2)
    let event = try #require(lab.broker.events[first])
    #expect(event.kind == .phone && event.subject == id)
    lab.broker.journal.clear()
    #expect(lab.broker.journal.phoneSteps(id).isEmpty)
  }

  @Test("40 of one are kept, and of all 40,000, the newest notifications'")
  func bounded() {
    var steps = PhoneSteps()
    for id in 1...1010 as ClosedRange<UInt64> {
      for _ in 0..<45 { steps.add(step("presented"), to: id) }
    }
    #expect(steps[10].isEmpty)
    #expect(steps[11].count == 40 && steps[1010].count == 40)
    steps = PhoneSteps()
    for id in 1...40_001 as ClosedRange<UInt64> { steps.add(step("presented"), to: id) }
    #expect(steps[1].isEmpty && steps[2].count == 1 && steps[40_001].count == 1)
  }
}
