import PushModel
import Testing

/// `FieldBlock`: two lengths of 16 bits in the machine's order, name, value, and so on; `authorization` without its value.
@Suite("Field block")
struct FieldBlockTests {
  private static let token = "bearer secret"

  static let lists: [[(String, String)]] = [
    [], [("apns-id", "1")], [("authorization", token)],
    [("authorization", token), ("apns-id", "1"), (":path", "/3/device/00")],
    [(":path", "/3/device/00"), ("apns-id", ""), ("authorization", token)],
    [("apns-id", "1"), ("authorization", token), ("x-authorization", "kept"), ("x", "y")],
    [("authorization", token), ("a", "1"), ("authorization", "basic secret"), ("b", "2")],
    [("a", "1"), ("authorization", ""), ("authorization", token), ("authorization", token)],
  ]

  @Test("holds every field of a message but the values of authorization", arguments: FieldBlockTests.lists)
  func layout(_ fields: [(String, String)]) {
    var message = HTTPMessage()
    for (name, value) in fields { message.append(name: name, value: value) }
    message.appendBody(Array("{}".utf8).span)
    let expected = fields.flatMap { name, value -> [UInt8] in
      let value = name == "authorization" ? "" : value
      return Self.length(name) + Self.length(value) + Array(name.utf8) + Array(value.utf8)
    }
    #expect(Self.block(of: message) == expected)
    #expect(message.fields.map { [$0.name, $0.value] } == fields.map { [$0.0, $0.1] })
  }

  @Test("has room for the longest list of fields, and for the one with most of them")
  func longest() {
    var long = HTTPMessage()
    let value = String(repeating: "x", count: HTTPMessage.fieldListLimit - HTTPMessage.fieldOverhead - 1)
    long.append(name: "a", value: value)
    #expect(Self.block(of: long).count == HTTPMessage.fieldListLimit - HTTPMessage.fieldOverhead + 4)
    var many = HTTPMessage()
    var count = 0
    while many.append(name: "a", value: "") { count += 1 }
    #expect(count == HTTPMessage.fieldListLimit / (HTTPMessage.fieldOverhead + 1))
    #expect(FieldBlock.read(Self.block(of: many)).count == count)
  }

  private static func length(_ text: String) -> [UInt8] {
    withUnsafeBytes(of: UInt16(text.utf8.count)) { Array($0) }
  }

  private static func block(of message: HTTPMessage) -> [UInt8] {
    var block: [UInt8] = [1, 2, 3]
    FieldBlock.write(message, to: &block)
    return block
  }
}

extension FieldBlock {
  fileprivate static func read(_ block: [UInt8]) -> [(name: String, value: String)] {
    read(block.span)
  }
}
