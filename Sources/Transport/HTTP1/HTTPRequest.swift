import Basics
import Platform

/// One request, whole.
public struct HTTPRequest: Sendable {
  /// The method as sent; methods are compared with case.
  public var method: String
  /// The path as sent, without the query. Of CONNECT: what it asks for, as sent.
  public var path: String
  /// The path at its slashes, each part percent-decoded. `/` has none; an empty part is kept.
  public var segments: [String]
  /// Query items in order, decoded; an item without `=` has an empty value.
  public var query: [(name: String, value: String)]
  public var fields: [HTTPField]
  public var body: [UInt8]
  /// Who sent it.
  public var remoteAddress: SocketAddress
  /// The port it came in on.
  public var localPort: UInt16
  /// Another node of ours passes it on, and has made the checks of who may ask.
  public var isOfNode = false
  /// Whether the client speaks HTTP/1.0.
  var isVersion10 = false

  /// Makes a request as a client of the same process would; nil if the target is not a path.
  public init?(
    _ method: String, _ target: String, fields: [HTTPField] = [], body: [UInt8] = [],
    from remoteAddress: SocketAddress = SocketAddress(host: "127.0.0.1", port: 0), localPort: UInt16 = 0
  ) {
    guard let parsed = try? HTTPTarget(target, method: method) else { return nil }
    self.init(method, parsed, fields, body, remoteAddress, localPort)
  }

  init(
    _ method: String, _ target: HTTPTarget, _ fields: [HTTPField], _ body: [UInt8],
    _ remoteAddress: SocketAddress, _ localPort: UInt16
  ) {
    (self.method, self.path, self.segments, self.query) = (method, target.path, target.segments, target.query)
    (self.fields, self.body) = (fields, body)
    (self.remoteAddress, self.localPort) = (remoteAddress, localPort)
  }

  /// The value of the first field of this name, compared without case.
  public func field(_ name: String) -> String? { fields.first(named: name) }

  /// The value of the first query item of this name.
  public func queryValue(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// Whether the client wants the connection kept for its next request (RFC 9112 9.3).
  public var keepsConnection: Bool {
    let options = fields.all(named: "connection").joined(separator: ",").lowercased()
      .split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
    return isVersion10 ? options.contains("keep-alive") : !options.contains("close")
  }
}

/// The target of a request: path and query, decoded; of CONNECT, the host and port that are asked for.
struct HTTPTarget {
  var path: String
  var segments: [String]
  var query: [(name: String, value: String)]
  /// The host of an absolute target, which goes before the Host field (RFC 9112 3.2.2).
  var authority: String?

  /// `isOfProxy`: CONNECT may ask for another server (RFC 9112 3.2.3).
  init(_ text: String, method: String, isOfProxy: Bool = false) throws(HTTPParseFailure) {
    guard text.utf8.allSatisfy({ $0 > ASCII.space && $0 != 0x7f }) else {
      throw HTTPParseFailure(400, "the request target has spaces or control characters")
    }
    guard !isOfProxy || method != "CONNECT" else {
      (path, segments, query) = (text, [], [])
      return
    }
    let origin = try Self.origin(text, method: method, authority: &authority)
    let parts = origin.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
      .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = String(parts[0])
    segments = []
    for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) where path != "/" {
      segments.append(try Self.decoded(part, plusIsSpace: false))
    }
    query = []
    if parts.count > 1 { query = try Self.items(parts[1]) }
  }

  /// Query items, as also used for a form body.
  static func items(_ text: Substring) throws(HTTPParseFailure) -> [(name: String, value: String)] {
    var items: [(name: String, value: String)] = []
    for item in text.split(separator: "&") {
      let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = sides.count > 1 ? try decoded(sides[1], plusIsSpace: true) : ""
      items.append((try decoded(sides[0], plusIsSpace: true), value))
    }
    return items
  }

  /// The part from the path on.
  private static func origin(
    _ text: String, method: String, authority: inout String?
  ) throws(HTTPParseFailure) -> Substring {
    if text.hasPrefix("/") || (text == "*" && method == "OPTIONS") { return text[...] }
    guard text.lowercased().hasPrefix("http://") else {
      throw HTTPParseFailure(400, "the request target is not a path")
    }
    let rest = text.dropFirst("http://".count)
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    authority = String(rest[..<end])
    guard end < rest.endIndex else { return "/" }
    return rest[end] == "/" ? rest[end...] : "/" + rest[end...]
  }

  private static func decoded(
    _ text: Substring, plusIsSpace: Bool
  ) throws(HTTPParseFailure) -> String {
    let bytes = text.utf8.map { plusIsSpace && $0 == UInt8(ascii: "+") ? ASCII.space : $0 }
    guard let plain = PercentEncoding.decode(bytes) else {
      throw HTTPParseFailure(400, "the request target has % without two hexadecimal digits")
    }
    guard let decoded = String(validating: plain, as: UTF8.self) else {
      throw HTTPParseFailure(400, "the request target is not UTF-8 once decoded")
    }
    return decoded
  }
}

/// Puts requests together from a client's bytes; no I/O.
public struct HTTPRequestParser: ~Copyable {
  public enum Event {
    /// The client waits for `100 Continue` before it sends the body.
    case wantsContinue
    case request(HTTPRequest)
  }

  private let remoteAddress: SocketAddress
  private let localPort: UInt16
  private let isOfProxy: Bool
  private let limits: HTTPLimits
  private let bodyLimit: ((HTTPRequest) -> Int)?
  private var decoder: HTTPMessageDecoder
  private var pending: HTTPRequest?

  /// `isOfProxy`: whoever reads the requests knows what to do with CONNECT. `bodyLimit` is asked how many bytes of body a request
  /// may have that may have more than `limits` say; it gets the request without its body.
  public init(
    limits: HTTPLimits, remoteAddress: SocketAddress, localPort: UInt16, isOfProxy: Bool = false,
    bodyLimit: ((HTTPRequest) -> Int)? = nil
  ) {
    (self.remoteAddress, self.localPort, self.isOfProxy) = (remoteAddress, localPort, isOfProxy)
    (self.limits, self.bodyLimit) = (limits, bodyLimit)
    decoder = HTTPMessageDecoder(limits: limits)
  }

  /// Bytes that wait to be parsed.
  var waiting: Int { decoder.waiting }
  /// Bytes held for them and for the body of a request that is not whole.
  var heldBytes: Int { decoder.heldBytes + (pending?.body.capacity ?? 0) }
  /// Whether a request has begun and is not whole.
  var isInside: Bool { decoder.isInside }

  public mutating func receive(_ bytes: Span<UInt8>) { decoder.receive(bytes) }

  /// The next event; nil when more bytes are needed.
  public mutating func next() throws(HTTPParseFailure) -> Event? {
    while let event = try decoder.next() {
      switch event {
      case .head(let head):
        pending = try begin(head)
        if try expectsContinue(head) { return .wantsContinue }
      case .body(let piece): pending?.body.append(contentsOf: piece)
      case .end:
        guard let request = pending else { continue }
        pending = nil
        return .request(request)
      }
    }
    return nil
  }

  private mutating func begin(_ head: HTTPHead) throws(HTTPParseFailure) -> HTTPRequest {
    let line = head.startLine.split(separator: " ", omittingEmptySubsequences: false)
    guard line.count == 3, !line[0].isEmpty, line[0].utf8.allSatisfy(ASCII.isToken) else {
      throw HTTPParseFailure(400, "the first line is not \"method target version\"")
    }
    guard line[2] == "HTTP/1.1" || line[2] == "HTTP/1.0" else {
      let isHTTP = line[2].hasPrefix("HTTP/")
      throw HTTPParseFailure(isHTTP ? 505 : 400, "this port speaks HTTP/1.1 only, without TLS")
    }
    let method = String(line[0])
    let target = try HTTPTarget(String(line[1]), method: method, isOfProxy: isOfProxy)
    var request = HTTPRequest(
      method, target, try Self.fields(head, target, isConnect: method == "CONNECT"), [], remoteAddress,
      localPort)
    request.isVersion10 = line[2] == "HTTP/1.0"
    let length = try HTTPBodyLength(head.fields)
    guard method != "CONNECT" || length == .unsaid || length == .fixed(0) else {
      throw HTTPParseFailure(400, "CONNECT has no body (RFC 9110 9.3.6)")
    }
    guard !request.isVersion10 || length != .chunked else {
      throw HTTPParseFailure(400, "HTTP/1.0 has no chunked bodies")
    }
    try decoder.expectBody(length == .unsaid ? .fixed(0) : length, limit: limit(request, length))
    return request
  }

  /// nil where what is usual will do.
  private func limit(_ request: HTTPRequest, _ length: HTTPBodyLength) -> Int? {
    switch length {
    case .unsaid: nil
    case .fixed(let count): count > limits.body ? bodyLimit?(request) : nil
    case .chunked: bodyLimit?(request)
    }
  }

  /// The fields, with exactly one Host, which HTTP/1.1 demands (RFC 9112 3.2). CONNECT says it in its target, and some clients
  /// leave the field out.
  private static func fields(
    _ head: HTTPHead, _ target: HTTPTarget, isConnect: Bool
  ) throws(HTTPParseFailure) -> [HTTPField] {
    let hosts = head.fields.all(named: "host")
    let mayLackHost = isConnect || head.startLine.hasSuffix("HTTP/1.0")
    guard hosts.count == 1 || (hosts.isEmpty && mayLackHost) else {
      throw HTTPParseFailure(400, "there must be one Host field, and there are \(hosts.count)")
    }
    guard let authority = target.authority else { return head.fields }
    return head.fields.filter { !$0.isNamed("host") } + [HTTPField("Host", authority)]
  }

  private func expectsContinue(_ head: HTTPHead) throws(HTTPParseFailure) -> Bool {
    guard let expectation = head.fields.first(named: "expect") else { return false }
    guard expectation.lowercased() == "100-continue" else {
      throw HTTPParseFailure(417, "the only expectation known here is 100-continue")
    }
    return decoder.waiting == 0
  }
}
