import Testing

import Transport

@Suite("Event stream reader")
struct EventStreamReaderTests {
  private static let stream = """
    retry: 1000

    : a comment

    id: a-1
    event: token
    data: {"a":"é"}

    event:device
    data: one
    data:  two

    event: nothing

    event: unfinished
    data: {}

    """
  private static let events = [
    EventStreamReader.Event(id: "a-1", name: "token", data: #"{"a":"é"}"#),
    EventStreamReader.Event(name: "device", data: "one\n two"),
    EventStreamReader.Event(name: "unfinished", data: "{}"),
  ]

  @Test("events are read from pieces of any size")
  func pieces() {
    let bytes = Array((Self.stream + "\n").utf8)
    for size in 1...bytes.count {
      var reader = EventStreamReader()
      var events: [EventStreamReader.Event] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        events += reader.take(Array(bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(events == Self.events, "in pieces of \(size)")
    }
  }

  @Test("an event without its empty line has not come yet")
  func unfinished() {
    var reader = EventStreamReader()
    #expect(reader.take(Array("event: token\ndata: {}\n".utf8)).isEmpty)
    #expect(reader.take([UInt8(ascii: "\n")]) == [EventStreamReader.Event(name: "token", data: "{}")])
  }
}
