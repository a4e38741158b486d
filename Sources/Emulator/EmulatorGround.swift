import AdviceFeed
import Bridge
import Broker
import Cluster
import Console
import Courier
import Credentials
import Hooks
import Node
import Phones
import Platform
import Recorder
import Services
import Transport

/// What all parts of an emulator stand on: time, log, certificates, state; and the parts that are made of that and little else.
struct EmulatorGround {
  let options: ServeOptions
  let loop: EventLoop
  let clock = EmulatorClock()
  let logger: Logger
  let seed: UInt64
  let certs: CertsFolder
  /// This node's seat in a cluster; nil for an emulator that is alone.
  let cluster: ClusterNode?
  let broker: Broker
  /// What happens, for who watches.
  let events: OwnEvents
  let store: (any BrokerStore)?
  let revocations: Revocations
  let trust: ProviderTrust
  let tokenVerifier: ProviderTokenVerifier
  private let deviceVerifier: DeviceIdentityVerifier

  init(_ options: ServeOptions, _ loop: EventLoop) throws {
    (self.options, self.loop) = (options, loop)
    seed = options.seed ?? UInt64.random(in: .min ... .max)
    logger = try Self.makeLogger(options.log, clock)
    certs = CertsFolder(path: options.credentials.certs)
    try certs.prepare(serverNames: options.credentials.allowedHosts, now: clock.now())
    cluster = try options.cluster.map { [certs, logger] in
      try Self.join($0, loop, options, certs, logger)
    }
    broker = Broker(
      derivation: try IdentityDerivation(secret: DataFolder.secret(options, cluster)),
      options: options.brokerOptions, zones: cluster.map { ZoneShare($0.map) } ?? ZoneShare())
    if let cluster {
      broker.history.countIds(from: cluster.membership.idBase)
      broker.history.nodeName = cluster.name
    }
    events = Self.makeEvents(broker, clock, cluster)
    store = try cluster.map { $0.store } ?? DataFolder.openStore(options, broker)
    revocations = Revocations(certs)
    let (isLenient, now) = (options.credentials.isLenient, clock.now())
    trust = try ProviderTrust(folder: certs, revocations: revocations, isLenient: isLenient, now: now)
    deviceVerifier = try DeviceIdentityVerifier(folder: certs, isLenient: isLenient, now: now)
    tokenVerifier = ProviderTokenVerifier(
      folder: certs, revocations: revocations, isLenient: isLenient,
      documentedOnly: options.provider.documentedTokens)
    // Topics of issued certificates are known by name from the start (`Documentation/credentials.md#device-tokens`).
    for topic in certs.issuedTopics() { _ = broker.registry.topic(named: topic) }
  }

  private static func join(
    _ cluster: ClusterOptions, _ loop: EventLoop, _ options: ServeOptions, _ certs: CertsFolder,
    _ logger: Logger
  ) throws -> ClusterNode {
    let fingerprints = try certs.caFingerprints()
    return try EmulatorNode.join(
      cluster, loop,
      NodeCredentials(
        ca: fingerprints.root, deviceCA: fingerprints.devices, tokenSeed: options.credentials.tokenSeed),
      folder: options.files.isEphemeral ? nil : options.files.data, software: EmulatorVersion.current, logger)
  }

  private static func makeLogger(_ options: LogOptions, _ clock: EmulatorClock) throws -> Logger {
    do {
      return try Logger(options, clock: clock)
    } catch {
      throw EmulatorError(.failed, "--log-file: \(error)")
    }
  }

  func serverIdentities() throws -> [TLSIdentity] {
    try certs.loadedServer(now: clock.now()).files.map {
      try TLSIdentity(certificate: $0.certificate, key: $0.key)
    }
  }

  // MARK: Parts

  private static func makeEvents(
    _ broker: Broker, _ clock: EmulatorClock, _ cluster: ClusterNode?
  ) -> OwnEvents {
    let ordinal = cluster?.membership.ordinal
    return OwnEvents(
      broker, now: clock.now, isOfOther: { ordinal != nil && ClusterMembership.ordinal(of: $0) != ordinal })
  }

  func makeFaults() -> FaultService {
    FaultService(
      seed: seed, loop: loop, clock: clock, logger: logger, events: broker.events, publish: events.publish)
  }

  func makeHooks() throws -> HookService? {
    try HookService(
      options.hooks, loop: loop, broker: broker, logger: logger, seed: seed,
      describe: { [broker] in DeliveryDocument.bytes($0, broker) })
  }

  func makeGateway(_ faults: FaultService, _ paths: PushPaths) -> Gateway {
    let identities = ProviderIdentities(
      broker: broker, trust: trust, logger: logger, defaultEnvironment: options.environment)
    return Gateway(
      loop: loop, broker: broker, clock: clock, frames: ProviderFrames(broker, options.legacy),
      identities: identities, logger: logger, faults: faults, sink: paths.sink ?? paths.forward,
      waiters: paths.waiters, traffic: paths.traffic)
  }

  func makeProvider(_ faults: FaultService, _ paths: PushPaths) -> ProviderService {
    let edge = paths.node?.sink
    return ProviderService(
      broker: broker, clock: clock, logger: logger, options: options.providerOptions, verifier: tokenVerifier,
      trust: trust, defaultEnvironment: options.environment, seed: seed, faults: faults,
      waiters: paths.waiters, traffic: paths.traffic, sink: paths.sink,
      broadcasts: edge ?? LocalBroadcasts(broker, paths.waiters), others: edge?.others)
  }

  func makeCourier(
    _ faults: FaultService, _ devices: TurnDevices, _ phones: PhoneBoard, _ relay: EdgeTunnels?
  ) -> CourierService {
    CourierService(
      loop: loop, broker: broker, clock: clock, logger: logger, faults: faults, devices: devices,
      phones: phones, defaultEnvironment: options.environment, isPushTypeStrict: options.isPushTypeStrict,
      relay: relay, verifier: deviceVerifier)
  }
}

/// Where the pushes of an emulator go, and who waits for what becomes of them.
struct PushPaths {
  let waiters = PushWaiters()
  /// Records provider traffic; nil while that is off.
  let capture: CaptureRecorder?
  /// What providers are seen to do.
  let advice: AdviceService
  /// Whoever watches what providers do has it from here.
  let traffic: ProviderTraffic
  /// This emulator as one node of several; nil for one that is alone.
  let node: EmulatorNode?
  /// What other nodes of a cluster have of this one; nil for an emulator that is alone.
  let nodes: NodesService?
  /// Where pushes go that are not forwarded; nil for this emulator's token map.
  let sink: (any PushSink)?
  /// The bridge to another service, if there is one.
  let forward: ForwardService?

  /// A test may have it know of other nodes without a NATS server, and have a sink whose verdicts come later.
  init(
    _ ground: EmulatorGround, among others: (any ClusterView)?,
    sink makeSink: ((PushWaiters) -> any PushSink)?
  ) throws {
    let (loop, broker, clock, logger) = (ground.loop, ground.broker, ground.clock, ground.logger)
    let options = ground.options
    capture = options.capture.map {
      CaptureRecorder(
        $0, broker: broker, logger: logger, limits: options.legacy, environment: options.environment)
    }
    advice = AdviceService(broker, clock, publish: ground.events.publish)
    traffic = ProviderTraffic(capture, advice, broker.registry)
    node = ground.cluster.map { [waiters, traffic] in
      EmulatorNode(
        $0, loop: loop, broker: broker, clock: clock, logger: logger, waiters: waiters, capture: traffic)
    }
    nodes = node?.service ?? others.map { NodesService($0, loop: loop, logger: logger) }
    sink = node?.sink ?? makeSink?(waiters)
    forward = try options.forward.map { [waiters, traffic] in
      try ForwardService(
        loop: loop, options: $0, broker: broker, clock: clock, waiters: waiters, capture: traffic,
        ownCA: ground.certs.ca.certificate, logger: logger, seed: ground.seed,
        keepsQueue: !options.files.isEphemeral)
    }
  }
}
