import Foundation
import LegacyWire
import Platform
import PushModel
import TestSupport
import Testing

import Credentials
import Emulator
import Transport

extension LiveTests {
  @Suite("Certificates on the gateway and feedback ports")
  struct ProviderCertificateTests {
    private static let listeners = ["gateway", "feedback"]

    /// What a client hears that does not get through the handshake.
    private func refusal(
      _ harness: EmulatorHarness, _ listener: String, _ certificate: ClientCertificate?,
      context: TLSContext? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
      let client = try LegacyClient(harness, listener: listener, certificate, context: context)
      harness.turn(until: "the handshake fails", sourceLocation: sourceLocation) { client.recorder.hasEnded }
      #expect(!client.recorder.hasOpened, sourceLocation: sourceLocation)
      return client.recorder.endReason ?? ""
    }

    @Test("a bad certificate fails the handshake with the alert that says why", arguments: listeners)
    func refused(listener: String) throws {
      let harness = try EmulatorHarness()
      let foreign = try ClientCertificate.foreign(by: ClientCertificate.ca(), name: "foreign")
      let cases: [(ClientCertificate?, String)] = [
        (nil, "handshake failure"), (try .expired(), "certificate expired"),
        (try .notYetValid(), "bad certificate"), (foreign, "unknown ca"),
      ]
      for (certificate, alert) in cases {
        let reason = try refusal(harness, listener, certificate)
        #expect(reason.contains(alert), "\(reason)")
      }
      harness.turn(until: "nothing is left open") { harness.connections(listener).isEmpty }
    }

    @Test("the emulator's clock decides whether a certificate has expired")
    func clock() throws {
      let harness = try EmulatorHarness()
      _ = try harness.provider()
      harness.clock.advance(nanoseconds: 396 * 86_400 * 1_000_000_000)
      #expect(try refusal(harness, "gateway", .app()).contains("certificate expired"))
      harness.clock.reset()
      harness.clock.advance(nanoseconds: -2 * 86_400 * 1_000_000_000)
      #expect(try refusal(harness, "gateway", .app()).contains("bad certificate"))
    }

    @Test("lenient mode lets in whoever names a topic, but not somebody without a certificate")
    func lenient() throws {
      let harness = try EmulatorHarness { $0.credentials.isLenient = true }
      let token = try harness.offlineToken()
      let foreign = try ClientCertificate.foreign(by: ClientCertificate.ca(), name: "foreign")
      let certificates = [
        try .expired(), try .notYetValid(), foreign, try ClientCertificate.withoutEnvironment(),
      ]
      for (index, certificate) in certificates.enumerated() {
        let client = try harness.provider(certificate)
        client.send(Frames.full(token, id: 1))
        harness.turn(until: "it is taken") { harness.broker.counters.accepted == UInt64(index + 1) }
        let noted = harness.broker.journal.detail(UInt64(index + 1))?.explanation ?? ""
        #expect(noted.hasPrefix("strict would refuse the certificate: "), "\(noted)")
      }
      let good = try harness.provider()
      good.send(Frames.full(token, id: 1))
      harness.turn(until: "it is taken") { harness.broker.counters.accepted == 5 }
      #expect(harness.broker.journal.detail(5) == nil)
      #expect(try refusal(harness, "gateway", nil).contains("handshake failure"))
    }

    @Test("a certificate of another authority is accepted as soon as that authority lies in trust/")
    func trust() throws {
      let folder = ScratchFolder()
      let certs = folder.path + "/certs"
      try FileManager.default.copyItem(atPath: Site.path(), toPath: certs)
      let harness = try EmulatorHarness(certs: certs)
      let token = try harness.offlineToken()
      let authority = try ClientCertificate.ca()
      let certificate = try ClientCertificate.foreign(by: authority, name: "trusted")
      #expect(try refusal(harness, "gateway", certificate).contains("unknown ca"))
      try Data(authority.certificate.pem()).write(to: URL(filePath: certs + "/trust/theirs.pem"))
      let client = try harness.provider(certificate)
      client.send(Frames.full(token, id: 1))
      harness.turn(until: "it is taken") { harness.broker.counters.accepted == 1 }
    }

    @Test("a certificate for the other environment passes the handshake and is then closed without a word")
    func otherEnvironment() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      for listener in Self.listeners {
        let cases: [(ClientCertificate, String?)] = [
          (try .sandbox(), "\(listener).push.apple.com"),
          (try .production(), "\(listener).sandbox.push.apple.com"),
          (try .production(), nil), (try .withoutEnvironment(), nil),
        ]
        for (certificate, name) in cases {
          let client = try LegacyClient(harness, listener: listener, certificate, serverName: name)
          try client.open()
          client.send(Frames.full(token, id: 1))
          #expect(client.readToEnd().isEmpty)
        }
      }
      #expect(harness.broker.counters.received == 0)
    }

    @Test("the server name that the client asks for decides the environment, else the operator")
    func environments() throws {
      for environment in Environment.allCases {
        let harness = try EmulatorHarness { $0.environment = environment }
        let sandbox = try harness.offlineToken(serverName: "courier.sandbox.push.apple.com")
        let production = try harness.offlineToken(serverName: "courier.push.apple.com")
        #expect(sandbox != production)
        let cases: [(String?, Environment)] = [
          ("gateway.sandbox.push.apple.com", .sandbox), ("gateway.push.apple.com", .production),
          ("localhost", environment), (nil, environment),
        ]
        for (name, expected) in cases {
          let (good, bad) = expected == .sandbox ? (sandbox, production) : (production, sandbox)
          let client = try harness.provider(.app(), serverName: name)
          client.send(Frames.full(good, id: 1) + Frames.full(bad, id: 2))
          #expect(client.readToEnd() == bytes("080800000002"), "\(name ?? "no name") at \(environment)")
        }
      }
    }

    @Test("a client that offers TLS 1.3 gets 1.2", arguments: listeners)
    func versionTwo(listener: String) throws {
      let harness = try EmulatorHarness()
      let client = try LegacyClient(harness, listener: listener, .app())
      harness.turn(until: "TLS is up") { client.recorder.hasOpened }
      #expect(client.connection.tlsVersion == "TLSv1.2")
    }

    @Test("TLS 1.0 and 1.1 are refused, and accepted with legacy TLS", arguments: listeners)
    func oldVersions(listener: String) throws {
      for version in [TLSPolicy.Version.tls10, .tls11] {
        let strict = try EmulatorHarness()
        let old = try strict.context(.app(), from: version, to: version, oldCiphers: true)
        #expect(try refusal(strict, listener, nil, context: old).contains("protocol version"))

        let lax = try EmulatorHarness { $0.listeners.legacyTLS = true }
        let token = try lax.offlineToken()
        let context = try lax.context(.app(), from: version, to: version, oldCiphers: true)
        let client = try LegacyClient(lax, listener: listener, nil, context: context)
        try client.open()
        #expect(client.connection.tlsVersion == (version == .tls10 ? "TLSv1" : "TLSv1.1"))
        guard listener == "gateway" else { continue }
        client.send(Frames.full(token, id: 1))
        lax.turn(until: "it is taken") { lax.broker.counters.accepted == 1 }
      }
    }

    @Test("legacy TLS opens old doors on gateway and feedback only")
    func onlyThere() throws {
      let harness = try EmulatorHarness { $0.listeners.legacyTLS = true }
      let context = try harness.context(.app(), from: .tls10, to: .tls11, oldCiphers: true)
      for listener in ["provider", "courier"] {
        #expect(try refusal(harness, listener, nil, context: context).contains("protocol version"))
      }
    }

    @Test("a peer that does not speak TLS is dropped, and so is one that leaves in the handshake")
    func noTLS() throws {
      let harness = try EmulatorHarness()
      for listener in ["gateway", "feedback", "provider", "courier"] {
        for text in ["GET / HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}", ""] {
          let socket = try RawSocket(harness.address(listener))
          harness.turn(until: "it is accepted") { !harness.connections(listener).isEmpty }
          socket.send(Array(text.utf8))
          harness.settle()
          socket.endSending()
          harness.turn(until: "it is gone") { harness.connections(listener).isEmpty }
        }
      }
    }
  }
}
