import Platform
import Testing

import Transport

@Suite struct HTTPRequestParserTests {
  static let post =
    "POST /api/v1/x%2Fy/z?topic=com.example.app&q=a+b%21&flag HTTP/1.1\r\nHost: localhost\r\n"
    + "Content-Length: 5\r\n\r\nhello"
  static let chunked =
    "POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    + "3;name=value\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: dropped\r\n\r\n"

  @Test("A request is the same in one piece, byte by byte and at every split", arguments: [post, chunked])
  func everySplit(text: String) throws {
    let bytes = Array(text.utf8)
    for split in 0...bytes.count {
      let requests = try parse([Array(bytes[..<split]), Array(bytes[split...])])
      #expect(requests.map(\.body) == [Array("hello".utf8)], "split at \(split)")
    }
    #expect(try parse(bytes.map { [$0] }).count == 1)
  }

  @Test("Path parts and query items are decoded, a slash inside a part is kept")
  func target() throws {
    let request = try #require(try parse([Array(Self.post.utf8)]).first)
    #expect(request.segments == ["api", "v1", "x/y", "z"])
    #expect(request.query.map(\.name) == ["topic", "q", "flag"])
    #expect(request.query.map(\.value) == ["com.example.app", "a b!", ""])
  }

  @Test("Pipelined requests come out one after the other")
  func pipelined() throws {
    let requests = try parse([Array((Self.post + Self.chunked + Self.post).utf8)])
    #expect(requests.map(\.path) == ["/api/v1/x%2Fy/z", "/x", "/api/v1/x%2Fy/z"])
  }

  @Test("An absolute target brings its host")
  func absoluteTarget() throws {
    let text = "GET http://other.example:99/a?b=c HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let request = try #require(try parse([Array(text.utf8)]).first)
    #expect(request.path == "/a")
    #expect(request.fields.all(named: "host") == ["other.example:99"])
    for (target, path, query) in [("http://a.example", "/", []), ("http://a.example?b=c", "/", ["b"])] {
      let bare = try #require(try parse([Array("GET \(target) HTTP/1.1\r\nHost: b\r\n\r\n".utf8)]).first)
      #expect(bare.path == path && bare.query.map(\.name) == query && bare.field("host") == "a.example")
    }
  }

  @Test("Of the names of fields the letters alone are compared without case")
  func fieldNames() throws {
    let request = try #require(
      try parse([Array("GET / HTTP/1.1\r\nHost: a\r\nAZ^az`: 1\r\n\r\n".utf8)]).first)
    #expect(request.field("az^AZ`") == "1" && request.field("az~az`") == nil)
  }

  @Test("The target of a request made in this process has neither spaces nor control characters")
  func ownTarget() {
    #expect(HTTPRequest("GET", "/!~") != nil)
    for target in ["/a b", "/a\u{1f}b", "/a\u{7f}b"] { #expect(HTTPRequest("GET", target) == nil) }
  }

  @Test(
    "A bad request is refused with the status for it",
    arguments: [
      ("GARBAGE\r\n\r\n", 400), ("GET /\r\n\r\n", 400), ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
      ("PRI * HTTP/2.0\r\n\r\n", 505), ("GET / HTTP/1.1\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: a\n\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\u{1}b\r\n\r\n", 400),
      ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("GET example HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999999999\r\n\r\n", 413),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000000000\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n", 413),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
      ("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n", 413),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n", 413),
      ("POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", 417),
    ])
  func refused(text: String, status: Int) {
    var limits = HTTPLimits()
    limits.body = 1000
    for pieces in [[Array(text.utf8)], text.utf8.map { [$0] }] {
      let failure = #expect(throws: HTTPParseFailure.self) { try parse(pieces, limits) }
      #expect(failure?.status == status, "\(text)")
    }
  }

  @Test("Heads and bodies end at their limits, in one piece and dribbled")
  func limits() throws {
    var limits = HTTPLimits()
    (limits.head, limits.fields, limits.body) = (200, 3, 10)
    let long = "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "y", count: 200) + "\r\n\r\n"
    let many = "GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n"
    for text in [long, many] {
      for pieces in [[Array(text.utf8)], text.utf8.map { [$0] }] {
        let failure = #expect(throws: HTTPParseFailure.self) { try parse(pieces, limits) }
        #expect(failure?.status == 431)
      }
    }
    let endless = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\n"
    let failure = #expect(throws: HTTPParseFailure.self) { try parse([Array(endless.utf8)], limits) }
    #expect(failure?.status == 413)
  }

  @Test("A head may be as long as its limit, with the empty line, and a part of it as well")
  func longestHead() throws {
    var limits = HTTPLimits()
    (limits.head, limits.fields) = (200, 3)
    let head = "GET / HTTP/1.1\r\nHost: a\r\nX: "
    for (count, isTaken) in [(200, true), (201, false)] {
      let long = head + String(repeating: "y", count: count - head.utf8.count - 4)
      for text in [long + "yyyy", long + "\r\n\r\n"] {
        #expect(isRefused(text, limits, with: 431) != isTaken, "\(count)")
      }
    }
    let full = "GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 2\r\n\r\n"
    #expect(try parse([Array(full.utf8)], limits).map(\.fields.count) == [3])
  }

  @Test("A chunk's size may take a line of 1024 bytes with its end, and trailers are as many as fields")
  func longestChunkLine() throws {
    var limits = HTTPLimits()
    limits.fields = 3
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    for (count, isTaken) in [(1024, true), (1025, false)] {
      let line = "0;" + String(repeating: "x", count: count - 4)
      for text in [head + line + "xx", head + line + "\r\n"] {
        #expect(isRefused(text, limits, with: 400) != isTaken, "\(count)")
      }
    }
    for (count, isTaken) in [(3, true), (4, false)] {
      let trailer = String(repeating: "A: 1\r\n", count: count)
      #expect(isRefused(head + "0\r\n" + trailer + "\r\n", limits, with: 431) != isTaken, "\(count)")
    }
  }

  /// False as well if more has to come.
  private func isRefused(_ text: String, _ limits: HTTPLimits, with status: Int) -> Bool {
    do {
      try parse([Array(text.utf8)], limits)
      return false
    } catch {
      return (error as? HTTPParseFailure)?.status == status
    }
  }

  @Test(
    "A request that may have a longer body is asked for before any of it is read, and both numbers are told")
  func bodyLimit() throws {
    var asked: [String] = []
    let limit: (HTTPRequest) -> Int = {
      asked.append($0.path)
      return $0.path == "/long" ? 2000 : 1000
    }
    let body = String(repeating: "x", count: 2000)
    for (framing, got) in [
      ("Content-Length: 2001\r\n\r\n", "got 2001"),
      ("Transfer-Encoding: chunked\r\n\r\n7d0\r\n\(body)\r\n1\r\n", "got 2001 or more"),
    ] {
      let failure = #expect(throws: HTTPParseFailure.self) { try parse("/long", framing, limit) }
      #expect(failure?.status == 413 && failure?.sentence == "the body: expected at most 2000 bytes, \(got)")
      #expect(throws: HTTPParseFailure.self) { try parse("/other", framing, limit) }
    }
    #expect(try parse("/long", "Content-Length: 2000\r\n\r\n" + body, limit)?.body.count == 2000)
    asked = []
    _ = try parse("/short", "Content-Length: 3\r\n\r\nabc", limit)
    #expect(asked.isEmpty, "what every request may have is not asked for")
  }

  private func parse(
    _ path: String, _ framing: String, _ bodyLimit: @escaping (HTTPRequest) -> Int
  ) throws -> HTTPRequest? {
    var limits = HTTPLimits()
    limits.body = 1000
    var parser = HTTPRequestParser(
      limits: limits, remoteAddress: SocketAddress(host: "127.0.0.1", port: 1), localPort: 8790,
      bodyLimit: bodyLimit)
    parser.receive(Array("POST \(path) HTTP/1.1\r\nHost: a\r\n\(framing)".utf8).span)
    guard case .request(let request)? = try parser.next() else { return nil }
    return request
  }

  @Test("A body that waits for 100 Continue is announced once")
  func continues() throws {
    var parser = makeParser()
    let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    parser.receive(Array(head.utf8).span)
    guard case .wantsContinue = try parser.next() else {
      Issue.record("expected the announcement")
      return
    }
    #expect(try parser.next() == nil)
    parser.receive(Array("ok".utf8).span)
    guard case .request(let request) = try parser.next() else {
      Issue.record("expected the request")
      return
    }
    #expect(request.body == Array("ok".utf8))
  }

  @Test(
    "Connections are kept as the version and the Connection field say",
    arguments: [
      ("HTTP/1.1", "", true), ("HTTP/1.1", "Connection: close\r\n", false),
      ("HTTP/1.1", "Connection: x, Close\r\n", false), ("HTTP/1.0", "", false),
      ("HTTP/1.0", "Connection: Keep-Alive\r\n", true),
    ])
  func keepsConnection(version: String, field: String, keeps: Bool) throws {
    let text = "GET / \(version)\r\nHost: a\r\n\(field)\r\n"
    #expect(try parse([Array(text.utf8)]).map(\.keepsConnection) == [keeps])
  }

  @Test("CONNECT asks a proxy for a host and port, and anybody else for nothing")
  func connects() throws {
    let text = "CONNECT api.push.apple.com:443 HTTP/1.1\r\nHost: other\r\n\r\n"
    var parser = makeParser(isOfProxy: true)
    parser.receive(Array(text.utf8).span)
    guard case .request(let request) = try parser.next() else {
      Issue.record("expected the request")
      return
    }
    #expect(request.method == "CONNECT" && request.path == "api.push.apple.com:443")
    #expect(request.segments.isEmpty && request.field("host") == "other")
    let failure = #expect(throws: HTTPParseFailure.self) { try parse([Array(text.utf8)]) }
    #expect(failure?.status == 400)
  }

  private func makeParser(_ limits: HTTPLimits = HTTPLimits(), isOfProxy: Bool = false) -> HTTPRequestParser {
    HTTPRequestParser(
      limits: limits, remoteAddress: SocketAddress(host: "127.0.0.1", port: 1), localPort: 2,
      isOfProxy: isOfProxy)
  }

  @discardableResult
  private func parse(_ pieces: [[UInt8]], _ limits: HTTPLimits = HTTPLimits()) throws -> [HTTPRequest] {
    var parser = makeParser(limits)
    var requests: [HTTPRequest] = []
    for piece in pieces {
      parser.receive(piece.span)
      while let event = try parser.next() {
        if case .request(let request) = event { requests.append(request) }
      }
    }
    return requests
  }
}
