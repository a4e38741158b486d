import Basics
import CourierWire
import Testing

@Suite("The pause behind an answer")
struct QuietPauseTests {
  private let left = Instant(nanoseconds: 5_000_000_000)
  private func at(_ nanoseconds: Int64) -> Instant { left.adding(nanoseconds: nanoseconds) }

  @Test("without an answer nothing waits")
  func unanswered() {
    var pause = QuietPause()
    let ends = pause.ends(by: left)
    #expect(pause.isOver && ends && !pause.awaitsAnswer && pause.end == nil)
  }

  @Test("it counts 20 ms from when the answer leaves, however long that takes, and is over for good then")
  func counted() {
    var pause = QuietPause()
    pause.answered()
    #expect(pause.awaitsAnswer && pause.end == nil)
    let early = pause.ends(by: at(60_000_000_000))
    #expect(!early && !pause.isOver)
    pause.answerLeft(at: left)
    #expect(!pause.awaitsAnswer && pause.end == at(20_000_000))
    let before = pause.ends(by: at(19_999_999))
    #expect(!before)
    let then = pause.ends(by: at(20_000_000))
    #expect(then && pause.isOver && pause.end == nil)
  }

  @Test("another answer begins it anew")
  func anew() {
    var pause = QuietPause()
    pause.answered()
    pause.answerLeft(at: left)
    pause.answered()
    let amid = pause.ends(by: at(20_000_000))
    #expect(!amid && pause.awaitsAnswer)
    pause.answerLeft(at: at(30_000_000))
    #expect(pause.end == at(50_000_000))
  }
}
