import Basics
import Node
import Testing

@Suite struct SleepWatchTests {
  /// Looks after each span, in milliseconds, of which so many were had of the processor; answers when it was awake again, each time.
  private func awakenings(_ spans: [(whole: Int64, busy: Int64)]) -> [Int64] {
    var (now, busy) = (Instant(nanoseconds: 0), Int64(0))
    var watch = SleepWatch(now: now, busy: busy)
    return spans.compactMap {
      now = now.adding(nanoseconds: $0.whole * 1_000_000)
      busy += $0.busy * 1_000_000
      return watch.look(now) { busy } == true ? watch.awakeSince.nanoseconds / 1_000_000 : nil
    }
  }

  @Test func whoHasMuchToDoHasNotSlept() {
    #expect(awakenings([(100, 0), (400, 390), (250, 0), (251, 0)]) == [1001])
  }

  /// A fifth of a processor, and turns that take 100 ms of it.
  @Test func whoIsStoppedAgainAndAgainSleepsEachTwoSecondsAtMost() {
    #expect(awakenings(Array(repeating: (whole: 500, busy: 100), count: 10)) == [500, 2500, 4500])
  }

  @Test func aSleepInWhichZonesCanBeTakenOverCountsAlways() {
    #expect(awakenings([(300, 0), (300, 0), (3000, 0), (3000, 0)]) == [300, 3600, 6600])
  }
}
