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
      Array(text.utf8).withUnsafeBytes { bytes in
        var head = CaptureHead(kind: .credential, nanoseconds: 0)
        head.firstCount = UInt32(bytes.count)
        spool.add(head, bytes, UnsafeRawBufferPointer(start: nil, count: 0))
      }
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
    var (texts, position): ([String], Int) = ([], 0)
    while position < memory.count {
      let head = memory.bytes.loadUnaligned(fromByteOffset: position, as: CaptureHead.self)
      let start = position + CaptureHead.size
      let end = start + Int(head.firstCount)
      texts.append(String(decoding: memory.bytes[start..<end], as: UTF8.self))
      position = (end + 15) & ~15
    }
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
}
