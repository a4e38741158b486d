import Platform

/// Puts requests together from a client's bytes; no I/O.
package struct HTTPRequestParser: ~Copyable {
  package enum Event {
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
  package init(
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

  package mutating func receive(_ bytes: UnsafeRawBufferPointer) { decoder.receive(bytes) }

  /// The next event; nil when more bytes are needed.
  package mutating func next() throws(HTTPParseFailure) -> Event? {
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
