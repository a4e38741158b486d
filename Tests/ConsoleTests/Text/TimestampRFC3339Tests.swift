import Basics
import Testing

import Console

@Suite struct TimestampRFC3339Tests {
  @Test(
    "Times are read with fractions and offsets",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2026-01-02T03:04:05.678Z", 1_767_323_045_678),
      ("2026-01-02T04:04:05.678+01:00", 1_767_323_045_678), ("2026-01-01T22:04:05-05:00", 1_767_323_045_000),
      ("2000-02-29T00:00:00Z", 951_782_400_000), ("1969-12-31T23:59:59Z", -1000),
      ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("2026-01-02t03:04:05z", 1_767_323_045_000),
    ])
  func read(text: String, milliseconds: Int64) {
    #expect(Timestamp(rfc3339: text)?.nanoseconds == milliseconds * 1_000_000)
  }

  @Test(
    "What is not a time is not read",
    arguments: [
      "", "2026", "2026-01-02", "2026-01-02T03:04:05", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
      "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-02T24:00:00Z", "2026-01-02T03:60:00Z",
      "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05+0100", "2026-01-02T03:04:05Zx", "２０26-01-02T03:04:05Z",
    ])
  func refused(text: String) { #expect(Timestamp(rfc3339: text) == nil) }

  @Test("Every day of four centuries is read back as it is written")
  func everyDay() {
    for day in stride(from: -80_000, to: 80_000, by: 13) as StrideTo<Int64> {
      let moment = Timestamp(seconds: day * 86400 + 12_345)
      #expect(Timestamp(rfc3339: moment.rfc3339) == moment)
    }
  }

  @Test(
    "Durations are read in any mixture of units",
    arguments: [
      ("61m", 3_660_000), ("1h30m", 5_400_000), ("500ms", 500), ("-2d", -172_800_000), ("+1s", 1000),
      ("1d1h1m1s1ms", 90_061_001),
    ])
  func durations(text: String, milliseconds: Int64) {
    #expect(DurationText.nanoseconds(text) == milliseconds * 1_000_000)
  }

  @Test(
    "What is not a duration is not read",
    arguments: ["", "-", "5", "m", "1.5h", "1x", "1 h", "99999999999999999999s", "9999999999d", "٣s"])
  func notDurations(text: String) { #expect(DurationText.nanoseconds(text) == nil) }
}
