import Basics
import Testing

import ConsoleAnswers

@Suite struct GrowingDocumentTests {
  private func numbers(_ count: Int64) -> (inout Slice) -> GrowingDocument.Element {
    var next: Int64 = 0
    return { _ in
      next += 1
      return next > count ? .end : .value(.integer(next))
    }
  }

  private func document() -> GrowingDocument {
    var objects: Int64 = 0
    let numbers = numbers
    return GrowingDocument([
      .value("a\"b", ["x": 1]), .list("none", numbers(0)), .list("numbers", numbers(3)),
      .list("objects") { _ in
        objects += 1
        switch objects {
        case 1, 4: return .nothing
        case 2: return .object([])
        case 3: return .object([.value("n", 1), .list("deep", numbers(2)), .late { [("end", nil)] }])
        default: return .end
        }
      }, .late { [("count", .integer(objects))] },
    ])
  }

  private let expected =
    #"{"a\"b":{"x":1},"none":[],"numbers":[1,2,3],"objects":[{},{"n":1,"deep":[1,2],"end":null}],"count":5}"#

  @Test("It is the same whatever the slices are", arguments: [1, 2, 9, 100, 100_000])
  func slices(units: Int) {
    let document = document()
    var (text, turns) = ("", 0)
    while !document.isComplete, turns < 1000 {
      var slice = Slice(units)
      document.write(&slice)
      text += String(decoding: document.take(), as: UTF8.self)
      turns += 1
    }
    #expect(text == expected)
    #expect(units < 100_000 || turns == 1)
  }

  @Test("Work that members need is done before they are asked for, and once")
  func after() {
    var left = 5
    let document = GrowingDocument([
      .late(after: { _ in
        left -= 1
        return left > 0
      }) { [("left", .integer(Int64(left))), ("right", nil)] }
    ])
    var slice = Slice(2)
    document.write(&slice)
    #expect(!document.isComplete)
    slice = Slice(1000)
    document.write(&slice)
    #expect(String(decoding: document.take(), as: UTF8.self) == #"{"left":0,"right":null}"#)
  }

  @Test("A list in an order is that order, bit by bit", arguments: [0, 1, 2, 3, 7, 64, 1000])
  func sorted(count: Int) {
    let values = (0..<count).map { ($0 * 7919) % 501 }
    let sort = SlicedSort(Array(values.enumerated()), by: { $0.element < $1.element })
    var steps = 0
    var slice = Slice(1)
    while sort.step(&slice) { steps += 1 }
    let expected = values.enumerated().sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }
    #expect(sort.elements.map(\.offset) == expected.map(\.offset), "equal ones keep their order")
    #expect(1 - slice.left == steps + 1)
    #expect(count < 1000 || steps > 1000)
  }
}
