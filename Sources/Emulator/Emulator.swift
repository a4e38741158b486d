import AdviceFeed
import Basics
import Bridge
import Broker
import Cluster
import Console
import Courier
import Credentials
import Faults
import Hooks
import Node
import Phones
import Platform
import PushModel
import Recorder
import SavedState
import Services
import Transport
import WaysIn

/// The whole emulator: one loop, one broker, the listeners around them.
///
///     init: certificates, store, state ─→ start: listeners accept, ports file ─→ run: turns ─→ drain ─→ stopped
package final class Emulator {
  package let options: ServeOptions
  package let clock: EmulatorClock
  package let logger: Logger
  package let broker: Broker
  package let certs: CertsFolder
  /// Filled in by `start`.
  package internal(set) var ports = PortsFile()
  private let portsClaim: PortsFileClaim?

  /// Everything of this emulator lives on it, and on the one thread that turns it.
  package let loop: EventLoop
  package let turnEnd: TurnEnd
  /// What was revoked, for all who judge certificates and keys.
  let revocations: Revocations
  let trust: ProviderTrust
  /// What happens, for who watches.
  let events: OwnEvents
  /// What goes wrong on purpose.
  let faults: FaultService
  package let gateway: Gateway
  let feedback: FeedbackService
  package let courier: CourierService
  /// Devices that are streams of the console.
  package let streams: StreamService
  /// The phones of simulated devices, as they tell of themselves.
  package let phones: PhoneBoard
  package let tokenVerifier: ProviderTokenVerifier
  package let provider: ProviderService
  /// Sends what people ask for.
  package let testPushes: any TestPushing
  /// What is told of deliveries, if anything is.
  package let hooks: HookService?
  /// Variable so that whoever turns the loop can watch it.
  package var store: (any BrokerStore)? {
    get { turnEnd.store }
    set { turnEnd.store = newValue }
  }
  /// Whether what happened in the last turns is not yet known to be in the store.
  package var isCommitting: Bool { turnEnd.isCommitting }
  let paths: PushPaths
  package var waiters: PushWaiters { paths.waiters }
  /// What providers are seen to do.
  package var advice: AdviceService { paths.advice }
  /// What other nodes of a cluster have of this one; nil for an emulator that is alone.
  package var nodes: NodesService? { paths.nodes }
  package let listeners: Listeners
  /// Those of all listeners, for people.
  package let connections: OpenConnections
  package let shutdown: Shutdown
  private let housekeeping: Housekeeping
  /// The console's listener; nil while it is off.
  package var console: HTTPServer? { listeners.console }
  /// The proxy's listener; nil while it is off.
  package var proxy: ProxyService? { listeners.proxy }
  /// What nodes of a cluster have of the rest.
  package let host: EmulatorHost
  /// Drives every random choice (`Sources/ARCHITECTURE.md#promises` 5).
  package let seed: UInt64
  package let access: AccessTokens
  /// Runs drills with a server; nil for an emulator of anything else.
  let drills: (any DrillBoard)?
  private var signalEvents: [LoopEvent] = []
  /// Set when the store can't be written any more: nothing may be acknowledged then.
  package var failure: EmulatorError? { shutdown.failure }

  /// Prepares certificates and state; opens nothing yet. Without a loop it makes one. A test may have it know of other nodes without a
  /// NATS server, and have a sink whose verdicts come later.
  package convenience init(
    options: ServeOptions, loop: EventLoop? = nil, among others: (any ClusterView)? = nil,
    drills: (any DrillBoard)? = nil, sink: ((PushWaiters) -> any PushSink)? = nil
  ) throws {
    try Listeners.probe(options.listeners)
    let claim = try options.files.ports.map { try PortsFileClaim($0) }
    guard let loop = loop ?? EventLoop() else {
      throw EmulatorError(.failed, "the system has no event interface")
    }
    let ground = try EmulatorGround(options, loop)
    try self.init(ground, claim, PushPaths(ground, among: others, sink: sink), drills)
  }

  private init(
    _ ground: EmulatorGround, _ claim: PortsFileClaim?, _ paths: PushPaths, _ drills: (any DrillBoard)?
  ) throws {
    (options, portsClaim, access) = (ground.options, claim, AccessTokens(ground.options))
    (loop, clock, logger, seed) = (ground.loop, ground.clock, ground.logger, ground.seed)
    (certs, broker, revocations, trust) = (ground.certs, ground.broker, ground.revocations, ground.trust)
    (self.paths, self.drills, hooks) = (paths, drills, try ground.makeHooks())
    (events, faults, tokenVerifier) = (ground.events, ground.makeFaults(), ground.tokenVerifier)
    gateway = ground.makeGateway(faults, paths)
    feedback = FeedbackService(
      broker: broker, identities: gateway.identities, others: paths.node?.sink.others, advice: paths.advice)
    provider = ground.makeProvider(faults, paths)
    testPushes = TestPushSender(provider, gateway, trust, certs, loop)
    phones = PhoneBoard(broker, now: clock.now, publish: events.publish)
    let devices = TurnDevices()
    courier = ground.makeCourier(faults, devices, phones, paths.nodes?.devices)
    streams = StreamService(
      loop: loop, broker: broker, clock: clock, logger: logger, faults: faults, devices: devices)
    listeners = Listeners(options.listeners, loop, faults, identities: ground.serverIdentities)
    connections = OpenConnections(listeners, loop.memory, streams, paths.nodes?.devices)
    shutdown = Shutdown(
      .init(
        loop: loop, logger: logger, broker: broker, paths: paths, listeners: listeners, faults: faults,
        gateway: gateway, provider: provider, courier: courier, streams: streams, hooks: hooks))
    turnEnd = TurnEnd(
      loop: loop, broker: broker, store: ground.store, devices: devices, reading: courier.reading,
      gateway: gateway, logger: logger, capture: paths.capture, advice: paths.advice, shutdown: shutdown)
    housekeeping = Housekeeping(ground, provider, paths, turnEnd)
    host = EmulatorHost(shutdown, listeners, courier, streams)
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
    try paths.node?.start(for: host)
    if paths.node == nil { try loadSeedData() }
    limitMemory()
    try tellOfSingleCertificate()
    try listeners.open(for: self)
    try paths.capture?.start()
    ports = PortsFile(
      listeners: listeners.addresses, ca: PortsFile.absolute(certs.ca.certificate),
      certs: PortsFile.absolute(certs.path), environment: options.environment, access: access.any)
    try paths.node?.announce(ports[NodesService.listenerName], console: ports["console"])
    if paths.node != nil { try loadSeedData() }
    startHooks()
    housekeeping.start()
    paths.forward?.start { frame, topic, environment, body in
      GatewayProvider(topic: topic, environment: environment, topics: []).withSubmission(of: frame, body)
    }
    if paths.forward == nil { tellOfPendingForwards() }
    if let portsClaim { try portsClaim.write(ports, prepare: prepare) } else { prepare() }
    shutdown.started()
  }

  private func tellOfPendingForwards() {
    let count = broker.pendingForwards.count
    guard count > 0 else { return }
    logger.log(
      .warning, "notifications wait to be forwarded",
      [
        ("count", .integer(Int64(count))),
        ("because", "an earlier run accepted them; serve --forward sends them"),
      ])
  }

  /// Turns the loop until `stop` has ended it in order.
  package func run() {
    loop.run()
    if let sentence = loop.failure, failure == nil { shutdown.fail(EmulatorError(.failed, sentence)) }
    if failure == nil { turnEnd.finish() }
    hooks?.shutDown()
    paths.capture?.finish()
    portsClaim?.giveUp()
    store?.close()
    paths.node?.close()
    logger.finish()
  }

  /// Begins the orderly end; called again, leaves at once. On the loop's thread.
  package func stop() { shutdown.begin() }

  /// Opens the files of the log and the capture again, for `logrotate`, which has moved them away.
  package func reopenFiles() {
    paths.capture?.reopen()
    do throws(SocketError) {
      try logger.reopen()
      logger.log(.info, "files opened again")
    } catch {
      logger.log(.error, "logging continues in the old file", [("because", .string("\(error)"))])
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

  private func tellOfSingleCertificate() throws {
    guard let reason = try certs.loadedServer(now: clock.now()).reasonAlone else { return }
    logger.log(.info, "all clients get the same server certificate", [("because", .string(reason))])
  }

  private func startHooks() {
    guard let hooks else { return }
    var environment = ports.variables
    environment["APNS_EMULATOR_ACCESS"] = access.any
    hooks.start(environment: environment)
    // After the commit, as for those who watch.
    loop.atTurnEnd { [unowned shutdown] in if shutdown.failure == nil { hooks.turnEnded() } }
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

  // MARK: What a program asks of an emulator that it has as a guest

  /// What goes wrong on purpose.
  package var faultEngine: FaultEngine { faults.engine }

  /// What a person does to an app on a phone, which is made known if it is new. Answers the app's token, nil where there is
  /// none: after `remove`, or when there are too many.
  package func change(
    _ change: AppChange, _ topic: Topic, on udid: UDID, in environment: Environment
  ) -> DeviceToken? {
    let (registry, now) = (broker.registry, clock.now())
    guard let device = registry.device(udid, now: now), let topic = registry.topic(named: topic) else {
      return nil
    }
    return broker.apps.change(change, device: device, topic: topic, environment: environment, now: now)
  }

  /// Whether the phone is connected.
  package func isConnected(_ udid: UDID) -> Bool {
    guard let device = broker.registry.knownDevice(udid) else { return false }
    return broker.registry[device].isOnline
  }

  /// Whether the phone is connected and wants messages.
  package func listens(_ udid: UDID) -> Bool {
    guard let device = broker.registry.knownDevice(udid) else { return false }
    return broker.registry.session(of: device, in: options.environment)?.enabled.isEmpty == false
  }

  /// Sends a push through the checks of a provider whose certificate is for its topic; the closure gets the
  /// notification's id, late if a fault delays it; nil if the emulator ends before it has one.
  package func sendTest(_ push: TestPush, done: @escaping (UInt64?) -> Void) {
    testPushes.send(push, done: done)
  }

  /// What the clock's new time ends is ended now, not at the next look.
  package func clockWasMoved() {
    broker.deliveries.dropExpired(now: clock.now(), budget: broker.registry.registrationCount)
  }
}
