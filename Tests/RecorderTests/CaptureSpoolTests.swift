import Basics
import Testing

@testable import Recorder

@Suite("What of a capture may be written")
struct CaptureSpoolTests {
  private let spool = CaptureSpool()

  /// Adds a record for each text.
  private func add(_ texts: String..., held: Bool = true, covered: Bool = false) {
    spool.beginAdding()
    if held { spool.hold() }
    for text in texts {
      spool.add(CaptureHead(kind: .credential, nanoseconds: 0), Array(text.utf8).span)
    }
    if covered { spool.cover() }
    spool.endAdding()
  }

  /// What the writer gets, without waiting for more.
  private func take() -> [String] {
    spool.reopen()
    var memory = CaptureMemory()
    guard spool.take(&memory, CaptureReport(), isHeavy: false) else { return [] }
    _ = spool.takeReopening()
    var texts: [String] = []
    memory.forEach { _, text, _ in texts.append(text.text) }
    return texts
  }

  @Test("what no commit covers stays, and what it covers goes when it is complete")
  func covered() {
    add("a", held: false)
    add("b")
    add("c", covered: true)
    add("d")
    #expect(take() == ["a"])
    #expect(take().isEmpty)
    _ = spool.release()
    #expect(take() == ["b", "c"])
    add("e", covered: true)
    #expect(take().isEmpty)
    _ = spool.release()
    #expect(take() == ["d", "e"])
    add("f", held: false)
    #expect(take() == ["f"])
  }

  @Test("what comes behind something held waits with it, whatever it is")
  func behind() {
    add("a", covered: true)
    add("b", held: false)
    _ = spool.release()
    #expect(take() == ["a"])
    add(covered: true)
    _ = spool.release()
    #expect(take() == ["b"])
  }

  @Test("a commit that fails takes with it what is not committed, and nothing else")
  func discarded() {
    add("a", covered: true)
    _ = spool.release()
    add("b", covered: true)
    add("c")
    spool.discardHeld()
    #expect(take() == ["a"])
    add("d", held: false)
    #expect(take() == ["d"])
  }

  @Test("the writer ends with what is committed")
  func end() {
    add("a", covered: true)
    _ = spool.release()
    add("b")
    spool.end()
    #expect(take() == ["a"])
    var memory = CaptureMemory()
    #expect(!spool.take(&memory, CaptureReport(), isHeavy: false))
  }

  @Test("a push counts as recorded at once, and as written when the writer comes back for more")
  func progress() throws {
    let progress = { [spool] in [spool.progress.recorded, spool.progress.written] }
    spool.beginAdding()
    for kind in [CaptureHead.Kind.opened, .request, .frame, .closed] {
      spool.add(CaptureHead(kind: kind, nanoseconds: 0), Span.none)
    }
    let frame: [UInt8] = [0, 1]
    spool.add(frame.span, connection: 1, nanoseconds: 0)
    spool.add(frame.span, connection: 1, nanoseconds: 0)
    spool.endAdding()
    #expect(progress() == [4, 0])
    #expect(take().count == 5)
    #expect(progress() == [4, 0])
    var memory = CaptureMemory()
    spool.end()
    #expect(!spool.take(&memory, CaptureReport(pushes: 4), isHeavy: false))
    #expect(progress() == [4, 4])
  }
}
