import Platform
import Testing

import Transport

@Suite("One request over HTTP/1.1")
struct HTTPCallTests {
  /// A server's socket, to be used while nobody waits.
  private final class Door {
    private let listening: Int32
    let address: SocketAddress

    init() throws {
      listening = try SocketCalls.listen(SocketAddress(host: "127.0.0.1", port: 0), backlog: 1)
      address = SocketAddress.of(listening, peer: false)
    }

    deinit { SocketCalls.close(listening) }

    /// Says so to the client who has connected, and resets without having read anything.
    func reset(after answer: String) throws {
      let descriptor = try #require(SocketCalls.accept(listening))
      let bytes = Array(answer.utf8)
      let sent = SocketCalls.send(descriptor, bytes.span)
      #expect(sent == bytes.count)
      SocketCalls.setResetOnClose(descriptor)
      SocketCalls.close(descriptor)
    }
  }

  /// What a client hears whose server answers and resets between the connecting and the first byte of the request.
  private func events(of answer: String) throws -> [String] {
    let (loop, door) = (try #require(EventLoop()), try Door())
    let url = try #require(WebAddress("http://\(door.address)/"))
    var (events, failure): ([String], (any Error)?) = ([], nil)
    let call = try HTTPCall(
      loop: loop, posting: [UInt8](repeating: 7, count: 4 << 20), ofType: "text/plain", to: url,
      at: door.address, context: nil, answerLimit: 1000
    ) { event in
      switch event {
      case .head(let head): events.append("\(head.status)")
      case .piece(let bytes): events.append(String(decoding: bytes, as: UTF8.self))
      case .end: events.append("end")
      case .lost: events.append("lost")
      }
    }
    var hasReset = false
    // Behind this hook the request is written.
    loop.atTurnEnd {
      guard call.wasConnected, !hasReset else { return }
      hasReset = true
      do { try door.reset(after: answer) } catch { failure = error }
    }
    while failure == nil, events.last != "end", events.last != "lost" { loop.runTurn() }
    if let failure { throw failure }
    return events
  }

  @Test(
    "an answer that came before the request was sent is heard, though the server has reset the connection")
  func early() throws {
    let whole = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nless"
    #expect(try events(of: whole) == ["413", "less", "end"])
  }

  @Test("an answer that is not whole is lost with the connection")
  func cut() throws {
    let part = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nle"
    #expect(try events(of: part).last == "lost")
    #expect(try events(of: "") == ["lost"])
  }
}
