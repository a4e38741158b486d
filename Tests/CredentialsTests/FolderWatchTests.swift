import Basics
import Foundation
import TestSupport
import Testing

import Credentials

@Suite("Folder watch")
struct FolderWatchTests {
  private final class Clock {
    var now = Instant(nanoseconds: 1_000_000_000_000)
    func forward(milliseconds: Int64) { now = now.adding(nanoseconds: milliseconds * 1_000_000) }
  }

  private let home = ScratchFolder()
  private let clock = Clock()

  private func watch() -> FolderWatch { FolderWatch(home.path) { [clock] in clock.now } }

  private func setModified(_ date: Date) throws {
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: home.path)
  }

  /// Looks each millisecond; answers when it was read.
  private func readings(
    _ watch: inout FolderWatch, milliseconds: Int, each: ((Int) throws -> Void)? = nil
  ) throws -> [Instant] {
    var readings: [Instant] = []
    for step in 0..<milliseconds {
      try each?(step)
      if watch.hasChanged {
        watch.willRead()
        readings.append(clock.now)
      }
      clock.forward(milliseconds: 1)
    }
    return readings
  }

  private func expectTenASecond(_ readings: [Instant]) {
    for (early, late) in zip(readings, readings.dropFirst(10)) {
      #expect(late.nanoseconds(since: early) >= 1_000_000_000)
    }
  }

  @Test("a folder whose time lies in the future is read a few times, and then not again")
  func future() throws {
    try setModified(Date(timeIntervalSinceNow: 1e9))
    var watch = watch()
    let readings = try readings(&watch, milliseconds: 10_000)
    #expect((1...20).contains(readings.count))
    expectTenASecond(readings)
    let last = try #require(readings.last)
    #expect(last.nanoseconds(since: readings[0]) >= FolderWatch.settlingNanoseconds, "it has settled by then")
    #expect(clock.now.nanoseconds(since: last) >= 5_000_000_000)
    #expect(!watch.hasChanged)
  }

  @Test("a change is read five times at once, then each 250 ms while fewer than five were within a second")
  func oneChange() throws {
    try setModified(Date(timeIntervalSinceNow: 1e9))
    var watch = watch()
    let start = clock.now
    let times = try readings(&watch, milliseconds: 1_100).map { $0.nanoseconds(since: start) / 1_000_000 }
    // Those of the first milliseconds are a second old, one after the other, from 1,000 on.
    #expect(times == [0, 1, 2, 3, 4, 254, 504, 754, 1_003, 1_004])
  }

  @Test("one that is read two seconds after its change was seen is not read again")
  func settled() throws {
    try setModified(Date(timeIntervalSinceNow: 1e9))
    for (milliseconds, isReadAgain) in [(1_999, true), (2_000, false)] as [(Int64, Bool)] {
      var watch = watch()
      watch.willRead()
      clock.forward(milliseconds: milliseconds)
      watch.willRead()
      clock.forward(milliseconds: 5_000)
      #expect(watch.hasChanged == isReadAgain, "\(milliseconds)")
    }
  }

  @Test("one that is old is read once")
  func old() throws {
    try setModified(Date(timeIntervalSinceNow: -60))
    var watch = watch()
    #expect(try readings(&watch, milliseconds: 5_000).count == 1)
  }

  @Test("one that changes all the time is read ten times a second, and its last change is not missed")
  func restless() throws {
    var watch = watch()
    let start = Date(timeIntervalSinceNow: -1e6)
    let readings = try readings(&watch, milliseconds: 3_000) {
      try setModified(start.addingTimeInterval(Double($0)))
    }
    #expect(readings.count <= 3 * 10)
    expectTenASecond(readings)
    let end = clock.now
    let rest = try self.readings(&watch, milliseconds: 2_000)
    #expect(rest.count == 1 && rest[0].nanoseconds(since: end) < 1_000_000_000)
  }

  @Test("a change is seen with the next look, although the one before was read again and again")
  func atOnce() throws {
    try setModified(Date(timeIntervalSinceNow: 1e9))
    var watch = watch()
    _ = try readings(&watch, milliseconds: 100)
    #expect(!watch.hasChanged)
    try setModified(Date(timeIntervalSinceNow: 2e9))
    #expect(watch.hasChanged)
  }

  @Test("a change that is known to have been made is read however often the folder was read just before")
  func expected() throws {
    try setModified(Date(timeIntervalSinceNow: -1e6))
    var watch = watch()
    for step in 0..<3 * FolderWatch.readingsPerSecond {
      try setModified(Date(timeIntervalSinceNow: -1e6 + Double(step)))
      watch.expectChange()
      #expect(watch.hasChanged)
      watch.willRead()
      #expect(!watch.hasChanged)
    }
  }
}
