import Basics
import Broker
import Console
import CourierWire
import Credentials
import Dashboard
import Platform
import ProviderAPI
import PushModel
import Runtime
import Transport

/// Gives the console what it looks at and acts on.
enum ConsoleService {
  /// A context over a running emulator.
  static func makeContext(_ emulator: Emulator) -> ConsoleContext {
    let context = ConsoleContext(
      broker: emulator.broker, environment: emulator.options.environment,
      now: { [clock = emulator.clock] in clock.now() })
    context.isPushTypeStrict = emulator.options.isPushTypeStrict
    context.bindHost = emulator.options.listeners.bind
    context.allowedHosts = emulator.options.credentials.allowedHosts
    context.accessToken = emulator.consoleToken
    if let path = emulator.options.console.dashboard { context.webFile = DashboardFolder(path: path).file }
    // Valid now by the system's clock, which TLS peers go by, wherever the emulator's stands.
    let background = BackgroundWork(emulator.loop)
    context.background = background
    context.credentials = FolderCredentials(
      emulator.certs, verifier: emulator.tokenVerifier, background: background,
      now: { Timestamp(nanoseconds: SystemClock.wallNanoseconds()) })
    let topics = IssuedTopics(emulator.certs)
    context.info = { [unowned emulator] in info(emulator, topics.all()) }
    context.unreadiness = { [unowned emulator] in
      emulator.shutdown?.hasBegun == true ? "shutting down" : emulator.node?.cluster.whyNotReady
    }
    context.activation = emulator.activation
    context.activate = ActivationDesk(emulator.certs, emulator.loop).map { desk in
      { desk.activate($0.request.body, from: $0.connection?.remoteAddress.host ?? "", $1) }
    }
    context.push = { [unowned emulator] in PlainPush.answer($0, emulator, reply: $1) }
    context.faults = emulator.faults.engine
    context.sendTest = { [unowned emulator] in TestPushSender.send($0, emulator, done: $1) }
    // On a thread of their own: how long a file takes to be deciphered is the file's to say, and keys are made meanwhile.
    let reading = BackgroundWork(emulator.loop)
    context.prove = { [unowned emulator] in PushProver.prove($0, $1, emulator, reading, then: $2) }
    context.explainToken = { environment, udid, topicHash, install, context in
      IdentityDerivation.appTokenMessage(
        environment: environment, udid: udid, topicHash: topicHash, install: install, context: context)
    }
    context.orders = emulator.node
    context.clock = emulator.clock
    context.phones = emulator.phones
    context.streams = emulator.streams
    context.otherConsoles = emulator.nodes?.consoles
    context.cluster = emulator.node.map { ClusterConsole($0, emulator) }
    context.fleet = fleet(emulator)
    context.makeTimer = { [loop = emulator.loop] delay, work in
      let timer = LoopEvent(timerOn: loop, handler: work)
      timer.start(afterNanoseconds: delay)
      return timer
    }
    context.connections = { [unowned emulator] in ConnectionDocument.all(emulator) }
    context.metrics = { [unowned emulator] in ConnectionDocument.metrics(emulator) }
    return context
  }

  private static func fleet(_ emulator: Emulator) -> FleetMDMEvents? {
    guard emulator.options.console.fleetEvents else { return nil }
    return FleetMDMEvents(
      emulator.broker, emulator.clock, emulator.streams, emulator.options.environment,
      apnsIDs: emulator.provider.apnsIDs,
      isEnding: { [unowned emulator] in emulator.shutdown?.hasBegun == true })
  }

  private static func info(_ emulator: Emulator, _ certificates: [Topic]) -> EmulatorInfo {
    let (ports, options) = (emulator.ports, emulator.options)
    var info = EmulatorInfo()
    (info.version, info.environment) = (EmulatorVersion.current, options.environment)
    info.listeners = ports.listeners.map { ($0, .init(host: $1.host, port: Int($1.port))) }
    (info.ca, info.certs) = (ports.ca, ports.certs)
    info.portsFile = options.files.ports.map(Emulator.absolute)
    info.needsAccess = emulator.consoleToken != nil
    info.certificates = certificates.map(\.name)
    (info.isLenient, info.isEphemeral) = (options.credentials.isLenient, options.files.isEphemeral)
    (info.seed, info.node) = (String(emulator.seed), emulator.node?.cluster.name)
    return info
  }
}

extension EmulatorClock: ClockControl {}

/// The dashboard's files from a folder, for work on them (`--dashboard`): read at each request, so that a reload of the page
/// shows a change. Only files that the binary has too, so no request leads out of the folder.
struct DashboardFolder {
  /// Most bytes of a file: many times the largest, and read in well under a turn of the loop.
  private static let fileLimit = 1 << 20

  let path: String

  /// Throws for the first file that can't be read.
  func check() throws {
    do {
      for name in WebFile.names { _ = try file(name) }
    } catch {
      throw EmulatorError(
        .failed, "--dashboard expects a folder with the files of Sources/Dashboard/Web: \(error)")
    }
  }

  /// The file of that name; nil if the dashboard has none.
  func file(_ name: String) throws -> WebFile? {
    guard let embedded = WebFile(named: name) else { return nil }
    let bytes = try TextFile.readPlain("\(path)/\(name)", limit: Self.fileLimit)
    return WebFile(contentType: embedded.contentType, text: String(decoding: bytes, as: UTF8.self))
  }
}
