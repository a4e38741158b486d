import COpenSSL
import Credentials
import Foundation
import Testing

@testable import Transport

extension LiveTests {
  /// Who gets which of the two (`Documentation/credentials.md#the-server-certificate`).
  @Suite("Server certificates of the listeners")
  struct ServerCertificateTests {
    static let listeners = ["gateway", "feedback", "provider", "courier"]

    @Test("a client of today gets the P-256 certificate", arguments: listeners)
    func elliptic(listener: String) throws {
      let harness = try EmulatorHarness()
      for newest in [TLSPolicy.Version.tls12, .tls13] {
        let context = try harness.context(.app(), to: newest)
        #expect(try certificate(harness, listener, context) == file("server-ec.pem", harness), "\(newest)")
      }
    }

    @Test("a client that knows cipher suites with RSA alone gets the RSA certificate", arguments: listeners)
    func suites(listener: String) throws {
      for suites in ["aRSA", "kRSA"] {
        let harness = try EmulatorHarness()
        let context = try harness.context(.app(), to: .tls12)
        try #require(SSL_CTX_set_cipher_list(context.pointer, suites) == 1)
        #expect(try certificate(harness, listener, context) == file("server.pem", harness), "\(suites)")
      }
    }

    @Test("a client that knows signatures with RSA alone gets the RSA certificate", arguments: listeners)
    func signatures(listener: String) throws {
      for newest in [TLSPolicy.Version.tls12, .tls13] {
        let harness = try EmulatorHarness()
        let context = try harness.context(.app(), to: newest)
        try setSignatures("RSA-PSS+SHA256:RSA+SHA256", context)
        #expect(try certificate(harness, listener, context) == file("server.pem", harness), "\(newest)")
      }
    }

    @Test("of two that a client knows it gets the one that it names first")
    func order() throws {
      for (signatures, name) in [
        ("RSA-PSS+SHA256:ECDSA+SHA256", "server.pem"), ("ECDSA+SHA256:RSA-PSS+SHA256", "server-ec.pem"),
      ] {
        let harness = try EmulatorHarness()
        let context = try harness.context(from: .tls13)
        try setSignatures(signatures, context)
        #expect(try certificate(harness, "provider", context) == file(name, harness))
      }
    }

    @Test("a client without the curve gets the RSA certificate")
    func curve() throws {
      let harness = try EmulatorHarness()
      let context = try harness.context(.app(), to: .tls12)
      try #require(set(SSL_CTRL_SET_GROUPS_LIST, "P-384", context) == 1)
      #expect(try certificate(harness, "gateway", context) == file("server.pem", harness))
    }

    @Test("TLS 1.0 and 1.1 without ECDSA get the RSA certificate", arguments: ["gateway", "feedback"])
    func old(listener: String) throws {
      for version in [TLSPolicy.Version.tls10, .tls11] {
        for suites in ["aRSA:@SECLEVEL=0", "kRSA:@SECLEVEL=0"] {
          let harness = try EmulatorHarness { $0.listeners.legacyTLS = true }
          let context = try harness.context(.app(), from: version, to: version, oldCiphers: true)
          try #require(SSL_CTX_set_cipher_list(context.pointer, suites) == 1)
          #expect(try certificate(harness, listener, context) == file("server.pem", harness))
        }
      }
    }

    // MARK: Support

    /// What the server shows to such a client, which believes our root alone.
    private func certificate(
      _ harness: EmulatorHarness, _ listener: String, _ context: TLSContext,
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [UInt8]? {
      let client = try LegacyClient(
        harness, listener: listener, nil, serverName: "localhost", context: context)
      var shown: [UInt8]?
      client.recorder.onOpened = { shown = $0.peerCertificate }
      try client.open(sourceLocation: sourceLocation)
      return shown
    }

    private func file(_ name: String, _ harness: EmulatorHarness) throws -> [UInt8] {
      let pem = try Data(contentsOf: URL(filePath: harness.certs + "/" + name))
      return try #require(Certificate.all(pem: Array(pem)).first).der
    }

    private func setSignatures(_ list: String, _ context: TLSContext) throws {
      try #require(set(SSL_CTRL_SET_SIGALGS_LIST, list, context) == 1)
    }

    private func set(_ what: Int32, _ list: String, _ context: TLSContext) -> Int {
      list.withCString { SSL_CTX_ctrl(context.pointer, what, 0, UnsafeMutableRawPointer(mutating: $0)) }
    }
  }
}
