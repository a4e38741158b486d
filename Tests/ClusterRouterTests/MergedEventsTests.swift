import Basics
import ClusterRouter
import Console
import Testing

@Suite("What several nodes tell, in one order") struct MergedEventsTests {
  private let lab = RouterLab(FakeConsoles())
  private let own: OwnEvents
  private let events: MergedEvents

  init() {
    own = OwnEvents(lab.broker, now: lab.context.now)
    events = MergedEvents(own)
  }

  private func names(_ range: Range<UInt64>) -> [String?] { range.map { events.describe($0)?.0 } }

  @Test("Nothing is remembered before somebody watches; then own events and others' in the order of hearing")
  func order() {
    events.append("early", [])
    #expect(events.nextNumber == 1)
    events.turnOn()
    own.publish("mine", [])
    events.append("theirs", Array("{}".utf8))
    own.publish("mine too", [])
    #expect(events.nextNumber == 4 && names(1..<4) == ["mine", "theirs", "mine too"])
    #expect(events.describe(2)?.1.text == "{}" && events.describe(4) == nil)
  }

  @Test("Of others as many bytes are kept as there may be, the newest")
  func bytes() {
    events.turnOn()
    let large = [UInt8](repeating: UInt8(ascii: "1"), count: MergedEvents.byteLimit / 4)
    for _ in 0..<4 { events.append("theirs", large) }
    #expect(events.firstNumber == 1)
    events.append("theirs", [1])
    #expect(events.firstNumber == 2 && events.nextNumber == 6)
    #expect(events.describe(1) == nil && events.describe(2)?.1.encoded.count == large.count)
  }

  @Test("The ring keeps the newest, others' and its own")
  func ring() {
    events.turnOn()
    for number in 0..<MergedEvents.capacity + 3 { events.append("\(number)", []) }
    #expect(events.firstNumber == 4 && events.describe(4)?.0 == "3")
    for _ in 0..<MergedEvents.capacity + 5 { own.publish("mine", []) }
    #expect(events.nextNumber - events.firstNumber == MergedEvents.capacity)
    let begin = events.nextNumber - MergedEvents.capacity
    #expect(begin > 4 && events.describe(begin - 1) == nil)
  }
}
