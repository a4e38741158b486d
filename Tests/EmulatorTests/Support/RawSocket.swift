import CLibrary
import Platform
import Testing

/// A TCP connection without TLS, for peers that misbehave.
final class RawSocket {
  private let descriptor: Int32
  /// What has come, as far as it was looked for.
  private(set) var received: [UInt8] = []
  private(set) var hasEnded = false
  /// Whether nobody listens there.
  let isRefused: Bool

  init(_ address: SocketAddress) throws {
    do { descriptor = try SocketCalls.connect(address) } catch let error as SocketError
      where error.code == ECONNREFUSED
    {
      (descriptor, isRefused) = (-1, true)
      return
    }
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    try #require(poll(&entry, 1, 5000) == 1)
    isRefused = SocketCalls.pendingError(descriptor) == ECONNREFUSED
  }

  deinit { SocketCalls.close(descriptor) }

  func send(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    _ = SocketCalls.send(descriptor, bytes.span)
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Takes what is there, without waiting; answers whether the stream has ended.
  @discardableResult
  func receive() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = SocketCalls.receive(descriptor, into: &buffer)
      guard count > 0 else {
        hasEnded = hasEnded || count == 0 || !SocketCalls.isUnready
        return hasEnded
      }
      received += buffer[..<count]
    }
  }

  /// All that has come so far.
  var text: String {
    receive()
    return String(decoding: received, as: UTF8.self)
  }

  func forget() { received = [] }

  func endSending() { SocketCalls.endOutput(descriptor) }
}

extension EmulatorHarness {
  /// Who has asked the console for one answer.
  func begin(_ method: String, _ path: String, _ body: String = "", fields: String = "") throws -> RawSocket {
    let socket = try RawSocket(address("console"))
    let type = body.isEmpty ? "" : "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
    socket.send(
      "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)\(type)\r\n\(body)")
    return socket
  }

  /// Who has asked the console for a stream.
  func beginStream(_ target: String) throws -> RawSocket {
    let socket = try RawSocket(address("console"))
    socket.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return socket
  }

  /// All that comes until the end.
  func readToEnd(
    _ socket: RawSocket, until what: Comment = "it is answered",
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> String {
    turn(until: what, sourceLocation: sourceLocation) { socket.receive() }
    return socket.text
  }

  /// Asks the console; answers what came until the end.
  func ask(_ method: String, _ path: String, _ body: String = "", fields: String = "") throws -> String {
    readToEnd(try begin(method, path, body, fields: fields), until: "\(path) is answered")
  }
}
