import Basics
import ClusterRouter
import Console
import Testing

@Suite("What another node answers, taken apart") struct ListElementsTests {
  private static let first =
    #"{"id":1,"receivedAt":"2026-01-02T03:04:05.678Z","payload":{"a":["]","\"}",{}]}}"#
  private static let second = #"{"id":2}"#
  private static let document = #"{"notifications":[\#(first),\#(second)],"next":7,"more":["x"]}"#

  @Test("Elements come out whole, wherever the pieces are cut", arguments: [1, 2, 3, 7, 1000])
  func pieces(size: Int) {
    var elements = ListElements()
    var found: [[UInt8]] = []
    let bytes = Array(Self.document.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      elements.receive(Array(bytes[start..<min(start + size, bytes.count)]))
      found += elements.take()
    }
    #expect(found == [Self.first, Self.second].map { Array($0.utf8) })
    #expect(String(decoding: elements.rest, as: UTF8.self) == #"{"next":7,"more":["x"]}"#)
    #expect(!elements.isBroken)
  }

  @Test("An empty list has none, and one without end is given up")
  func edges() {
    var empty = ListElements()
    empty.receive(Array(#"{"notifications":[]}"#.utf8))
    #expect(empty.take().isEmpty && String(decoding: empty.rest, as: UTF8.self) == "{}")
    var endless = ListElements()
    endless.receive(Array(#"{"notifications":[{"id":""#.utf8))
    endless.receive([UInt8](repeating: UInt8(ascii: "x"), count: ListElements.limit))
    #expect(endless.isBroken)
  }

  @Test("A notification's place is its time, then its id; what says neither is none")
  func marks() throws {
    let mark = try #require(HistoryMark(Array(Self.first.utf8)))
    #expect(mark == HistoryMark(receivedAt: "2026-01-02T03:04:05.678Z", id: 1))
    #expect(HistoryMark(Array(Self.second.utf8)) == nil)
    #expect(mark < HistoryMark(receivedAt: mark.receivedAt, id: 2))
    #expect(HistoryMark(receivedAt: "2026-01-02T03:04:05.677Z", id: 9) < mark)
  }

  @Test(
    "A cursor is ids, and nothing else is one",
    arguments: [("5", [5]), ("9~5", [5, 9]), ("", nil), ("5~", nil), ("2026-01-02T03:04:05Z", nil)])
  func cursors(text: String, ids: [UInt64]?) { #expect(HistoryCursor(text)?.ids == ids) }
}
