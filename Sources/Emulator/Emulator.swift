import Basics
import Bridge
import Broker
import Cluster
import Console
import Credentials
import Hooks
import Phones
import Platform
import Recorder
import Runtime
import SavedState
import Transport
import WaysIn

/// The whole emulator: one loop, one broker, the listeners around them.
///
///     init: certificates, store, state ─→ start: listeners accept, ports file ─→ run: turns ─→ drain ─→ stopped
package final class Emulator {
  package let options: ServeOptions
  package let clock = EmulatorClock()
  package let logger: Logger
  package let broker: Broker
  package let certs: CertsFolder
  /// Filled in by `start`.
  package internal(set) var ports = PortsFile()
  private let portsClaim: PortsFileClaim?

  /// Everything of this emulator lives on it, and on the one thread that turns it.
  package let loop: EventLoop
  package let turnEnd: TurnEnd
  let derivation: IdentityDerivation
  /// What was revoked, for all who judge certificates and keys.
  let revocations: Revocations
  let trust: ProviderTrust
  let identities: ProviderIdentities
  let deviceVerifier: DeviceIdentityVerifier
  /// What happens, for who watches.
  let events: OwnEvents
  /// What goes wrong on purpose.
  let faults: FaultService
  let gateway: Gateway
  let feedback: FeedbackService
  let courier: CourierService
  /// Devices that are streams of the console.
  package let streams: StreamService
  /// The phones of simulated devices, as they tell of themselves.
  let phones: PhoneBoard
  let tokenVerifier: ProviderTokenVerifier
  let provider: ProviderService
  /// Sends what people ask for.
  let testPushes: TestPushSender
  /// What is told of deliveries, if anything is.
  package let hooks: HookService?
  /// The bridge to another service, if there is one.
  let forward: ForwardService?
  /// Variable so that whoever turns the loop can watch it.
  package var store: (any BrokerStore)? {
    get { turnEnd.store }
    set { turnEnd.store = newValue }
  }
  /// Whether what happened in the last turns is not yet known to be in the store.
  package var isCommitting: Bool { turnEnd.isCommitting }
  /// Where pushes go that are not forwarded; nil for this emulator's token map. Variable so that a test can have one whose verdicts
  /// come later.
  var sink: (any PushSink)? {
    didSet { (gateway.sink, provider.sink) = (sink, sink) }
  }
  let waiters = PushWaiters()
  /// Records provider traffic; nil while that is off.
  let capture: CaptureRecorder?
  /// Those that are open, but for the console's, by their names in the ports file.
  package internal(set) var listeners: [(name: String, listener: SocketListener)] = []
  var shutdown: Shutdown?
  private var housekeeping: Housekeeping?
  /// The console's listener; nil while it is off.
  package internal(set) var console: HTTPServer?
  var consoleRoutes: Console?
  /// The proxy's listener; nil while it is off.
  package internal(set) var proxy: ProxyService?
  /// This emulator as one node of several; nil for one that is alone.
  private(set) var node: EmulatorNode?
  /// What other nodes of a cluster have of this one; nil for an emulator that is alone.
  private(set) var nodes: NodesService?
  /// Drives every random choice (`Sources/ARCHITECTURE.md#promises` 5).
  package let seed: UInt64
  /// Asked of everybody who uses the console from beyond loopback; nil on loopback.
  package let consoleToken: String?
  /// Asked of devices that activate (`--activation token`): the console's, or one for them alone on loopback.
  let activationToken: String?
  private var signalEvents: [LoopEvent] = []
  /// The zones of this node are handed over, and it ends then.
  private var isDraining = false
  /// Set when the store can't be written any more: nothing may be acknowledged then.
  package internal(set) var failure: EmulatorError?

  /// Prepares certificates and state; opens nothing yet. Without a loop it makes one.
  package init(options: ServeOptions, loop: EventLoop? = nil) throws {
    self.options = options
    seed = options.seed ?? UInt64.random(in: .min ... .max)
    let isLocal = SocketAddress(host: options.listeners.bind, port: 0).isLoopback
    consoleToken = isLocal ? nil : options.credentials.access ?? Self.makeConsoleToken()
    activationToken =
      options.credentials.activation == .token
      ? consoleToken ?? options.credentials.access ?? Self.makeConsoleToken() : nil
    try PortProbe.check(options)
    portsClaim = try options.files.ports.map { try PortsFileClaim($0) }
    guard let loop = loop ?? EventLoop() else {
      throw EmulatorError(.failed, "the system has no event interface")
    }
    self.loop = loop
    let devices = TurnDevices()
    logger = try Self.makeLogger(options, clock)
    certs = CertsFolder(path: options.credentials.certs)
    try certs.prepare(serverNames: options.credentials.allowedHosts, now: clock.now())
    let cluster = try options.cluster.map { [certs, logger] in
      try EmulatorNode.join($0, loop, options, certs, logger)
    }
    derivation = try IdentityDerivation(secret: Self.secret(options, cluster))
    broker = Broker(
      derivation: derivation, options: options.brokerOptions,
      zones: cluster.map { ZoneShare($0.map) } ?? ZoneShare())
    if let cluster {
      broker.history.countIds(from: cluster.membership.idBase)
      broker.history.nodeName = cluster.name
    }
    let store: (any BrokerStore)? = try cluster.map { $0.store } ?? Self.openStore(options, broker)
    revocations = Revocations(certs)
    trust = try ProviderTrust(
      folder: certs, revocations: revocations, isLenient: options.credentials.isLenient, now: clock.now())
    deviceVerifier = try DeviceIdentityVerifier(
      folder: certs, isLenient: options.credentials.isLenient, now: clock.now())
    let ordinal = cluster?.membership.ordinal
    events = OwnEvents(
      broker, now: clock.now,
      isOfOther: { ordinal != nil && ClusterMembership.ordinal(of: $0) != ordinal })
    faults = FaultService(
      seed: seed, loop: loop, clock: clock, logger: logger, events: broker.events, publish: events.publish)
    identities = ProviderIdentities(
      broker: broker, trust: trust, logger: logger, defaultEnvironment: options.environment)
    capture = try Self.makeCapture(options, broker, logger)
    forward = try Self.makeForward(options, seed, loop, broker, clock, logger, waiters, capture)
    gateway = Gateway(
      loop: loop, broker: broker, clock: clock,
      frames: ProviderFrames(broker, options.legacy), identities: identities,
      logger: logger, faults: faults, sink: forward ?? sink, waiters: waiters,
      capture: capture)
    feedback = FeedbackService(broker: broker, identities: identities)
    phones = PhoneBoard(broker, now: clock.now, publish: events.publish)
    courier = CourierService(
      loop: loop, broker: broker, clock: clock, logger: logger, faults: faults, devices: devices,
      phones: phones, defaultEnvironment: options.environment, isPushTypeStrict: options.isPushTypeStrict,
      verify: { [deviceVerifier, logger] in deviceVerifier.verify($0, handshakeCertificate: $1, logger) })
    streams = StreamService(
      loop: loop, broker: broker, clock: clock, logger: logger, faults: faults, devices: devices)
    tokenVerifier = ProviderTokenVerifier(
      folder: certs, revocations: revocations, isLenient: options.credentials.isLenient,
      documentedOnly: options.provider.documentedTokens)
    provider = ProviderService(
      broker: broker, clock: clock, logger: logger, options: options.providerOptions, verifier: tokenVerifier,
      trust: trust, defaultEnvironment: options.environment, seed: seed, faults: faults, waiters: waiters,
      capture: capture)
    testPushes = TestPushSender(provider, gateway, trust, certs, loop)
    hooks = try HookService(
      options.hooks, loop: loop, broker: broker, logger: logger, seed: seed,
      describe: { [broker] in DeliveryDocument.bytes($0, broker) })
    turnEnd = TurnEnd(
      loop: loop, broker: broker, store: store, devices: devices, reading: courier.reading, gateway: gateway,
      logger: logger, capture: capture)
    connectServices()
    learnTopics()
    node = cluster.map { EmulatorNode($0, self) }
  }

  /// What services need of each other and can't be given when they are made.
  private func connectServices() {
    turnEnd.onFailure = { [unowned self] in giveUp($0) }
  }

  /// Opens the listeners and writes the ports file; from then on everybody is answered once `run` turns the loop.
  ///
  /// Signals and limits of the process are the program's: writing to a connection whose peer is gone raises SIGPIPE, and
  /// writing a file beyond the limit on its size SIGXFSZ. Both have to be ignored (`SignalMask.ignoreSignalsOfWriting`), or
  /// blocked (`blockSignalsOfWriting`) on the thread that runs this. Whoever waits for the ports file may send a signal as soon
  /// as it is there: `beforeAnnouncing` is the last moment to ask for it.
  package func start(beforeAnnouncing prepare: () -> Void = {}) throws {
    loop.atTurnBegin { [unowned revocations] in revocations.pickUpChanges() }
    loop.atTurnEnd { [unowned turnEnd] in turnEnd.run() }
    try options.console.dashboard.map(DashboardFolder.init)?.check()
    try node?.readLogs(self)
    if node == nil { try loadSeedData() }
    limitMemory()
    try openListeners()
    try node?.announce(self)
    if node != nil { try loadSeedData() }
    startHooks()
    housekeeping = Housekeeping(self)
    housekeeping?.start()
    forward?.start { GatewayProvider(topic: $1, environment: $2, topics: []).submission(of: $0) }
    if forward == nil { tellOfPendingForwards() }
    if let portsClaim { try portsClaim.write(ports, prepare: prepare) } else { prepare() }
    shutdown = Shutdown(self)
  }

  /// Makes this emulator a node of a cluster; to be called before `start`.
  func join(_ cluster: any ClusterView) -> NodesService {
    let nodes = NodesService(self, cluster)
    self.nodes = nodes
    courier.relay = nodes.devices
    return nodes
  }

  private func tellOfPendingForwards() {
    let count = broker.pendingForwards.count
    guard count > 0 else { return }
    logger.log(
      .warning, "notifications wait to be forwarded",
      [
        ("count", .integer(Int64(count))),
        ("because", "an earlier run took them; serve --forward sends them"),
      ])
  }

  /// Turns the loop until `stop` has ended it in order.
  package func run() {
    loop.run()
    if let sentence = loop.failure, failure == nil {
      failure = EmulatorError(.failed, sentence)
      logger.log(.error, sentence)
    }
    if failure == nil { turnEnd.finish() }
    hooks?.shutDown()
    capture?.finish()
    portsClaim?.giveUp()
    store?.close()
    node?.close()
    logger.finish()
  }

  /// Nothing can be promised any more: end without answering anybody.
  func giveUp(_ sentence: String) {
    guard failure == nil else { return }
    failure = EmulatorError(.storeUnusable, sentence)
    turnEnd.abandon()
    logger.log(.error, sentence)
    for (_, listener) in listeners {
      listener.stopAccepting()
      for connection in listener.openConnections { connection.abort(sentence, reset: true) }
    }
    console?.abort()
    proxy?.abort()
    loop.stop()
  }

  /// Begins the orderly end; called again, leaves at once. On the loop's thread.
  package func stop() {
    guard let node, shutdown?.hasBegun == false, !isDraining else { return shutdown?.begin() ?? () }
    isDraining = true
    node.drain { [unowned self] in shutdown?.begin() }
  }

  /// Opens the files of the log and the capture again, for `logrotate`, which has moved them away.
  package func reopenFiles() {
    capture?.reopen()
    do throws(SocketError) {
      try logger.reopen()
      logger.log(.info, "files opened again")
    } catch {
      logger.log(.error, "the log goes on in the old file", [("because", .string("\(error)"))])
    }
  }

  /// Runs `handler` on the loop each time the process gets the signal. For a program that is this emulator alone: the
  /// signals of a process are not a library's.
  package func onSignal(_ signal: Signal, _ handler: @escaping () -> Void) {
    let event = LoopEvent(loop, signal: signal, handler: handler)
    event.start()
    signalEvents.append(event)
  }

  /// What `--seed-data` names is known before anybody can ask, and is in the store before `ready`.
  private func loadSeedData() throws {
    guard let path = options.files.seedData else { return }
    let bytes: [UInt8]
    do { bytes = try TextFile.read(path, limit: SeedData.limit) } catch {
      throw EmulatorError(.failed, "\(error)")
    }
    do {
      try SeedData.load(bytes, into: ConsoleService.live(self))
    } catch {
      throw EmulatorError(.failed, "\(path): \(error)")
    }
    turnEnd.finish()
    if let failure { throw failure }
  }

  private func startHooks() {
    guard let hooks else { return }
    var environment = ports.variables
    environment["APNS_EMULATOR_ACCESS"] = accessToken
    hooks.start(environment: environment)
    // After the commit, as for those who watch.
    loop.atTurnEnd { [unowned self] in if failure == nil { hooks.turnEnded() } }
  }

  private func limitMemory() {
    let held = BrokerMemory(broker, loop.memory, limit: options.listeners.memory)
    loop.atTurnEnd { held.turnEnded() }
    loop.limitMemory(to: options.listeners.memory, givingBack: held.giveBack) { [logger] evicted in
      logger.log(
        .warning, "connection evicted, memory is short",
        [
          ("listener", .string(evicted.listener)), ("remote", .string(evicted.remoteAddress.description)),
          ("bytes", .integer(Int64(evicted.bytes))), ("idleMs", .integer(evicted.idle / 1_000_000)),
        ])
    }
  }

  /// Topics of issued certificates are known by name from the start
  /// (`Documentation/credentials.md#how-tokens-come-to-be`).
  private func learnTopics() {
    for topic in certs.issuedTopics() { _ = broker.registry.topic(named: topic) }
  }
}
