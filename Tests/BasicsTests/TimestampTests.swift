import Basics
import Testing

@Suite("Timestamp")
struct TimestampTests {
  @Test("is written as RFC 3339 in UTC with milliseconds")
  func rfc3339() {
    #expect(Timestamp(nanoseconds: 0).rfc3339 == "1970-01-01T00:00:00.000Z")
    #expect(Timestamp(nanoseconds: 1_700_000_000_678_999_999).rfc3339 == "2023-11-14T22:13:20.678Z")
    #expect(Timestamp(seconds: 951_782_400).rfc3339 == "2000-02-29T00:00:00.000Z")
    #expect(Timestamp(nanoseconds: -1).rfc3339 == "1969-12-31T23:59:59.999Z")
  }

  @Test("is written at both ends of time")
  func ends() {
    #expect(Timestamp(nanoseconds: .max).rfc3339 == "2262-04-11T23:47:16.854Z")
    #expect(Timestamp(nanoseconds: .min).rfc3339 == "1677-09-21T00:12:43.145Z")
  }

  @Test("saturates at both ends instead of overflowing")
  func saturates() {
    #expect(Timestamp(seconds: .max).nanoseconds == .max)
    #expect(Timestamp(nanoseconds: .max).adding(nanoseconds: 1).nanoseconds == .max)
    #expect(Timestamp(nanoseconds: .min).adding(nanoseconds: -1).nanoseconds == .min)
  }
}
