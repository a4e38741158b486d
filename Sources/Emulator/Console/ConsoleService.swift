import Basics
import Broker
import ClusterRouter
import Console
import CourierWire
import Credentials
import Dashboard
import Node
import Platform
import ProviderAPI
import PushModel
import SavedState
import Services
import Transport
import WaysIn

/// Puts the console together of the emulator's parts.
struct ConsoleService {
  private let emulator: Emulator
  private let context: ConsoleContext
  private let live: LiveState
  private let credentials: FolderCredentials
  private let background: BackgroundWork?
  private let watching: EventGroup
  /// Of a node of a cluster.
  private let router: ClusterRouter?

  private var broker: Broker { emulator.broker }
  private var environment: Environment { emulator.options.environment }

  init(_ emulator: Emulator) {
    self.emulator = emulator
    context = ConsoleContext(
      emulator.broker, now: emulator.clock.now, bindHost: emulator.options.listeners.bind,
      allowedHosts: emulator.options.credentials.allowedHosts, accessToken: emulator.access.console,
      events: emulator.events,
      makeTimer: { [loop = emulator.loop] delay, work in
        let timer = LoopEvent(timerOn: loop, handler: work)
        timer.start(afterNanoseconds: delay)
        return timer
      })
    watching = EventGroup(context)
    router = emulator.nodes.map { [context] in ClusterRouter(context, $0.consoles, emulator.paths.node) }
    background = BackgroundWork(emulator.loop)
    credentials = Self.credentials(emulator, background)
    live = Self.live(emulator, credentials)
  }

  /// Valid now by the system's clock, which TLS peers go by, wherever the emulator's stands.
  private static func credentials(_ emulator: Emulator, _ background: BackgroundWork?) -> FolderCredentials {
    FolderCredentials(
      emulator.certs, verifier: emulator.tokenVerifier, background: background,
      now: { SystemClock.wallTime })
  }

  private static func live(_ emulator: Emulator, _ credentials: FolderCredentials) -> LiveState {
    LiveState(
      emulator.broker, emulator.options.environment, emulator.clock, emulator.faults.engine, credentials)
  }

  /// What seed data are loaded into, where nobody can ask yet.
  static func live(_ emulator: Emulator) -> LiveState { live(emulator, credentials(emulator, nil)) }

  /// The console, without a listener.
  func makeConsole() -> Console {
    Console(context, about: fleet + about, devices + history + deeds + peers, router: router)
  }

  private var fleet: [any RouteGroup] {
    guard emulator.options.console.fleetEvents else { return [] }
    let events = FleetMDMEvents(
      broker, emulator.clock, emulator.streams, environment, apnsIDs: emulator.provider.apnsIDs,
      isEnding: { [unowned shutdown = emulator.shutdown] in shutdown.hasBegun })
    return [FleetMDMGroup(events)]
  }

  private var about: [any RouteGroup] {
    [
      InfoGroup(
        broker, emulator.clock, boot: context.boot, info: info,
        unreadiness: { [unowned shutdown = emulator.shutdown, cluster = emulator.paths.node?.cluster] in
          shutdown.hasBegun ? "shutting down" : cluster?.whyNotReady
        }),
      MetricsGroup(
        broker, emulator.faults.engine,
        eventStreams: { [watching, router] in router?.watcherCount ?? watching.clientCount },
        others: metrics),
    ]
  }

  /// Besides those of the broker.
  private var metrics: () -> [MetricFamily] {
    {
      [
        connections = emulator.connections, paths = emulator.paths, hooks = emulator.hooks,
        logger = emulator.logger, router
      ] in
      let parts = [
        connections.metrics, paths.forward?.metrics, hooks?.metrics, paths.nodes?.metrics,
        paths.node.map(ClusterMetrics.all), paths.capture?.metrics, paths.advice.metrics, logger.metrics,
        router?.metrics,
      ]
      return parts.flatMap { $0 ?? [] }
    }
  }

  private var devices: [any RouteGroup] {
    [
      CredentialGroup(credentials, broker.registry),
      TokenGroup(broker, environment) {
        IdentityDerivation.appTokenMessage(environment: $0, udid: $1, topicHash: $2, install: $3, context: $4)
      },
      DeviceGroup(broker, environment), StreamGroup(emulator.streams, broker.registry, environment),
      PhoneGroup(emulator.phones, broker.registry, makeTimer: context.slices.makeTimer),
    ]
  }

  private var history: [any RouteGroup] {
    [
      NotificationGroup(broker, context.events), WaitGroup(broker, context.waits, context.slices), watching,
      ConnectionGroup(list: emulator.connections.all), AdviceGroup(emulator.advice),
      DrillGroup(emulator.drills),
    ]
  }

  private var deeds: [any RouteGroup] {
    let (slices, events, faults) = (context.slices, context.events, emulator.faults.engine)
    let states = SavedStateGroup(live, slices, events, background: background)
    let target = ResetTarget(
      broker, emulator.clock, faults, emulator.phones, emulator.advice,
      forgetDevices: emulator.paths.node.map { node in { [unowned node] in node.forgetDevices() } })
    return [
      TestPushGroup(emulator.testPushes, broker, environment),
      ResetGroup(target, slices, events, willReset: states.willReset),
      ClockGroup(emulator.clock, broker, slices, events), states, FaultGroup(faults),
      ExplainGroup(isPushTypeStrict: emulator.options.isPushTypeStrict),
      ClusterGroup(cluster),
    ]
  }

  private var cluster: ClusterConsole? {
    emulator.paths.node.map { node in
      ClusterConsole(
        node, natsServers: emulator.options.cluster?.natsServers.map(\.description) ?? [], emulator.loop,
        stop: { [unowned shutdown = emulator.shutdown] in shutdown.begin() })
    }
  }

  private var peers: [any RouteGroup] {
    let desk = ActivationDesk(emulator.certs, emulator.loop)
    let push = PlainPush(service: emulator.provider, environment: environment)
    let folder = emulator.options.console.dashboard.map(DashboardFolder.init)
    return [
      PeerGroup(
        emulator.access.activation(emulator.options.credentials.activation),
        activate: desk.map { desk in
          { desk.activate($0.request.body, from: $0.connection?.remoteAddress.host ?? "", $1) }
        }, push: push.answer),
      folder.map { DashboardGroup(file: $0.file) } ?? DashboardGroup(),
    ]
  }

  private var info: () -> EmulatorInfo {
    let (options, certs) = (emulator.options, emulator.certs)
    var info = EmulatorInfo()
    (info.version, info.environment) = (EmulatorVersion.current, options.environment)
    (info.ca, info.certs) = (PortsFile.absolute(certs.ca.certificate), PortsFile.absolute(certs.path))
    info.portsFile = options.files.ports.map(PortsFile.absolute)
    info.needsAccess = emulator.access.console != nil
    (info.isLenient, info.isEphemeral) = (options.credentials.isLenient, options.files.isEphemeral)
    (info.seed, info.node) = (String(emulator.seed), emulator.paths.node?.cluster.name)
    return {
      [
        info, topics = IssuedTopics(certs), unowned listeners = emulator.listeners,
        capture = emulator.paths.capture
      ] in
      var info = info
      // The file is there once it was begun, which is later than this console.
      info.capture = capture.map { .init(file: PortsFile.absolute($0.path), progress: $0.progress) }
      info.listeners = listeners.addresses.map { ($0, .init(host: $1.host, port: Int($1.port))) }
      info.certificates = topics.all().map(\.name)
      return info
    }
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
