import Basics
import Testing

import Cluster

@Suite struct DeliveryPulseTests {
  private static let begun = Instant(nanoseconds: 1_000_000_000_000)

  private func after(milliseconds: Int64) -> Instant {
    Self.begun.adding(nanoseconds: milliseconds * 1_000_000)
  }

  @Test func isLiveFromWhenAllWasToldUntilSilence() {
    var pulse = DeliveryPulse(begun: Self.begun)
    #expect(!pulse.isLive(Self.begun))
    let isAll = pulse.answered(pending: 0, after(milliseconds: 10))
    #expect(isAll)
    let isNews = pulse.catchUp()
    #expect(isNews)
    #expect(pulse.isLive(after(milliseconds: 1809)) && !pulse.isLive(after(milliseconds: 1811)))
    #expect(pulse.silence(after(milliseconds: 1811)) == 1_801_000_000)
  }

  @Test func whatComesAfterSilenceComesAfterAGap() {
    var pulse = DeliveryPulse(begun: Self.begun)
    let isGap = pulse.heard(after(milliseconds: 1000))
    #expect(!isGap)
    let isNews = pulse.catchUp()
    #expect(isNews)
    let isNewsAgain = pulse.catchUp()
    #expect(!isNewsAgain)
    let isGapNow = pulse.heard(after(milliseconds: 2801))
    #expect(isGapNow)
    #expect(!pulse.isLive(after(milliseconds: 2801)))
    let isNewsBehindIt = pulse.catchUp()
    #expect(isNewsBehindIt)
    #expect(pulse.isLive(after(milliseconds: 2801)))
  }

  /// The first record may be there before the answer, and the NATS server may stand between the two.
  @Test func anAnswerThatIsLateHidesNoGap() {
    var pulse = DeliveryPulse(begun: Self.begun)
    let isGap = pulse.heard(after(milliseconds: 5))
    #expect(!isGap)
    let isNews = pulse.catchUp()
    #expect(isNews)
    let isAll = pulse.answered(pending: 0, after(milliseconds: 2500))
    #expect(!isAll)
    #expect(!pulse.isLive(after(milliseconds: 2500)))
    let isGapNow = pulse.heard(after(milliseconds: 2501))
    #expect(isGapNow)
  }
}
