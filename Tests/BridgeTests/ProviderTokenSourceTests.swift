import Basics
import Testing

import Bridge

/// `Documentation/provider-api.md#renewal`: at least once an hour, at most once in 20 minutes.
@Suite("The provider token of a bridge")
struct ProviderTokenSourceTests {
  private struct NoKey: Error {}
  private func moment(_ minutes: Int64) -> Timestamp { Timestamp(seconds: 1_700_000_000 + 60 * minutes) }

  @Test("one token serves for 45 minutes, then there is a new one")
  func renewal() throws {
    var source = ProviderTokenSource { "token \($0.seconds)" }
    let first = try source.token(now: moment(0))
    #expect(try source.token(now: moment(44)) == first)
    #expect(source.number == 1)
    #expect(try source.token(now: moment(45)) == "token \(moment(45).seconds)")
    #expect(source.number == 2)
  }

  @Test("when the other side calls it expired, it is renewed unless it is younger than 20 minutes")
  func expired() throws {
    var source = ProviderTokenSource { "token \($0.seconds)" }
    #expect(try source.expired(now: moment(0)) == false, "there is none")
    _ = try source.token(now: moment(0))
    #expect(try source.expired(now: moment(19)) == false)
    #expect(try source.expired(now: moment(20)) == true)
    #expect(try source.token(now: moment(21)) == "token \(moment(20).seconds)")
  }

  @Test("a clock that is set back makes a new token, a small correction does not")
  func clockSetBack() throws {
    var source = ProviderTokenSource { "token \($0.seconds)" }
    let first = try source.token(now: moment(0))
    #expect(try source.token(now: moment(-5)) == first)
    #expect(try source.token(now: moment(-30)) == "token \(moment(-30).seconds)")
  }

  @Test("a failure to sign is told each time")
  func failure() {
    var source = ProviderTokenSource { _ in throw NoKey() }
    for _ in 0..<2 { #expect(throws: NoKey.self) { try source.token(now: moment(0)) } }
  }
}
