import Basics
import Console
import Credentials
import Emulator
import Platform
import PushModel
import Recorder
import Transport

/// An emulator for runs of a provider, and the files that the provider gets.
final class DrillEmulator {
  /// The app of all phones.
  static var topic: Topic {
    get throws {
      guard let topic = Topic("com.example.app") else { throw DrillError("the topic of drills is none") }
      return topic
    }
  }

  private static let ofProviders = ["gateway", "feedback", "provider"]
  /// How long connections may take to end, in nanoseconds: one that stands still hears of nothing.
  private static let endLimit: Int64 = 1_000_000_000

  let emulator: Emulator
  let topic: Topic
  let folder: DrillFolder
  let credentials: TemporaryCredentials
  private let signals: DrillSignals

  /// - Parameters:
  ///   - drills: what the console asks for runs; nil where it can't.
  ///   - change: makes the options those of another emulator than one for a single run.
  init(
    _ credentials: TemporaryCredentials, in folder: DrillFolder, _ signals: DrillSignals,
    drills: (any DrillBoard)? = nil, _ change: (inout ServeOptions) -> Void = { _ in }
  ) throws {
    (topic, self.credentials, self.folder, self.signals) = (try Self.topic, credentials, folder, signals)
    var options = Self.options(credentials, folder)
    change(&options)
    emulator = try Emulator(options: options, drills: drills)
    signals.listen(emulator)
    try emulator.start()
    try TrustBundle.write(
      emulator.ports.ca, in: emulator.ports.certs, given: ProcessEnvironment.variables["SSL_CERT_FILE"])
  }

  private static func options(_ credentials: TemporaryCredentials, _ folder: DrillFolder) -> ServeOptions {
    var options = ServeOptions()
    options.listeners = ListenerOptions(protocols: .number(0))
    (options.listeners.console, options.listeners.proxy) = (.number(0), .number(0))
    (options.credentials.certs, options.files.isEphemeral) = (credentials.certs, true)
    (options.seed, options.credentials.tokenSeed) = (1, "drill")
    (options.log.file, options.log.level) = (folder.log, .info)
    options.files.ports = folder.ports
    options.capture = CaptureOptions(path: folder.capture)
    return options
  }

  /// Throws what ends every run.
  func check() throws {
    try signals.check()
    if let failure = emulator.failure { throw failure }
  }

  /// Whether a provider is connected.
  var hasProviders: Bool { Self.ofProviders.contains { !connections(of: $0).isEmpty } }

  private func connections(of listener: String) -> [SocketConnection] {
    emulator.listeners[listener]?.openConnections ?? []
  }

  /// A provider's, on top of this process's own.
  func variables(usesProxy: Bool) throws -> [String: String] {
    let certificate = try credentials.certificate(topic, in: emulator.certs)
    let key = try credentials.tokenKey(in: emulator.certs)
    let own = [
      "TOKEN_FILE": folder.tokens, "TOPIC": topic.name, "CERT": certificate.certificate,
      "CERT_KEY": certificate.key, "P12": certificate.pkcs12, "KEY": key.key, "KEY_ID": key.keyId,
      "TEAM": TemporaryCredentials.team, "REPORT": folder.report,
    ]
    var variables = emulator.guestVariables.merging(usesProxy ? emulator.proxyVariables : [:]) { $1 }
    for (name, value) in own { variables["APNS_EMULATOR_\(name)"] = value }
    return variables
  }

  /// Forgets what earlier runs have left: no run depends on the one before, and nothing grows from run to run.
  func startOver() {
    emulator.broker.forgetDevices(now: emulator.clock.now())
    emulator.phones.forgetAll()
    emulator.tokenVerifier.forgetVerified()
    credentials.forgetIdentities()
    PathCalls.remove(folder.report)
  }

  /// Has a run begin without connections of providers, and with nothing to say of them. The fault is there already, as some connect again
  /// at once.
  func endProviders() throws {
    let old = Self.ofProviders.flatMap(connections)
    var left: [SocketConnection] {
      Self.ofProviders.flatMap(connections).filter { open in old.contains { $0 === open } }
    }
    emulator.provider.shutDown()
    for connection in Self.ofProviders.filter({ $0 != "provider" }).flatMap(connections) {
      connection.close()
    }
    let haveEnded = try emulator.loop.turn(
      until: {
        try check()
        return left.isEmpty
      }, within: Self.endLimit)
    if !haveEnded { for connection in left { connection.abort("a drill begins") } }
    emulator.advice.clear()
  }

  /// Ends it; to be called once.
  func end() {
    emulator.stop()
    emulator.run()
  }
}
