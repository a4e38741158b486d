import Basics
import Console
import Faults
import Foundation
import Platform
import Services
import TestSupport
import Testing

import Emulator
import Transport

extension LiveTests {
  /// Over real sockets; programs that know only Apple's names are in `Conformance/provider/test_proxy.py`.
  @Suite("The proxy")
  struct ProxyTests {
    private static let apple = "api.push.apple.com:443"

    /// A client that has sent a request, and what it got.
    private final class Client {
      let harness: EmulatorHarness
      let socket: RawSocket

      init(_ harness: EmulatorHarness, _ request: String = "") throws {
        self.harness = harness
        socket = try RawSocket(try harness.address("proxy"))
        socket.send(request)
      }

      /// What has come once `ready` holds; the rest is read later.
      func receive(until what: Comment, _ ready: (String) -> Bool) -> String {
        harness.turn(until: what) { ready(socket.text) || socket.hasEnded }
        return socket.text
      }
    }

    private static func connect(_ target: String, _ fields: String = "") -> String {
      "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\(fields)\r\n"
    }

    private func harness(_ configure: (inout ServeOptions) -> Void = { _ in }) throws -> EmulatorHarness {
      try EmulatorHarness {
        $0.listeners.proxy = .number(0)
        configure(&$0)
      }
    }

    private func answer(_ harness: EmulatorHarness, _ request: String) throws -> String {
      try Client(harness, request).receive(until: "it answers") { $0.contains("\r\n\r\n") }
    }

    @Test(
      "a client becomes one of the listener that it asked for, with the name that it asked for",
      arguments: [
        ("api.push.apple.com:443", "provider"), ("gateway.sandbox.push.apple.com:2195", "gateway"),
        ("feedback.push.apple.com:2196", "feedback"), ("3-courier.push.apple.com:5223", "courier"),
      ])
    func handedOver(target: String, listener: String) throws {
      let harness = try harness()
      let client = try Client(harness, Self.connect(target))
      let answer = client.receive(until: "it answers") { $0.hasSuffix("\r\n\r\n") }
      #expect(answer == "HTTP/1.1 200 Connection established\r\n\r\n")
      harness.settle()
      let connection = try #require(harness.connections(listener).first)
      #expect(connection.destination?.description == target)
      #expect(connection.requestedName == String(target.prefix { $0 != ":" }))
      #expect(harness.emulator.proxy?.openConnections.isEmpty == true)
      // From here on it is TLS: a ClientHello of one byte gets an alert.
      client.socket.forget()
      client.socket.send([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0])
      _ = client.receive(until: "the listener answers") { !$0.isEmpty }
      #expect(client.socket.received.first == 0x15)
    }

    @Test("what is shown of it names what it asked the proxy for")
    func shown() throws {
      let harness = try harness()
      let client = try Client(harness, Self.connect(Self.apple))
      _ = client.receive(until: "it answers") { $0.hasSuffix("\r\n\r\n") }
      let documents = harness.emulator.connections.all().map { $0() }
      #expect(documents.map(\.listener) == ["provider"])
      #expect(documents.map { $0.tls?.proxy } == [Self.apple])
    }

    @Test(
      "requests that lead nowhere get a sentence",
      arguments: [
        (connect("example.com:443"), 403, "example.com:443"),
        (connect("127.0.0.1:2197"), 403, "--proxy-tunnel"),
        (connect("[::1]:443"), 403, "[::1]:443"),
        // The target decides, whatever the fields say.
        ("CONNECT example.com:443 HTTP/1.1\r\nHost: api.push.apple.com:443\r\n\r\n", 403, "example.com"),
        ("CONNECT example.com:443 HTTP/1.1\r\n\r\n", 403, "example.com"),
        (connect("example.com:443", "X-Forwarded-Host: api.push.apple.com\r\n"), 403, "example.com"),
        (connect("api.push.apple.com:25"), 403, "443 or 2197"),
        (connect("api.push.apple.com"), 400, "a host and a port"),
        (connect("https://api.push.apple.com:443"), 403, "api.push.apple.com"),
        ("CONNECT /3/device HTTP/1.1\r\nHost: api.push.apple.com\r\n\r\n", 400, "a host and a port"),
        ("GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 405, "CONNECT"),
        (
          "POST http://api.push.apple.com/3/device/00 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
          405, "CONNECT"
        ),
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "CONNECT"),
        ("connect \(apple) HTTP/1.1\r\nHost: \(apple)\r\n\r\n", 400, "not a path"),
        ("CONNECT \(apple) HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "Host"),
        (connect(apple, "Content-Length: 3\r\n") + "abc", 400, "no body"),
        (connect(apple, "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n", 400, "no body"),
        (connect(apple) + "\u{16}\u{3}\u{1}", 400, "until it is answered"),
        (connect(apple) + connect(apple), 400, "until it is answered"),
      ])
    func refused(request: String, status: Int, word: String) throws {
      let harness = try harness()
      let answer = try Client(harness, request).receive(until: "it answers") { $0.hasSuffix("}") }
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
      #expect(answer.contains(word), "\(answer)")
      #expect(harness.connections("provider").isEmpty)
    }

    @Test(
      "clients that say less than they should are served",
      arguments: [
        "CONNECT \(apple) HTTP/1.0\r\n\r\n", "CONNECT \(apple) HTTP/1.1\r\n\r\n",
        "CONNECT \(apple) HTTP/1.1\r\nHost: api.push.apple.com\r\nConnection: close\r\n\r\n",
        connect(apple, "Content-Length: 0\r\nProxy-Connection: Keep-Alive\r\n"),
      ])
    func forgiven(request: String) throws {
      #expect(try answer(try harness(), request).hasPrefix("HTTP/1.1 200 Connection"))
    }

    @Test("a listener that is off, and one that is stopping, are told of")
    func closed() throws {
      let off = try harness { $0.listeners.provider = .off }
      #expect(try answer(off, Self.connect(Self.apple)).contains("--provider-port"))
      let stopping = try harness()
      stopping.emulator.listeners.stopAccepting()
      #expect(try answer(stopping, Self.connect(Self.apple)).hasPrefix("HTTP/1.1 503 "))
    }

    @Test("a client that goes before its answer leaves nothing behind")
    func goesEarly() throws {
      let harness = try harness()
      for _ in 0..<20 { _ = try Client(harness, Self.connect(Self.apple)) }
      harness.turn(until: "all have gone") {
        harness.emulator.proxy?.openConnections.isEmpty == true && harness.connections("provider").isEmpty
      }
    }

    @Test("the orderly end ends those who have not been led anywhere yet")
    func shutDown() throws {
      let harness = try harness()
      let client = try Client(harness)
      harness.turn(until: "it is there") { harness.emulator.proxy?.openConnections.count == 1 }
      harness.stop()
      #expect(client.socket.receive() && client.socket.received.isEmpty)
    }

    @Test(
      "a second emulator leaves the usual port to the first, and logs both; one that was told a port does not"
    )
    func takenPort() throws {
      let folder = ScratchFolder()
      let log = folder.path + "/log"
      let first = try harness()
      let port = try first.address("proxy").port
      let second = try harness {
        ($0.listeners.proxy, $0.log.file, $0.log.level) = (.preferred(port), log, .info)
      }
      let other = try second.address("proxy").port
      #expect(other != port)
      second.stop()
      let told = try String(contentsOfFile: log, encoding: .utf8)
      #expect(
        told.contains(
          "the proxy's default port is in use, so the proxy listens on another taken=\(port) port=\(other)\n"),
        "\(told)")
      let failure = #expect(throws: EmulatorError.self) {
        try self.harness { $0.listeners.proxy = .number(port) }
      }
      #expect(failure?.status == .portInUse)
    }

    @Test("a rule for new connections matches those that come by the proxy too")
    func faults() throws {
      let harness = try harness()
      var effects = FaultEffects()
      effects.refuses = true
      harness.emulator.faultEngine.set(FaultRule(name: "no", schedule: .always, effects: effects))
      let client = try Client(harness, Self.connect(Self.apple))
      harness.turn(until: "it is reset") { client.socket.receive() }
      #expect(client.socket.text.hasPrefix("HTTP/1.1 200 "))
    }
  }
}
