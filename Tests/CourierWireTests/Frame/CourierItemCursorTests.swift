import Basics
import CourierWire
import Testing

@Suite("Items of a frame")
struct CourierItemCursorTests {
  private struct Item: Equatable {
    var id: UInt8
    var bytes: [UInt8]
  }

  private func items(_ body: String) throws -> [Item] {
    let body = bytes(body)
    var items = CourierFrame(commandByte: 9, body: body.span).items
    var found: [Item] = []
    while let item = try items.next() { found.append(Item(id: item.id, bytes: Array(item.value))) }
    return found
  }

  @Test("come in the order in which they were sent, empty and repeated ones too")
  func order() throws {
    #expect(
      try items("05 0001 aa 02 0000 05 0002 bbcc") == [
        Item(id: 5, bytes: [0xaa]), Item(id: 2, bytes: []),
        Item(id: 5, bytes: [0xbb, 0xcc]),
      ])
    #expect(try items("").isEmpty)
  }

  @Test(
    "that end outside the frame are an error",
    arguments: ["05", "0500", "050001", "0500020a", "01 0000 05 ffff"])
  func overrun(body: String) {
    #expect(throws: CourierProtocolError(.itemOverrun, "")) { try items(body) }
  }

  @Test("have integers of their exact width only")
  func integers() throws {
    let body = bytes("01 0002 0102")
    var items = CourierFrame(commandByte: 9, body: body.span).items
    guard let item = try items.next() else {
      Issue.record("there is no item")
      return
    }
    let (two, one, four) = (item.integer(UInt16.self), item.integer(UInt8.self), item.integer(UInt32.self))
    #expect(two == 0x0102 && one == nil && four == nil)
    let text = item.text
    #expect(text == "\u{1}\u{2}")
  }
}
