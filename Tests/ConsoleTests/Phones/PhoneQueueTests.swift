import Basics
import Testing

import Phones

/// Settings that wait for a phone.
struct PhoneQueueTests {
  private func queue(_ settings: String...) throws -> PhoneQueue {
    var queue = PhoneQueue()
    for text in settings {
      let isTaken = queue.add(try #require(JSONReader.read(Array(text.utf8))))
      #expect(isTaken)
    }
    return queue
  }

  @Test("later ones take the place of earlier ones, the others stay")
  func merging() throws {
    #expect(try queue().json.text == "null")
    #expect(
      try queue(#"{"locked":true,"lowPower":true}"#, #"{"locked":false}"#).json.text
        == #"{"locked":false,"lowPower":true}"#)
  }

  @Test("apps are merged one by one, and what they are allowed member by member")
  func apps() throws {
    let queue = try queue(
      #"{"apps":{"a":{"state":"foreground","permission":{"alert":false,"sound":true}}}}"#,
      #"{"apps":{"b":{"state":"background"},"a":{"permission":{"alert":true}}}}"#)
    #expect(
      queue.json.text
        == #"{"apps":{"a":{"state":"foreground","permission":{"alert":true,"sound":true}},"b":{"state":"background"}}}"#
    )
  }

  @Test("what a phone reads as a whole is replaced as a whole")
  func whole() throws {
    let focus = try queue(
      #"{"focus":{"allows":["a"],"filters":{"a":["b"]}}}"#, #"{"focus":{"allows":["c"]}}"#)
    #expect(focus.json.text == #"{"focus":{"allows":["c"]}}"#)
    #expect(try queue(#"{"focus":{"allows":["a"]}}"#, #"{"focus":null}"#).json.text == #"{"focus":null}"#)
    let categories = try queue(
      #"{"apps":{"a":{"categories":{"x":{},"y":{}}}}}"#, #"{"apps":{"a":{"categories":{"z":{}}}}}"#)
    #expect(categories.json.text == #"{"apps":{"a":{"categories":{"z":{}}}}}"#)
  }

  @Test("no more than one order holds")
  func bounded() throws {
    var queue = try queue(#"{"locked":true}"#)
    let long = String(repeating: "x", count: PhoneQueue.byteLimit)
    let isTaken = queue.add(["language": .string(long)])
    #expect(!isTaken)
    #expect(queue.json.text == #"{"locked":true}"# && queue.byteCount == 15)
  }
}
