import Basics
import Testing

import Transport

@Suite("HTTP/2 preface")
struct HTTP2PrefaceTests {
  @Test("is recognised at every split")
  func splits() {
    for split in 0...RawFrame.preface.count {
      var preface = HTTP2Preface()
      let beginning = RawFrame.preface[..<split]
      let first = preface.receive(beginning.span)
      let rest = Array(RawFrame.preface[split...] + [9, 9])
      if split < RawFrame.preface.count {
        #expect(first == .incomplete)
        let second = preface.receive(rest.span)
        #expect(second == .complete(consumed: rest.count - 2))
      } else {
        #expect(first == .complete(consumed: split))
      }
      #expect(preface.isComplete)
    }
  }

  @Test(
    "reports the first bytes of whatever is not HTTP/2",
    arguments: ["GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r!", "\u{1}x"]
      .map { Array($0.utf8) })
  func strangers(_ bytes: [UInt8]) throws {
    for split in 0...2 {
      let session = try #require(HTTP2ServerSession())
      var status = session.receive(Array(bytes[..<split]))
      if status == .taken { status = session.receive(Array(bytes[split...])) }
      guard case .notHTTP2(let first) = status else {
        Issue.record("\(status)")
        return
      }
      #expect(bytes.starts(with: first) && !first.isEmpty)
    }
  }

  @Test("reports no more than 64 bytes")
  func bounded() throws {
    let session = try #require(HTTP2ServerSession())
    let status = session.receive([UInt8](repeating: 0x47, count: 5000))
    #expect(status == .notHTTP2(firstBytes: [UInt8](repeating: 0x47, count: 64)))
  }

  @Test("is waited for before SETTINGS go out, if asked for")
  func silent() throws {
    var options = HTTP2Options()
    options.waitsForPreface = true
    let session = try #require(HTTP2ServerSession(options: options))
    #expect(session.output().isEmpty)
    _ = session.receive(Array(RawFrame.preface[..<10]))
    #expect(session.output().isEmpty)
    _ = session.receive(Array(RawFrame.preface[10...]))
    #expect(ReadFrame.all(session.output()).map(\.type) == [4])
  }
}
