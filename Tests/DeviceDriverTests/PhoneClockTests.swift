import Basics
import CourierWire
import Testing

import DeviceDriver

/// The emulator's clock on a phone.
struct PhoneClockTests {
  private let start = Instant(nanoseconds: 5_000_000_000)
  private let world = Timestamp(seconds: 100)

  @Test("is the world's until it was told, then runs on from there whatever the world's does")
  func running() {
    var clock = PhoneClock()
    #expect(clock.now(at: start, world: world) == world && !clock.isFrozen)
    clock.set(.init(now: 7_000_000_000, isFrozen: false), at: start)
    #expect(clock.now(at: start, world: world) == Timestamp(seconds: 7))
    #expect(clock.now(at: start.adding(nanoseconds: 2_000_000_000), world: world) == Timestamp(seconds: 9))
  }

  @Test("stands still when it is frozen, and jumps when it is told anew")
  func frozen() {
    var clock = PhoneClock()
    clock.set(.init(now: 7_000_000_000, isFrozen: true), at: start)
    let later = start.adding(nanoseconds: 2_000_000_000)
    #expect(clock.now(at: later, world: world) == Timestamp(seconds: 7) && clock.isFrozen)
    clock.set(.init(now: 60_000_000_000, isFrozen: true), at: later)
    #expect(clock.now(at: later, world: world) == Timestamp(seconds: 60))
    clock.set(.init(now: .max, isFrozen: false), at: later)
    #expect(clock.now(at: later, world: world) == Timestamp(nanoseconds: .max))
  }
}
