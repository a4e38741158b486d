import Testing

import Bridge

@Suite("Whether a notification is forwarded again")
struct ForwardTriesTests {
  private var tries = ForwardTries()

  @Test("one that was not looked at goes again at once, then after longer and longer, for ever")
  mutating func refused() {
    #expect(tries.refused() == .atOnce)
    for failures in 1...100 { #expect(tries.refused() == .later(failures: failures)) }
  }

  @Test("one that is lost the fifth time counts as failed")
  mutating func lost() {
    for failures in 1...4 { #expect(tries.lost(because: "reset") == .later(failures: failures)) }
    #expect(tries.lost(because: "reset") == .never(.internalServerError, because: "no answer 5 times: reset"))
  }

  @Test("one for a device that gets too many counts as failed at the fifth try")
  func throttled() {
    for attempts in 1...4 {
      #expect(tries.throttled(attempts: attempts, answer: "429") == .later(failures: attempts))
    }
    #expect(tries.throttled(attempts: 5, answer: "429") == .never(.tooManyRequests, because: "429, 5 times"))
  }

  @Test("one counts as failed at the tenth server error, but only if others pass")
  mutating func unavailable() {
    for attempts in 1...100 {
      #expect(
        tries.unavailable(attempts: attempts, accepted: 7, answer: "503") == .later(failures: attempts))
    }
    #expect(tries.unavailable(attempts: 9, accepted: 8, answer: "503") == .later(failures: 9))
    #expect(
      tries.unavailable(attempts: 10, accepted: 8, answer: "503")
        == .never(.internalServerError, because: "503, 10 times"))
  }

  @Test("what was not looked at has nothing to do with what was lost")
  mutating func apart() {
    for _ in 1...10 { _ = tries.refused() }
    #expect(tries.lost(because: "reset") == .later(failures: 1))
  }
}
