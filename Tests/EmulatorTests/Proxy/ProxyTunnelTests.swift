import Basics
import Platform
import Testing

import Emulator
@testable import Transport

extension LiveTests {
  /// Tunnels to hosts that the operator has named.
  @Suite("Tunnels of the proxy")
  struct ProxyTunnelTests {
    /// Port 1 of an address that is nobody's.
    private static let nobody = SocketAddress(host: "127.0.0.9", port: 1)
    private let harness: EmulatorHarness
    private let outside: Outside

    init() throws {
      let outside = try Outside()
      let harness = try EmulatorHarness {
        ($0.listeners.proxy, $0.listeners.proxyTunnels) = (.number(0), [outside.address, Self.nobody])
      }
      try outside.open(on: harness.loop)
      (self.harness, self.outside) = (harness, outside)
    }

    /// A server that is not ours, on the same loop.
    private final class Outside: ConnectionHandler {
      let address: SocketAddress
      private var listener: SocketListener?
      private(set) var connection: SocketConnection?
      private(set) var received: [UInt8] = []
      private(set) var peerHasEnded = false
      private(set) var hasEnded = false

      /// The emulator is told the port before its loop is there.
      init() throws {
        let host = SocketAddress(host: "127.0.0.9", port: 0)
        let other = try SocketListener(loop: try #require(EventLoop()), address: host, context: nil) { _ in
          Recorder()
        }
        address = other.address
        other.stopAccepting()
      }

      deinit { listener?.stopAccepting() }

      func open(on loop: EventLoop) throws {
        listener = try SocketListener(loop: loop, address: address, context: nil) { [unowned self] in
          connection = $0
          return self
        }
      }

      func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
        received.append(bytes)
      }
      func connectionPeerEnded(_ connection: SocketConnection) { peerHasEnded = true }
      func connectionClosed(_ connection: SocketConnection, reason: String) { hasEnded = true }
    }

    private func request(_ address: SocketAddress) -> [UInt8] {
      Array("CONNECT \(address) HTTP/1.1\r\nHost: \(address)\r\n\r\n".utf8)
    }

    /// A client with a tunnel to the outside.
    private func tunnel() throws -> RawSocket {
      let client = try RawSocket(try harness.address("proxy"))
      client.send(request(outside.address))
      harness.turn(until: "it is connected") { client.text.utf8.count >= 4 }
      #expect(client.text == "HTTP/1.1 200 Connection established\r\n\r\n")
      client.forget()
      harness.turn(until: "the other end is there") { outside.connection != nil }
      return client
    }

    /// Has the client send until nothing more is taken.
    private func fill(_ client: RawSocket, _ connection: SocketConnection) {
      let bytes = [UInt8](repeating: 7, count: 1 << 16)
      harness.turn(until: "nothing more is read") {
        client.send(bytes)
        harness.settle()
        return connection.isPaused
      }
    }

    private var hasConnections: Bool { harness.emulator.proxy?.openConnections.isEmpty == false }

    @Test("what one end says the other hears, and what is more than fits waits at its sender")
    func passes() throws {
      let client = try tunnel()
      client.send(Array("hello".utf8))
      harness.turn(until: "it is there") { outside.received == Array("hello".utf8) }
      let answer = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
      let server = try #require(outside.connection)
      server.setSendBuffer(4096)
      try #require(harness.emulator.proxy?.openConnections.first).connection.setSendBuffer(4096)
      server.send(answer)
      // The client reads nothing: the tunnel takes no more than its limit.
      harness.turn(milliseconds: 200)
      #expect(server.queuedBytes > 500_000)
      harness.turn(until: "all of it has come") {
        client.receive()
        return client.received.count >= answer.count
      }
      #expect(client.received == answer)
    }

    @Test("an end that has said its last still hears the other's last")
    func halfClosed() throws {
      let client = try tunnel()
      client.send(Array("question".utf8))
      client.endSending()
      harness.turn(until: "the server knows") { outside.peerHasEnded }
      #expect(outside.received == Array("question".utf8))
      let server = try #require(outside.connection)
      server.send(Array("answer".utf8))
      server.close()
      #expect(harness.readToEnd(client, until: "the client has it all") == "answer")
      harness.turn(until: "nothing is left") { !hasConnections && outside.hasEnded }
    }

    @Test("an end that is gone takes the other with it")
    func gone() throws {
      var client: RawSocket? = try tunnel()
      _ = client
      client = nil
      harness.turn(until: "the server hears of it") { outside.peerHasEnded || outside.hasEnded }
      outside.connection?.abort("over", reset: true)
      harness.turn(until: "nothing is left") { !hasConnections }
      let second = try tunnel()
      outside.connection?.abort("gone", reset: true)
      harness.turn(until: "the client hears of it") { second.receive() }
      harness.turn(until: "nothing is left") { !hasConnections }
    }

    @Test("a tunnel in which nothing moves ends")
    func idle() throws {
      let client = try tunnel()
      let connection = try #require(harness.emulator.proxy?.openConnections.first?.connection)
      let now = SystemClock.now()
      connection.endIfOverdue(now.adding(nanoseconds: SocketTunnel.idleLimit - 5_000_000_000))
      #expect(connection.isOpen)
      connection.endIfOverdue(now.adding(nanoseconds: SocketTunnel.idleLimit + 5_000_000_000))
      #expect(!connection.isOpen)
      harness.turn(until: "the client hears of it") { client.receive() }
    }

    @Test("a tunnel whose server does not read ends sooner, but not while it takes anything")
    func stalled() throws {
      let client = try tunnel()
      let connection = try #require(harness.emulator.proxy?.openConnections.first?.connection)
      let server = try #require(outside.connection)
      server.setPaused(true)
      fill(client, connection)
      let later = SystemClock.now().adding(nanoseconds: SocketTunnel.stallLimit + 5_000_000_000)
      let before = outside.received.count
      server.setPaused(false)
      harness.turn(until: "something moves") { outside.received.count > before }
      connection.endIfOverdue(later)
      #expect(connection.isOpen)
      server.setPaused(true)
      fill(client, connection)
      connection.endIfOverdue(later)
      connection.endIfOverdue(later)
      #expect(!connection.isOpen)
    }

    @Test("a server that is not there is told of")
    func nobody() throws {
      let client = try RawSocket(try harness.address("proxy"))
      client.send(request(Self.nobody))
      let text = harness.readToEnd(client, until: "it is told")
      #expect(text.hasPrefix("HTTP/1.1 502 ") && text.contains("127.0.0.9:1"), "\(text)")
    }

    @Test("the orderly end ends tunnels")
    func shutDown() throws {
      let client = try tunnel()
      harness.stop()
      #expect(client.receive())
    }
  }
}
