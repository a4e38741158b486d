import Basics
import TestSupport
import Testing

import Broker

@Suite("A device that is behind")
final class BackpressureTests {
  let lab = Lab()
  private var instant = Instant(nanoseconds: 5_000_000_000)

  @Test("gets no more than the window; the rest waits, one for each token, and goes out in order")
  func windowFull() throws {
    let (busy, other) = (try lab.row("phone", "a.busy"), try lab.row("phone", "a.other"))
    let phone = try lab.connect(enabling: ["a.busy", "a.other"])
    for number in 0..<DeviceLink.windowLimit { lab.push(busy, "\(number)") }
    let late = [lab.push(busy, "late 1"), lab.push(other, "other"), lab.push(busy, "late 2")]
    #expect(phone.received.count == 8192)
    #expect(phone.link.waiting == [busy, other])
    #expect(late.map { lab.state($0) } == [.replaced, .stored, .stored])
    // Half of the window must be free again before more goes out.
    for index in 0..<DeviceLink.windowLimit / 2 { lab.acknowledge(phone, index) }
    #expect(phone.received.count == DeviceLink.windowLimit)
    lab.acknowledge(phone, DeviceLink.windowLimit / 2)
    #expect(phone.texts.suffix(2) == ["late 2", "other"])
    #expect(phone.link.waiting.isEmpty)
  }

  @Test("waits while too many bytes are queued")
  func bytesQueued() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    phone.unsentBytes = DeviceLink.unsentLimit
    lab.push(row, "waits")
    lab.broker.deliveries.roomMade(phone.link, now: lab.now)
    #expect(phone.received.isEmpty)
    phone.unsentBytes = 0
    lab.broker.deliveries.roomMade(phone.link, now: lab.now)
    #expect(phone.texts == ["waits"])
  }

  @Test("waits sooner where its connection takes less")
  func ownLimit() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    (phone.link.unsentLimit, phone.unsentBytes) = (1000, 999)
    lab.push(row, "goes out")
    phone.unsentBytes = 1000
    let late = [lab.push(row, "late"), lab.push(row, "later")]
    #expect(phone.texts == ["goes out"] && phone.link.isBehind)
    #expect(late.map { lab.state($0) } == [.replaced, .stored])
    for (unsent, texts) in [(500, ["goes out"]), (499, ["goes out", "later"])] {
      phone.unsentBytes = unsent
      lab.broker.deliveries.roomMade(phone.link, now: lab.now)
      #expect(phone.texts == texts)
    }
  }

  @Test("does not make the window grow by leaving its first message unacknowledged")
  func windowBounded() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "never acknowledged")
    for number in 1...20_000 {
      lab.push(row, "\(number)")
      lab.acknowledge(phone, number)
    }
    #expect(phone.link.window.count == 1)
    #expect(phone.link.window.memory < 1000)
  }

  @Test("does not make the waiting list grow by changing its filter again and again")
  func waitingBounded() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    phone.unsentBytes = .max
    lab.push(row, "waits")
    for _ in 0..<100 {
      try lab.enable([], on: phone)
      try lab.enable([Lab.app], on: phone)
      lab.push(row, "waits too")
    }
    #expect(phone.link.waiting == [row])
    phone.unsentBytes = 0
    lab.broker.deliveries.roomMade(phone.link, now: lab.now)
    #expect(phone.texts == ["waits too"])
  }

  @Test("gets the newer message that waited where it had refused an older one")
  func refusedThenWaiting() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "refused")
    lab.acknowledge(phone, 0, status: 2)
    phone.unsentBytes = .max
    lab.push(row, "newer")
    phone.unsentBytes = 0
    lab.broker.deliveries.roomMade(phone.link, now: lab.now)
    #expect(phone.texts == ["refused", "newer"])
  }

  @Test("does not get what waited for an app that was taken off it since")
  func waitingForRemoved() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    phone.unsentBytes = .max
    lab.push(row, "waits")
    _ = lab.broker.apps.change(
      .remove, device: try lab.device(), topic: try lab.topic(), environment: .sandbox, now: lab.now)
    phone.unsentBytes = 0
    lab.broker.deliveries.roomMade(phone.link, now: lab.now)
    #expect(phone.received.isEmpty && phone.link.waiting.isEmpty && lab.kept(row) == "waits")
  }

  @Test("does not get what waited for a topic that it has disabled since, nor after its end")
  func waitingDropped() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    phone.unsentBytes = .max
    lab.push(row, "waits")
    try lab.enable([], on: phone)
    phone.unsentBytes = 0
    lab.broker.deliveries.roomMade(phone.link, now: lab.now)
    #expect(phone.received.isEmpty)
    try lab.enable([Lab.app], on: phone)
    #expect(phone.texts == ["waits"])
    phone.unsentBytes = .max
    lab.push(row, "waits again")
    try lab.disconnect(phone)
    #expect(phone.link.waiting.isEmpty)
    #expect(try lab.connect(enabling: [Lab.app]).texts == ["waits again"])
  }

  @Test("an expired message does not go out when there is room again")
  func waitingExpired() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    phone.unsentBytes = .max
    let id = lab.push(row, "short", expiration: lab.time(in: 10))
    lab.pass(seconds: 10)
    phone.unsentBytes = 0
    lab.broker.deliveries.roomMade(phone.link, now: lab.now)
    #expect(phone.received.isEmpty)
    #expect(lab.state(id) == .expired)
  }

  /// As a gateway does it: a push that finds the device behind holds its provider back for `nanoseconds`.
  private func waited(_ phone: TestDevice, _ nanoseconds: Int64) {
    let start = instant
    instant = start.adding(nanoseconds: nanoseconds)
    phone.link.providerWaited(from: start, until: instant)
  }

  @Test("slows its provider down for a second in all, and no longer if it makes no progress")
  func congestion() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    for number in 0..<DeviceLink.windowLimit / 2 { #expect(!lab.submit(row, "\(number)").isCongested) }
    #expect(lab.submit(row, "behind").isCongested)
    waited(phone, 999_999_999)
    #expect(lab.submit(row, "still waited for").isCongested)
    waited(phone, 1)
    #expect(!lab.submit(row, "not waited for").isCongested)
    lab.acknowledge(phone, 0)
    #expect(lab.submit(row, "progress").isCongested)
  }

  @Test(
    "does not slow its provider down for ever by acknowledging now and then, whatever the emulator's clock says"
  )
  func slowAcknowledgements() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    for number in 0...DeviceLink.windowLimit / 2 { lab.push(row, "\(number)") }
    var held: Int64 = 0
    // An hour in which it acknowledges something every half a second; the emulator's clock stands still.
    for index in 0..<3600 {
      let isHeld = lab.submit(row, "more").isCongested
      if isHeld { held += 100_000_000 }
      waited(phone, isHeld ? 100_000_000 : 0)
      instant = instant.adding(nanoseconds: 500_000_000)
      lab.acknowledge(phone, index)
    }
    // A second, what the acknowledgements earned (a tenth of a millisecond each), and the last hold begun before that.
    #expect(held <= 1_000_000_000 + 3600 * 100_000 + 100_000_000)
  }

  @Test("is waited for as long as it takes ten thousand messages a second")
  func quickEnough() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    for number in 0...DeviceLink.windowLimit / 2 { lab.push(row, "\(number)") }
    var next = 0
    for round in 0..<200 {
      #expect(lab.submit(row, "round \(round)").isCongested)
      waited(phone, 10_000_000)
      for _ in 0..<100 {
        lab.acknowledge(phone, next)
        lab.push(row, "more")
        next += 1
      }
    }
  }

  @Test("is not waited for any longer for having connected again")
  func connectsAgain() throws {
    let row = try lab.row()
    let first = try lab.connect(enabling: [Lab.app])
    for number in 0...DeviceLink.windowLimit / 2 { lab.push(row, "\(number)") }
    waited(first, 1_000_000_000)
    for isOrderly in [true, false] {
      if isOrderly { try lab.disconnect(first) }
      let phone = try lab.connect(enabling: [Lab.app])
      for number in 0..<DeviceLink.windowLimit / 2 { lab.push(row, "\(number)") }
      #expect(!lab.submit(row, "not waited for").isCongested)
      guard !isOrderly else { continue }
      lab.acknowledge(phone, 0)
      #expect(lab.submit(row, "progress").isCongested)
    }
  }

  @Test("is charged once for the time that several providers wait at once")
  func severalProviders() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    for number in 0...DeviceLink.windowLimit / 2 { lab.push(row, "\(number)") }
    let (start, end) = (instant, instant.adding(nanoseconds: 900_000_000))
    for _ in 0..<10 { phone.link.providerWaited(from: start, until: end) }
    #expect(lab.submit(row, "still waited for").isCongested)
    // A clock that went back charges nothing and gives nothing.
    phone.link.providerWaited(from: end, until: start)
    let later = end.adding(nanoseconds: 50_000_000)
    phone.link.providerWaited(from: later, until: later)
    phone.link.providerWaited(from: start, until: end.adding(nanoseconds: 100_000_000))
    #expect(!lab.submit(row, "not waited for").isCongested)
  }

  @Test("is not taken for one that makes no progress because it had nothing to do before")
  func idleBefore() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "first")
    lab.acknowledge(phone, 0)
    lab.pass(seconds: 3600)
    for number in 0..<DeviceLink.windowLimit / 2 { lab.push(row, "\(number)") }
    #expect(lab.submit(row, "behind").isCongested)
  }
}
