import Basics
import LegacyWire
import PushModel
import Testing

import Capture

@Suite("Lines of a capture")
struct CaptureLinesTests {
  private static let frame: [UInt8] = [0, 0, 1, 7, 0, 2, 0x7b, 0x7d]
  private static let block = Lines.fields([
    (Array(":method".utf8), Array("POST".utf8)), (Array(":path".utf8), Array("/3/device/00ff".utf8)),
    (Array(":authority".utf8), Array("localhost".utf8)), (Array("authorization".utf8), []),
    (Array("x-text".utf8), Array("a \"quoted\" \\ word\t\u{7f} é".utf8)),
    (Array("x-bytes".utf8), [0xff, 0x41]),
  ])

  private static func capture() -> [UInt8] {
    Lines.make { encoder in
      encoder.frame(frame.span, connection: 1, nanoseconds: 7, outcome: nil)
      encoder.frame(
        frame.span, connection: 1, nanoseconds: 8,
        outcome: CapturedOutcome(status: 8, reason: "BadDeviceToken", identifier: .max))
      encoder.connectionClosed(1, nanoseconds: 9)
      encoder.request(
        fields: block.span, authorization: "digest:00", body: Array("{}".utf8).span, connection: 2,
        nanoseconds: 10,
        outcome: CapturedOutcome(status: 200, apnsID: APNSID("07C0F2E2-7CE0-71EC-D0D6-E7089220F778")))
      encoder.lost(17, nanoseconds: .max)
    }
  }

  @Test("what was written is read, however it is cut", arguments: [Int.max, 1, 2, 7, 64, 1000])
  func roundTrip(piece: Int) throws {
    let batch = try Lines.read(Self.capture(), piece: piece)
    #expect(
      batch.entries.map(\.kind) == [.header, .opened, .opened, .frame, .frame, .closed, .request, .lost])
    #expect(batch.entries.map(\.line) == Array(1...8))
    #expect(batch.entries.map(\.nanoseconds) == [0, 5, 6, 7, 8, 9, 10, .max])
    #expect(batch.starts == ["2023-11-14T22:13:20.000Z"])
    #expect(batch.connections.map(\.topic) == ["com.example.app", nil])
    #expect(batch.connections.map(\.environment) == [.sandbox, .production])
    #expect(Array(batch.content(batch.entries[3])) == Self.frame)
    #expect(batch.outcome(batch.entries[3]) == .silence)
    #expect(
      batch.outcome(batch.entries[4])
        == CapturedOutcome(status: 8, reason: "BadDeviceToken", identifier: .max))
    #expect(batch.entries[7].detail == 17)
  }

  @Test("frames that are many share a line, and are read together or each for itself")
  func shared() throws {
    let frames =
      (1...20).map {
        LegacyEncoder.frame(token: [UInt8](repeating: 7, count: 32), payload: [], identifier: $0)
      }
      + [LegacyEncoder.simple(token: [1], payload: [2])]
    func capture(_ frames: [[UInt8]]) -> [UInt8] {
      Lines.make { encoder in
        encoder.frames(
          Array(frames.joined()).span, count: frames.count, connection: 1, nanoseconds: 7)
        encoder.frame(Self.frame.span, connection: 1, nanoseconds: 8, outcome: nil)
      }
    }
    for piece in [Int.max, 100] {
      let apart = try Lines.read(capture(frames), piece: piece)
      let entries = apart.entries.filter { $0.kind == .frame }
      #expect(entries.map { Array(apart.content($0)) } == frames + [Self.frame])
      #expect(entries.map(\.line) == Array(repeating: 4, count: 21) + [5])
      #expect(entries.map(\.place) == Array(0..<21) + [0])
      #expect(entries.map(\.frames) == Array(repeating: 1, count: 22))
      let together = try Lines.read(capture(frames), piece: piece, leavesTogether: true)
      #expect(together.entries.dropFirst(3).map(\.frames) == [21, 1])
      #expect(Array(together.content(together.entries[3])) == Array(frames.joined()))
    }
    // A few have a line each, which is nicer to look at.
    let few = try Lines.read(
      capture(Array(frames.prefix(CaptureFormat.sharedFrom - 1))), leavesTogether: true)
    #expect(few.entries.dropFirst(3).map(\.line) == Array(4...19))
  }

  @Test(
    "frames that share a line must be as many as it says",
    arguments: [
      (#"{"ns":1,"connection":1,"count":2,"frames":"AgAAAAACAAAAAA=="}"#, 2),
      (#"{"frames":"AgAAAAACAAAAAA==","connection":1,"count":2}"#, 2),
      (#"{"ns":1,"connection":1,"count":1,"frames":"AgAAAAA="}"#, 1),
      (#"{"ns":1,"connection":1,"count":3,"frames":"AgAAAAACAAAAAA=="}"#, nil),
      (#"{"ns":1,"connection":1,"count":2,"frames":"AgAAAAACAAAAAQ=="}"#, nil),
      (#"{"ns":1,"connection":1,"count":0,"frames":""}"#, nil),
      (#"{"ns":1,"connection":1,"frames":"AgAAAAA="}"#, nil),
      (#"{"ns":1,"connection":1,"count":4294967298,"frames":"AgAAAAACAAAAAA=="}"#, nil),
    ] as [(String, Int?)])
  func sharedCount(line: String, count: Int?) throws {
    let bytes = Lines.make { _ in } + Array(line.utf8) + [0x0a]
    guard let count else {
      _ = #expect(throws: CaptureError.self) { try Lines.read(bytes) }
      return
    }
    let batch = try Lines.read(bytes)
    #expect(
      batch.entries.dropFirst(3).map { Array(batch.content($0)) }
        == Array(repeating: [2, 0, 0, 0, 0], count: count))
  }

  @Test(
    "a frame's line may be written in any way that JSON allows",
    arguments: [
      #"{"ns":12345678,"connection":1,"frame":"AgAAAAA="}"#,
      #"{ "ns":12345678,"connection":1,"frame":"AgAAAAA="}"#,
      #"{"frame":"AgAAAAA=","ns":12345678,"connection":1}"#,
      #"{"ns":12345678,"connection":1,"frame":"AgAAAAA="} "#,
      #"{"ns":12345678,"connection":1,"frame":"AgAAAAA=","more":[1,{"a":null}]}"#,
      #"{"ns":1,"frame":"AQ==","ns":12345678,"connection":9,"frame":"AgAAAAA=","connection":1}"#,
    ])
  func anyForm(line: String) throws {
    let batch = try Lines.read(Lines.make { _ in } + Array(line.utf8) + [0x0a])
    let entry = try #require(batch.entries.last)
    #expect(entry.kind == .frame)
    #expect(entry.nanoseconds == 12_345_678)
    #expect(entry.connection == 1)
    #expect(Array(batch.content(entry)) == [2, 0, 0, 0, 0])
  }

  @Test(
    "times of every length are read",
    arguments: [
      0, 9, 10, 99_999_999, 100_000_000, 1_174_251_358, 999_999_999_999_999, 1_000_000_000_000_000, .max,
    ])
  func times(nanoseconds: Int64) throws {
    let bytes = Lines.make { encoder in
      encoder.frame(Self.frame.span, connection: .max, nanoseconds: nanoseconds, outcome: nil)
    }
    let entry = try #require(try Lines.read(bytes).entries.last)
    #expect(entry.nanoseconds == nanoseconds)
    #expect(entry.connection == .max)
  }

  @Test(
    "what is no frame's line is told of",
    arguments: [
      #"{"ns":1,"connection":4294967296,"frame":"AgAAAAA="}"#, #"{"ns":1,"connection":1,"frame":"AgAAAAA"}"#,
      #"{"ns":,"connection":1,"frame":"AgAAAAA="}"#, #"{"ns":1,"connection":1,"frame":"AgAAAAA="}}"#,
      #"{"ns":1,"connection":1,"frame":"Ag!AAAA="}"#,
      #"{"ns":9223372036854775808,"connection":1,"frame":""}"#,
      #"{"ns":1,"connection":1,"frame":"AgAAAAA=","more":01}"#,
      #"{"ns":1,"connection":1,"frame":"","a":"\x"}"#,
      "{\"ns\":1,\"connection\":1,\"frame\":\"AgAAAAA=\",\"more\":\"\u{1}\"}",
    ])
  func noFrame(line: String) {
    #expect(throws: CaptureError.self) { try Lines.read(Lines.make { _ in } + Array(line.utf8) + [0x0a]) }
  }

  @Test("a request keeps every field in order, and what stands for its authorization")
  func request() throws {
    let batch = try Lines.read(Self.capture())
    let entry = batch.entries[6]
    #expect(batch.method(entry).text == "POST")
    #expect(batch.path(entry).text == "/3/device/00ff")
    #expect(Array(batch.content(entry)) == Array("{}".utf8))
    var fields: [(String, [UInt8])] = []
    FieldBlock.forEach(in: batch.fields(entry)) { fields.append(($0.text, Array($1))) }
    #expect(fields.map(\.0) == [":authority", "authorization", "x-text", "x-bytes"])
    #expect(fields[1].1 == Array("digest:00".utf8))
    #expect(fields[2].1 == Array("a \"quoted\" \\ word\t\u{7f} é".utf8))
    #expect(fields[3].1 == [0xff, 0x41])
    #expect(batch.outcome(entry).apnsID == APNSID("07C0F2E2-7CE0-71EC-D0D6-E7089220F778"))
  }

  @Test("every line is one object of JSON")
  func json() {
    for line in Self.capture().split(separator: UInt8(ascii: "\n")) {
      guard case .object? = JSONReader.read(Array(line)) else {
        Issue.record("\(String(decoding: line, as: UTF8.self))")
        continue
      }
    }
  }

  @Test("keys may come in any order, with blanks and with keys of later versions among them")
  func otherSpelling() throws {
    let text = """
      {"version": 1, "by": {"a": [1, "}", {"b": null}]}, "format": "apns-emulator-capture"}
      { "frame" : "AAAB", "connection" : 3 , "ns" : 4, "later": -1.5e3, "outcome": {"x": [], "closed": true} }

      {"connection":4,"request":{"body":"","headers":[],"path":"\\/3\\u002fdevice\\/","method":"POST"},"outcome":{"status":404}}

      """
    let batch = try Lines.read(Array(text.utf8))
    #expect(batch.entries.map(\.kind) == [.header, .frame, .request])
    #expect(Array(batch.content(batch.entries[1])) == [0, 0, 1])
    #expect(batch.outcome(batch.entries[1]).isClosed)
    #expect(batch.path(batch.entries[2]).text == "/3/device/")
  }

  @Test("a torn last line is left out, wherever it is torn")
  func torn() throws {
    let bytes = Self.capture()
    let last = bytes.dropLast().lastIndex(of: UInt8(ascii: "\n")) ?? 0
    for end in (last + 2)..<bytes.count {
      let batch = try Lines.read(Array(bytes[..<end]))
      #expect(batch.entries.count == 7)
    }
  }

  @Test(
    "what is wrong is told with its line, what was expected and what came",
    arguments: [
      ("{\"ns\":1,\"connection\":1,\"frame\":\"A\"}", "line 4: expected base64, got \"A\"}"),
      ("{\"ns\":-1}", "line 4: expected a whole number, got -1}"),
      ("{\"ns\":99999999999999999999}", "line 4: expected a number up to 9223372036854775807"),
      ("{\"ns\":1,\"connection\":4294967296,\"closed\":true}", "line 4: expected a number up to 4294967295"),
      ("{\"ns\":1,\"connection\":1}", "line 4: expected \"frame\", \"request\", \"closed\""),
      ("{\"ns\":1}", "line 4: expected \"connection\", or a header"),
      ("{\"ns\":1,\"connection\":1,\"closed\":true} x", "line 4: expected the end of the line, got x"),
      ("[]", "line 4: expected \"{\", got []"),
      ("{\"ns\":1,\"connection\":1,\"request\":{},\"outcome\":{}}", "line 4: expected a request with method"),
      ("{\"ns\":1,\"connection\":1,\"interface\":\"x\"}", "line 4: expected gateway, provider or console"),
    ])
  func wrong(line: String, complaint: String) throws {
    let bytes = Lines.make { _ in } + Array((line + "\n").utf8)
    let error = #expect(throws: CaptureError.self) { try Lines.read(bytes) }
    #expect(error?.description.hasPrefix(complaint) == true, "\(error?.description ?? "")")
  }

  @Test("a line that is too long is refused before it is held")
  func tooLong() {
    let bytes = Lines.make { _ in } + [UInt8](repeating: 0x20, count: CaptureFormat.lineLimit + 2)
    #expect(throws: CaptureError.self) { try Lines.read(bytes, piece: 4096) }
  }

  @Test("no bytes trap the reader: a capture with bytes changed, taken out or doubled")
  func anyBytes() {
    var random = SystemRandomNumberGenerator()
    let whole = Self.capture()
    for _ in 0..<20_000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
        case 1: bytes.remove(at: place)
        default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 9)], at: place)
        }
      }
      if let batch = try? Lines.read(bytes, piece: Int.random(in: 1...400, using: &random)) {
        look(at: batch)
      }
    }
  }

  private func look(at batch: CaptureBatch) {
    for entry in batch.entries where entry.kind == .request || entry.kind == .frame {
      _ = [batch.content(entry).count, batch.fields(entry).count, batch.path(entry).count]
      _ = (batch.outcome(entry), FieldBlock.read(batch.fields(entry)))
    }
  }
}
