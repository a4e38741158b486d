import Basics
import Broker
import Credentials
import DeviceDriver
import Emulator
import Faults
import Platform
import PushModel
import Recorder
import SimulatedDevice
import Transport

/// An emulator of a run's own, with its phones online on the same loop, and the files that CMD gets.
final class DrillStage {
  /// The app of all phones.
  static let topic = Topic("com.example.app")
  /// How long all phones may take to have their tokens, in nanoseconds.
  private static let timeout: Int64 = 60_000_000_000
  /// How many phones connect at once.
  private static let connectsAtOnce = 64

  let emulator: Emulator
  let folder: DrillFolder
  let file: DrillTokenFile
  private let phones: [DevicePhone]
  private let topic: Topic
  private let credentials: TemporaryCredentials

  /// - Parameters:
  ///   - pushes: so many tokens.
  ///   - kinds: what they are.
  init(
    pushes: Int, _ kinds: DrillTokens, _ credentials: TemporaryCredentials, in folder: DrillFolder,
    _ signals: DrillSignals
  ) throws {
    guard let topic = Self.topic else { throw DrillError("the topic of drills is none") }
    (self.topic, self.credentials, self.folder) = (topic, credentials, folder)
    emulator = try Emulator(options: Self.options(credentials, folder))
    signals.listen(emulator)
    try emulator.start()
    try TrustBundle.write(
      emulator.ports.ca, in: emulator.ports.certs, given: ProcessEnvironment.variables["SSL_CERT_FILE"])
    let all = (0..<pushes).map { kinds.kind($0, of: pushes) }
    phones = try Self.phones(all, topic, emulator, credentials, signals)
    file = DrillTokenFile(kinds: all, tokens: try Self.tokens(all, phones, topic, emulator))
    try removeApps()
    try folder.write(file)
  }

  private static func options(_ credentials: TemporaryCredentials, _ folder: DrillFolder) -> ServeOptions {
    var options = ServeOptions()
    options.listeners = ListenerOptions(protocols: .number(0))
    (options.listeners.console, options.listeners.proxy) = (.number(0), .number(0))
    (options.credentials.certs, options.files.isEphemeral) = (credentials.certs, true)
    (options.seed, options.credentials.tokenSeed) = (1, "drill")
    (options.log.file, options.log.level) = (folder.log, .info)
    options.files.ports = folder.ports
    // Numbers connections, too.
    options.capture = CaptureOptions(path: folder.capture)
    return options
  }

  /// Ends the emulator; to be called once.
  func end() {
    for phone in phones { phone.switchOff() }
    emulator.stop()
    emulator.run()
  }

  // MARK: Phones

  private static func phones(
    _ kinds: [DrillTokens.Kind], _ topic: Topic, _ emulator: Emulator, _ credentials: TemporaryCredentials,
    _ signals: DrillSignals
  ) throws -> [DevicePhone] {
    guard let courier = emulator.ports["courier"] else { throw DrillError("the courier listener is off") }
    var policy = TLSPolicy()
    policy.remembersServer = true
    let route = try CourierRoute(
      loop: emulator.loop, ca: emulator.ports.ca, policy: policy, gate: ConnectGate(limit: connectsAtOnce)
    ) { courier }
    let names = kinds.indices.filter { kinds[$0] != .bad }.compactMap { UDID("drill-\($0 + 1)") }
    let phones = try names.map { udid in
      var state = DeviceState(udid: udid)
      state.add([topic])
      return DevicePhone(
        [(emulator.options.environment, state)],
        identity: try credentials.identity(of: udid, in: emulator.certs),
        DeviceTraits(seed: emulator.seed), route)
    }
    for phone in phones { phone.switchOn() }
    try awaitTokens(of: phones, topic, emulator, signals)
    return phones
  }

  private static func awaitTokens(
    of phones: [DevicePhone], _ topic: Topic, _ emulator: Emulator, _ signals: DrillSignals
  ) throws {
    let areReady = try emulator.loop.turn(
      until: {
        try signals.check()
        if let failure = emulator.failure { throw failure }
        return phones.allSatisfy { $0.tokens[TokenNeed(topic)] != nil && emulator.listens($0.state.udid) }
      }, within: timeout)
    guard areReady else {
      throw DrillError("the phones did not all get their tokens in \(timeout / 1_000_000_000) s")
    }
  }

  private static func tokens(
    _ kinds: [DrillTokens.Kind], _ phones: [DevicePhone], _ topic: Topic, _ emulator: Emulator
  ) throws -> [[UInt8]] {
    var given = phones.map { $0.tokens[TokenNeed(topic)]?.bytes }[...]
    return try kinds.enumerated().map { index, kind in
      guard kind != .bad else { return strange(index) }
      guard let token = given.popFirst() ?? nil else { throw DrillError("a phone has no token") }
      return token
    }
  }

  /// One that the emulator has not given to anybody.
  private static func strange(_ index: Int) -> [UInt8] {
    [UInt8](repeating: 0xbd, count: DeviceToken.byteCount - 2) + [
      UInt8(index >> 8 & 0xff), UInt8(index & 0xff),
    ]
  }

  /// Of the phones whose tokens are to be gone. That a phone was tried and has said so is told here.
  private func removeApps() throws {
    let now = emulator.clock.now()
    for (index, kind) in file.kinds.enumerated() where kind == .gone {
      guard let udid = UDID("drill-\(index + 1)"),
        let row = file.tokens[index].withUnsafeBytes({ emulator.broker.registry.find(presented: $0) })
      else { throw DrillError("a phone is not known") }
      _ = emulator.change(.remove, topic, on: udid, in: emulator.options.environment)
      emulator.broker.feedback.reportGone(row, now: now)
    }
  }

  // MARK: CMD

  /// Counts connections where nothing goes wrong, by rules whose turn never comes; answers their names.
  func countConnections() throws -> [String] {
    try DrillInterface.allCases.map { interface in
      let name = "connections-\(interface.rawValue)"
      let rule: JSONValue = [
        "name": .string(name), "match": ["interface": interface.place], "when": ["nth": 1_000_000_000],
        "effect": ["refuse": true],
      ]
      _ = emulator.faultEngine.set(try FaultRule(JSONObject(rule, place: ""), name: name))
      return name
    }
  }

  /// What goes wrong; answers the names of the rules.
  func inject(_ drill: Drill) throws -> [String] {
    try drill.faults.enumerated().map { index, fault in
      let name = index == 0 ? drill.id : "\(drill.id)-\(index + 1)"
      let rule = fault.rule(name: name, drill.interface, tokens: file.tokens)
      _ = emulator.faultEngine.set(try FaultRule(JSONObject(rule, place: ""), name: name))
      return name
    }
  }

  /// CMD's, on top of this process's own.
  func variables(usesProxy: Bool) throws -> [String: String] {
    let certificate = try credentials.certificate(topic, in: emulator.certs)
    let key = try credentials.tokenKey(in: emulator.certs)
    let own = [
      "TOKEN_FILE": folder.tokens, "TOPIC": topic.name, "CERT": certificate.certificate,
      "CERT_KEY": certificate.key, "P12": certificate.pkcs12, "KEY": key.key, "KEY_ID": key.keyId,
      "TEAM": TemporaryCredentials.team, "REPORT": folder.report,
      // No other program has the same: by it CMD's processes are known.
      "RUN": "\(ProcessStatus.own)-\(UInt64.random(in: .min ... .max))",
    ]
    var variables = emulator.guestVariables.merging(usesProxy ? emulator.proxyVariables : [:]) { $1 }
    for (name, value) in own { variables["APNS_EMULATOR_\(name)"] = value }
    return variables
  }
}

/// Where the files of a run lie.
struct DrillFolder: Sendable {
  let path: String

  var tokens: String { path + "/tokens.txt" }
  var report: String { path + "/report.txt" }
  var capture: String { path + "/capture.ndjson" }
  /// What the emulator says, and what CMD says.
  var log: String { path + "/emulator.log" }
  var output: String { path + "/command.log" }
  var ports: String { path + "/ports.json" }

  /// Makes the folder; what an earlier run has left in it goes.
  init(_ path: String) throws {
    guard PathCalls.makeFolder(path, 0o755) != .refused, let absolute = PathCalls.absolute(path) else {
      throw DrillError("can't make the folder \(path.visible)")
    }
    self.path = absolute
    removeFiles()
  }

  private init(unmade path: String) { self.path = path }

  /// Removes the folder of an earlier run, if there is one and nothing else lies in it.
  static func remove(_ path: String) {
    DrillFolder(unmade: path).removeFiles()
    PathCalls.removeFolder(path)
  }

  private func removeFiles() {
    for file in [tokens, report, capture, log, output, ports] { PathCalls.remove(file) }
  }

  func write(_ file: DrillTokenFile) throws {
    let lines = file.tokens.map { Hex.encode($0) + "\n" }.joined()
    try TextFile.write(tokens, Array(lines.utf8))
  }
}

/// Drills can't go on: a lower-case sentence.
package struct DrillError: Error, CustomStringConvertible {
  package let description: String
  /// It is CMD that can't be run.
  package let isOfCommand: Bool

  package init(_ description: String, isOfCommand: Bool = false) {
    (self.description, self.isOfCommand) = (description, isOfCommand)
  }
}
