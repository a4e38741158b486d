import Testing

import APNSEmulatorTesting
import Emulator

@Suite("Options of an emulator inside a test")
struct EmulatorOptionsTests {
  private static func resolved(_ change: (inout EmulatorOptions) -> Void = { _ in }) throws -> ServeOptions {
    var options = EmulatorOptions(in: "/folder")
    change(&options)
    return try options.resolved()
  }

  @Test("without any, all is as serve has it, but for ports, files and the proxy")
  func standard() throws {
    var expected = ServeOptions()
    expected.listeners = ListenerOptions(protocols: .number(0))
    expected.listeners.console = .number(0)
    (expected.credentials.certs, expected.log.file) = ("/folder/certs", "/folder/log")
    (expected.files.data, expected.files.isEphemeral) = ("/folder/data", true)
    #expect(String(reflecting: try Self.resolved()) == String(reflecting: expected))
  }

  @Test(
    "each changes what the emulator is told",
    arguments: [
      { $0.bind = "::1" }, { $0.gatewayPort = .off }, { $0.feedbackPort = .off }, { $0.providerPort = .off },
      { $0.courierPort = .off }, { $0.consolePort = .off }, { $0.proxyPort = .number(0) },
      { $0.proxyTunnels = [SocketAddress(host: "h", port: 1)] }, { $0.legacyTLS = true }, { $0.certs = "c" },
      { $0.data = "d" }, { $0.isEphemeral = false }, { $0.portsFile = "p" }, { $0.seedData = "s" },
      { $0.capture = CaptureOptions(path: "c") }, { $0.logFile = nil }, { $0.logLevel = .debug },
      { $0.environment = .production }, { $0.isLenient = true }, { $0.tokenSeed = "t" }, { $0.seed = 1 },
      { $0.allowedHosts = ["h"] }, { $0.access = "a" },
      { $0.forward = ForwardOptions(target: SocketAddress(host: "h", port: 1)) }, { $0.history = 1 },
      { $0.adoptsTokens = true }, { $0.goneGraceSeconds = 1 }, { $0.tokenLifetimeSeconds = 1 },
      { $0.tokenLengths = 1...2 }, { $0.payloadLimit = 1 }, { $0.forgetsIdentifierOfEmptyToken = false },
      { $0.explains = false }, { $0.throttlesRejections = true }, { $0.floodLimit = 1 },
      { $0.documentedReasons = true },
      { $0.idleSeconds = 1 }, { $0.tokensPerInterval = 1 }, { $0.documentedTokens = true },
      { $0.refusesUrgentBackground = false }, { $0.suffixMismatch = .invalidPushType },
      { $0.isPushTypeStrict = true }, { $0.withoutBroadcast = ["com.example.app"] }, { $0.hooks = ["cat"] },
      { $0.serve.provider.goAwayTimeout = 1 },
    ] as [@Sendable (inout EmulatorOptions) -> Void])
  func each(change: @Sendable (inout EmulatorOptions) -> Void) throws {
    #expect(String(reflecting: try Self.resolved(change)) != String(reflecting: try Self.resolved()))
  }

  @Test("a text that is no hook and one that is no topic are refused")
  func refused() {
    #expect(throws: APNSEmulatorError.self) { try Self.resolved { $0.hooks = ["https://"] } }
    #expect(throws: APNSEmulatorError.self) { try Self.resolved { $0.withoutBroadcast = ["no topic"] } }
  }
}
