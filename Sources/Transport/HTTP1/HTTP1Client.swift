import Platform

/// A small blocking client, for our own commands. One connection a request; not for use on the loop's thread.
public struct HTTP1Client: Sendable {
  /// What goes wrong after the connection is made.
  public struct Failure: Error, Equatable, CustomStringConvertible, Sendable {
    public enum Code: Sendable { case timeout, disconnected, badAnswer }
    public var code: Code
    public var description: String

    public static func == (left: Failure, right: Failure) -> Bool { left.code == right.code }
  }

  /// Where the server is.
  public var address: SocketAddress
  /// For the whole exchange, in nanoseconds; for a stream, between two pieces.
  public var timeout: Int64
  /// Largest answer taken; what a list of a full history may reach.
  public var limits: HTTPLimits

  public init(_ address: SocketAddress, timeout: Int64 = 10_000_000_000) {
    (self.address, self.timeout) = (address, timeout)
    limits = HTTPLimits()
    limits.body = 1 << 30
  }

  /// Sends a request and reads its answer. Throws `SocketError` (naming host and port) when nobody listens, and
  /// `Failure` when the answer does not come or is not HTTP.
  public func send(
    _ method: String, _ target: String, fields: [HTTPField] = [], body: [UInt8] = []
  ) throws -> HTTPResponse {
    var answer: HTTPResponse?
    try exchange(method, target, fields, body, refreshesDeadline: false) { event in
      switch event {
      case .head(let head): answer = head
      case .piece(let bytes): answer?.body.append(contentsOf: bytes)
      }
      return true
    }
    guard let answer else { throw Failure(code: .badAnswer, description: "\(address) sent no answer") }
    return answer
  }

  /// Reads an answer that has no end. `body` gets each piece and says whether to go on; anything but status 200 is
  /// returned whole and not streamed.
  public func stream(
    _ target: String, fields: [HTTPField] = [], _ body: ([UInt8]) throws -> Bool
  ) throws -> HTTPResponse {
    var answer = HTTPResponse(status: 0)
    try exchange("GET", target, fields, [], refreshesDeadline: true) { event in
      switch event {
      case .head(let head): answer = head
      case .piece(let bytes) where answer.status == 200: return try body(bytes)
      case .piece(let bytes): answer.body.append(contentsOf: bytes)
      }
      return true
    }
    return answer
  }

  private enum Event {
    case head(HTTPResponse)
    case piece([UInt8])
  }

  private func exchange(
    _ method: String, _ target: String, _ fields: [HTTPField], _ body: [UInt8], refreshesDeadline: Bool,
    _ take: (Event) throws -> Bool
  ) throws {
    var socket = try BlockingSocket(address, timeout: timeout)
    defer { socket.close() }
    try socket.send(request(method, target, fields, body))
    var parser = HTTPResponseParser(limits: limits, isAnswerToHead: method == "HEAD")
    while true {
      do {
        while let event = try parser.next() {
          switch event {
          case .head(let response): guard try take(.head(response)) else { return }
          case .piece(let bytes): guard try take(.piece(bytes)) else { return }
          case .end: return
          }
        }
      } catch let failure as HTTPParseFailure {
        throw Failure(code: .badAnswer, description: "\(address) sent a bad answer: \(failure)")
      }
      if refreshesDeadline { socket.refreshDeadline(timeout) }
      guard try socket.receive({ parser.receive($0) }) else { return try end(parser) }
    }
  }

  private func end(_ parser: borrowing HTTPResponseParser) throws {
    guard parser.mayEnd else {
      throw Failure(code: .disconnected, description: "\(address) ended the connection within its answer")
    }
  }

  private func request(_ method: String, _ target: String, _ fields: [HTTPField], _ body: [UInt8]) -> [UInt8]
  {
    var text = "\(method) \(target) HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n"
    for field in fields { text += "\(field.name): \(field.value)\r\n" }
    if !body.isEmpty || method == "POST" || method == "PUT" { text += "Content-Length: \(body.count)\r\n" }
    return Array((text + "\r\n").utf8) + body
  }
}
