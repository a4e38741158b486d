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
      case .end, .lost: break
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
      case .end, .lost: break
      }
      return true
    }
    return answer
  }

  /// Turns a loop of its own until the answer is whole, or `take` has enough.
  private func exchange(
    _ method: String, _ target: String, _ fields: [HTTPField], _ body: [UInt8], refreshesDeadline: Bool,
    _ take: (HTTPCall.Event) throws -> Bool
  ) throws {
    guard let loop = EventLoop() else { throw SocketError.last("connect to", address.description) }
    let hasBody = !body.isEmpty || method == "POST" || method == "PUT"
    let request = HTTPFraming.request(
      method, target, [HTTPField("Host", "\(address)"), HTTPField("Connection", "close")] + fields,
      body: hasBody ? body : nil)
    var (events, isOverdue): ([HTTPCall.Event], Bool) = ([], false)
    let call = try HTTPCall(loop: loop, to: address, request, limits: limits, isHead: method == "HEAD") {
      events.append($0)
    }
    defer { call.end() }
    let alarm = LoopEvent(timerOn: loop) { isOverdue = true }
    alarm.start(afterNanoseconds: timeout)
    while !isOverdue {
      loop.runTurn()
      if refreshesDeadline, !events.isEmpty { alarm.start(afterNanoseconds: timeout) }
      for event in events {
        if case .end = event { return }
        if case .lost(let loss) = event { throw failure(loss) }
        guard try take(event) else { return }
      }
      events = []
    }
    throw Failure(code: .timeout, description: "\(address) did not answer in time")
  }

  private func failure(_ loss: HTTPCall.Loss) -> any Error {
    switch loss {
    case .unreachable(let why):
      SocketError(operation: "connect to", address: address.description, sentence: why)
    case .badAnswer: Failure(code: .badAnswer, description: "\(address) sent \(loss)")
    case .ended:
      Failure(code: .disconnected, description: "\(address) ended the connection within its answer")
    case .broken(let reason):
      Failure(code: .disconnected, description: "\(address) broke the connection: \(reason)")
    }
  }
}
