import Basics
import PushModel

/// The reader of JSON: two implementations agree on what JSON is, and what was read can be written and read again.
struct JSONFuzz: FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer) {
    let text = Array(input)
    let value = JSONReader.read(text, maximumDepth: 64)
    let compact = JSONText.compact(text)
    guard let value else { return }
    // The checker lets no text pass that is not UTF-8; the reader puts U+FFFD in its place.
    precondition(compact != nil || String(validating: text, as: UTF8.self) == nil)
    let once = value.encoded
    precondition(JSONText.compact(once) == once)
    precondition(JSONReader.read(once, maximumDepth: 64)?.encoded == once)
    _ = PushType(forwarding: text, to: "com.example.app")
  }
}
