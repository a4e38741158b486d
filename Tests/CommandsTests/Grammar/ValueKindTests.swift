import Basics
import Credentials
import Emulator
import PushModel
import Services
import Testing

import Commands

@Suite("Values of flags")
struct ValueKindTests {
  @Test("ports are numbers or off")
  func ports() {
    let parse = ValueKind<ListenerPort>.port.parse
    #expect(parse("0") == .number(0))
    #expect(parse("65535") == .number(65535))
    #expect(parse("off") == .off)
    for text in ["65536", "-1", "", "OFF", "80 "] { #expect(parse(text) == nil, "\(text)") }
  }

  @Test(
    "times have a unit, seconds unless said",
    arguments: [
      ("30", 30_000_000_000), ("1.5s", 1_500_000_000), ("500ms", 500_000_000), ("2m", 120_000_000_000),
      ("1h", 3_600_000_000_000), ("1d", 86_400_000_000_000), ("0", 0),
    ] as [(String, Int64)])
  func intervals(text: String, nanoseconds: Int64) {
    #expect(Interval(text)?.nanoseconds == nanoseconds)
  }

  @Test(
    "other times are refused", arguments: ["", "s", "-1", "1e3", "nan", "1 s", "inf", "400d", "1w", "0x10"])
  func badIntervals(text: String) { #expect(Interval(text) == nil) }

  @Test("spans are one number or two")
  func spans() {
    let parse = ValueKind.span("M", within: 1...100).parse
    #expect(parse("32..100") == 32...100)
    #expect(parse("32") == 32...32)
    for text in ["", "..", "32..", "..32", "100..32", "0..5", "5..101", "1...5", "1.5", "1..2..3"] {
      #expect(parse(text) == nil, "\(text)")
    }
  }

  @Test("payloads are text or come from a file")
  func payloads() {
    #expect(PayloadSource("{}") == .text("{}"))
    #expect(PayloadSource("") == .text(""))
    #expect(PayloadSource("@p.json") == .file("p.json"))
    #expect(PayloadSource("@-") == .file("-"))
    #expect(PayloadSource("@") == nil)
  }

  @Test("expiration is a time or so long from now")
  func expirations() {
    let now = Timestamp(seconds: 1_700_000_000)
    #expect(ExpirationTime("0")?.seconds(from: now) == 0)
    #expect(ExpirationTime("1700000001")?.seconds(from: now) == 1_700_000_001)
    #expect(ExpirationTime("+1h")?.seconds(from: now) == 1_700_003_600)
    #expect(ExpirationTime("4294967296") == nil)
    #expect(ExpirationTime("-1") == nil)
    #expect(ExpirationTime("+x") == nil)
    #expect(ExpirationTime("+1h")?.seconds(from: Timestamp(seconds: 4_294_967_295)) == .max)
  }

  @Test("words are those of their type")
  func words() {
    #expect(ValueKind<LogOptions.Format>.word.parse("json") == .json)
    #expect(ValueKind<LogOptions.Format>.word.parse("yaml") == nil)
    #expect(ValueKind<LogOptions.Format>.word.expectation == "text or json")
    #expect(ValueKind<LogLevel>.word.expectation == "debug, info, warning or error")
    #expect(ValueKind<EnvironmentSet>.environments.parse("both") == .both)
    #expect(ValueKind<PushModel.Environment>.environment.parse("both") == nil)
  }

  @Test("addresses have no port and no blanks")
  func addresses() {
    for text in ["127.0.0.1", "::1", "localhost"] {
      #expect(ValueKind<String>.address.parse(text) == text)
    }
    for text in ["", "a b", "http://x"] { #expect(ValueKind<String>.address.parse(text) == nil) }
  }
}
