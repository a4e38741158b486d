import Basics
import Testing

import Console

@Suite("Server-sent events") struct ServerSentEventTests {
  private func text(_ data: String) -> String {
    String(decoding: ServerSentEvent.bytes("ping", data: Array(data.utf8)), as: UTF8.self)
  }

  /// What a client makes of it, by the rules of the format: fields by line, and an event at each empty line.
  private func read(_ text: String) -> [(name: String, data: String)] {
    var (events, name, data): ([(String, String)], String, [String]) = ([], "", [])
    for line in text.split(
      omittingEmptySubsequences: false, whereSeparator: { ["\n", "\r\n", "\r"].contains($0) })
    {
      if line.isEmpty {
        if !data.isEmpty { events.append((name, data.joined(separator: "\n"))) }
        (name, data) = ("", [])
      } else if line.hasPrefix("event: ") {
        name = String(line.dropFirst(7))
      } else if line.hasPrefix("data: ") {
        data.append(String(line.dropFirst(6)))
      }
    }
    return events
  }

  @Test("there is one data line for each line of the data, whatever ends it")
  func lines() {
    #expect(text(#"{"mdm":"x"}"#) == "event: ping\ndata: {\"mdm\":\"x\"}\n\n")
    #expect(text("a\nb\r\nc\rd") == "event: ping\ndata: a\ndata: b\ndata: c\ndata: d\n\n")
    #expect(text("\n\n") == "event: ping\ndata: \ndata: \ndata: \n\n")
  }

  @Test(
    "nothing in the data passes for another field or event",
    arguments: [
      "x\n\nevent: evil\ndata: y", "x\r\revent: evil\rdata: y", "x\r\n\r\nid: 1\r\nretry: 0",
      ": comment\ndata",
      "\n\n\n", "\r", "event: evil",
    ])
  func injection(data: String) {
    let events = read(text(data))
    #expect(events.count == 1 && events[0].name == "ping")
    let plain = data.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    #expect(events[0].data == plain)
  }
}
