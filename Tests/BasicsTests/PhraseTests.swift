import Basics
import PushModel
import Testing

@Suite("Phrases")
struct PhraseTests {
  private func quoted(_ text: String) -> Phrase { .quoted(Array(text.utf8).span) }

  @Test("read as the literal says, with numbers, moments and a peer's bytes among the words")
  func pieces() {
    let moment = Timestamp(seconds: 1_700_000_000).adding(nanoseconds: 7_000_000)
    let phrase: Phrase = "at \(moment) it was \(quoted("x\u{7}")), not \("y"), \(-12) times of \(UInt8.max)"
    #expect(phrase.text == "at 2023-11-14T22:13:20.007Z it was \"x?\", not y, -12 times of 255")
    #expect(Phrase("plain").text == "plain" && Phrase("").text == "")
    #expect(Phrase.quoted(Span<UInt8>?.none).text == "none")
  }

  @Test("show at most 80 bytes of a peer's value, and that there were more")
  func clipped() {
    let long = String(repeating: "z", count: 80)
    #expect(quoted(long).text == "\"\(long)\"")
    #expect(quoted(long + "z").text == "\"\(long)…\"")
    #expect(quoted("ü").text == "\"??\"")
  }

  @Test("make one line of rule, expected and got")
  func explanation() {
    let name = "b"
    var explanation = Explanation(rule: "a", expected: "\(name) or \(3)", got: "\(4)")
    #expect(explanation.text == "a: expected b or 3, got 4")
    #expect(explanation.rule == "a" && explanation.expected == "b or 3" && explanation.got == "4")
    let before = explanation
    explanation.got += ", and more"
    #expect(explanation.text == "a: expected b or 3, got 4, and more")
    #expect(before.got == "4" && before != explanation)
  }
}

@Suite("Text buffer")
struct TextOfBufferTests {
  @Test("grows, and begins again")
  func growth() {
    var buffer = ByteBuffer(capacity: 256)
    let long = String(repeating: "0123456789", count: 100)
    buffer.append(long)
    #expect(buffer.text == long && buffer.count == 1000)
    buffer.removeAll()
    buffer.append("é")
    #expect(buffer.text == "é" && buffer.count == 2)
  }

  @Test("writes every number, with zeros before it if asked")
  func numbers() {
    let expected: [(Int64, Int, String)] = [
      (0, 1, "0"), (7, 3, "007"), (1234, 3, "1234"), (-5, 1, "-5"), (.max, 1, "9223372036854775807"),
      (.min, 1, "-9223372036854775808"),
    ]
    for (number, width, text) in expected {
      var buffer = ByteBuffer(capacity: 256)
      buffer.append(number, width: width)
      #expect(buffer.text == text)
    }
  }

  @Test("can be cut and made fit for a header field")
  func visible() {
    var buffer = ByteBuffer(capacity: 256)
    buffer.append("a\r\n…b\u{7f}c")
    buffer.makeVisible(limit: 7)
    #expect(buffer.text == "a?????b")
    buffer.append(visible: [0, 0x20, 0x7e, 0x80])
    #expect(buffer.text == "a?????b? ~?")
  }
}
