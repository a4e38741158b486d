import Basics
import CLibrary
import Platform
import Testing

import Transport

/// A server and its clients on one thread: turns of the loop alternate with reads of the clients.
final class LiveServer {
  let loop: EventLoop
  let server: HTTPServer
  /// What the handler kept for later.
  final class Kept { var exchanges: [HTTPExchange] = [] }
  let kept = Kept()

  /// On a loop of its own unless told otherwise.
  init(
    _ limits: HTTPLimits = HTTPLimits(), on other: EventLoop? = nil,
    _ handler: @escaping (HTTPExchange, Kept) -> Void
  ) throws {
    loop = try other ?? #require(EventLoop())
    let kept = self.kept
    server = try HTTPServer(loop: loop, address: SocketAddress(host: "127.0.0.1", port: 0), limits: limits) {
      (exchange: HTTPExchange) in handler(exchange, kept)
    }
  }

  static func echo(_ limits: HTTPLimits = HTTPLimits(), on loop: EventLoop? = nil) throws -> LiveServer {
    try LiveServer(limits, on: loop) { exchange, _ in
      exchange.respond(HTTPResponse(text: "\(exchange.request.method) \(exchange.request.body.count)"))
    }
  }

  static func keeping(_ limits: HTTPLimits = HTTPLimits()) throws -> LiveServer {
    try LiveServer(limits) { exchange, kept in kept.exchanges.append(exchange) }
  }

  func connect() throws -> RawClient { try RawClient(server.address) }

  /// Runs turns until `condition` holds; false after five seconds.
  func turn(until condition: () -> Bool) -> Bool {
    let end = SystemClock.now().adding(nanoseconds: 5_000_000_000)
    while !condition() {
      guard SystemClock.now() < end else { return false }
      loop.runTurn(wait: false)
      _ = poll(nil, 0, 1)
    }
    return true
  }

  /// Runs turns until the client has received `count` whole answers (or, with nil, until the end of the stream).
  func receive(_ client: RawClient, until ready: (String) -> Bool) -> String {
    let arrived = turn {
      client.read()
      return ready(client.text) || client.isAtEnd
    }
    #expect(arrived, "nothing came: \(client.text)")
    return client.text
  }
}

/// A client that sends what it likes.
final class RawClient {
  private let descriptor: Int32
  private(set) var bytes: [UInt8] = []
  private(set) var isAtEnd = false
  private var isOpen = true

  init(_ address: SocketAddress) throws {
    descriptor = try SocketCalls.connect(address)
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    try #require(poll(&entry, 1, 5000) == 1)
  }

  deinit { close() }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Sends what the system takes at once; answers how much that was.
  @discardableResult
  func send(_ text: String) -> Int { SocketCalls.send(descriptor, Array(text.utf8).span) }

  func read() {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = SocketCalls.receive(descriptor, into: &buffer)
      guard count > 0 else {
        if count == 0 || !SocketCalls.isUnready { isAtEnd = true }
        return
      }
      bytes.append(contentsOf: buffer[..<count])
    }
  }

  func forget() { bytes = [] }

  func endSending() { SocketCalls.endOutput(descriptor) }

  func close(reset: Bool = false) {
    guard isOpen else { return }
    isOpen = false
    if reset { SocketCalls.setResetOnClose(descriptor) }
    SocketCalls.close(descriptor)
  }
}
