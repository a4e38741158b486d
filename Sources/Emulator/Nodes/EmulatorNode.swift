import Broker
import Cluster
import ClusterRouter
import Console
import Credentials
import Platform
import PushModel
import Runtime
import Transport
import Zones

/// This emulator as one node of several: its part of the cluster, and how pushes, commands and news go to the others.
///
///     join (before there is a broker: tokens depend on the cluster) ─→ attach ─→ start: logs are read ─→ announce ─→ drain ─→ close
final class EmulatorNode {
  /// How long the start waits for the logs, and then for zones that have no leader, in nanoseconds.
  private static let readTimeout: Int64 = 120_000_000_000
  private static let leaderTimeout: Int64 = 12_000_000_000
  /// How long the orderly end waits for others to take the zones, in nanoseconds.
  private static let drainTimeout: Int64 = 8_000_000_000
  private static let tickInterval: Int64 = 100_000_000
  /// Answers to orders that are kept, as a count.
  private static let answerCount = 64

  let cluster: ClusterNode
  private let loop: EventLoop
  private unowned let broker: Broker
  let relay: EdgeSink
  private let links: EdgeLinks
  private let edges: LeaderLinks
  private let commands: EdgeCommands
  let service: NodesService
  private var timer: LoopEvent?
  private var drainTimer: LoopEvent?
  /// The order that is carried out, or was last, and what came of it.
  private var orderNumber: UInt64 = 0
  /// The newest answers, for who has ordered them here.
  private var answers: [(number: UInt64, response: HTTPResponse)] = []
  /// Carries orders out where there is no listener for consoles.
  private var ownConsole: Console?

  /// Joins the cluster of NATS; throws the sentence why it can't.
  static func join(
    _ cluster: ClusterOptions, _ loop: EventLoop, _ options: ServeOptions, _ certs: CertsFolder,
    _ logger: Logger
  ) throws -> ClusterNode {
    var settings: NodeSettings
    do { settings = try cluster.nodeSettings() } catch {
      throw EmulatorError(.failed, "--cluster-secret: \(error)")
    }
    let fingerprints = try certs.caFingerprints()
    settings.credentials = NodeCredentials(
      ca: fingerprints.root, deviceCA: fingerprints.devices, tokenSeed: options.credentials.tokenSeed)
    settings.folder = options.files.isEphemeral ? nil : options.files.data
    settings.tell = { [logger] in
      logger.log(.warning, $0, [("because", .string($1))])
      // No turn of the emulator's ends yet.
      logger.flush()
    }
    do {
      return try ClusterNode(
        loop: loop, nats: cluster.natsSettings(software: EmulatorVersion.current), settings)
    } catch {
      throw EmulatorError(.failed, "--nats: \(error)")
    }
  }

  /// To be made once all parts of the emulator are, and before anything is read.
  init(_ cluster: ClusterNode, _ emulator: Emulator) {
    let (loop, broker, clock) = (emulator.loop, emulator.broker, emulator.clock)
    (self.cluster, self.loop, self.broker) = (cluster, loop, broker)
    service = emulator.join(cluster)
    links = EdgeLinks(service.caller, ordinal: cluster.membership.ordinal)
    commands = EdgeCommands(cluster: cluster, links: links, broker: broker)
    relay = EdgeSink(
      broker: broker, cluster: cluster, clock: clock, waiters: emulator.waiters, links: links,
      commands: commands, broadcasts: emulator.provider.broadcasts, logger: emulator.logger,
      capture: emulator.capture)
    edges = LeaderLinks(broker, cluster, clock)
    service.onLink = { [edges] in edges.take($0, $1) }
    attach(emulator)
    timer = LoopEvent(timerOn: loop) { [unowned self] in tick() }
    timer?.start(afterNanoseconds: Self.tickInterval)
  }

  private func tick() {
    timer?.start(afterNanoseconds: Self.tickInterval)
    // First of all: whether this node has slept says what may still be done.
    edges.look()
    commands.tick()
    relay.tick()
  }

  /// Has the emulator's parts ask the others where they must.
  private func attach(_ emulator: Emulator) {
    emulator.sink = relay
    emulator.provider.broadcasts = relay
    emulator.provider.directory.isElsewhere = { [unowned self] token in
      let zone = token.withUnsafeBytes { cluster.map.zone(ofUnknown: $0) }
      return cluster.seat(of: zone) != .here
    }
    let channels = emulator.provider.channels
    channels.isMine = { [unowned self] in cluster.ledCount == 0 || isHere(channel: $0) }
    channels.elsewhere = { [unowned self] in askForChannel($0, storesNewest: $1, done: $2) }
    emulator.feedback.onRead = { [unowned self] in tellOfFeedback($0) }
    let clock = emulator.clock
    cluster.callbacks.parting = { [unowned broker] zone in
      broker.devices.endSessions(
        of: UInt16(zone.number), reason: "the device's zone moves to another node", now: clock.now())
    }
    cluster.callbacks.seatsChanged = { [unowned self] in
      relay.seatsChanged()
      service.seatsChanged()
    }
    cluster.callbacks.startedOver = { [unowned broker] in broker.forgetDevices(now: clock.now()) }
    let logger = emulator.logger
    cluster.callbacks.tell = { [logger] sentence, because in
      logger.log(.warning, sentence, because.map { [("because", .string($0))] } ?? [])
    }
    cluster.callbacks.natsTrouble = { [logger] trouble in
      guard let trouble else { return logger.log(.info, "the NATS server is of use again") }
      logger.log(
        .error, "nothing is kept, and pushes are refused", [("because", .string("\(trouble)"))])
    }
    if !cluster.isSealed {
      logger.log(
        .warning, "without --cluster-secret, whoever may write to the NATS server may change everything", [])
    }
    cluster.callbacks.failed = { [unowned emulator] in emulator.giveUp($0) }
  }

  // MARK: The start

  /// Turns the loop until all logs have been read; throws the sentence why that does not come to an end.
  func readLogs(_ emulator: Emulator) throws {
    let clock = emulator.clock
    cluster.start(broker, clock: { clock.now() })
    try turn(until: { cluster.hasRead }, timeout: Self.readTimeout, emulator)
  }

  /// Tells the others where this node is, and turns the loop until each zone has a leader, or for a while.
  func announce(_ emulator: Emulator) throws {
    guard let nodes = emulator.ports[NodesService.listenerName] else { return }
    cluster.listens(
      at: advertised(nodes), console: emulator.ports["console"].map { advertised($0) })
    carryOutOrders(emulator)
    let deadline = SystemClock.now().adding(nanoseconds: Self.leaderTimeout)
    try turn(
      until: { cluster.orders.hasRead && cluster.isReady || SystemClock.now() >= deadline },
      timeout: 2 * Self.leaderTimeout, emulator)
  }

  private func turn(until isDone: () -> Bool, timeout: Int64, _ emulator: Emulator) throws {
    let isInTime = try loop.turn(
      until: {
        if isDone() { return true }
        if let failure = emulator.failure { throw failure }
        return false
      }, within: timeout)
    guard isInTime else {
      throw EmulatorError(.failed, "--nats: \(cluster.whyNotReady ?? "it takes too long")")
    }
  }

  /// Where others reach a listener: one that is bound to all addresses is told by the one that NATS sees.
  private func advertised(_ address: SocketAddress) -> SocketAddress {
    guard ["0.0.0.0", "::"].contains(address.host), let own = cluster.ownHost else { return address }
    return SocketAddress(host: own, port: address.port)
  }

  // MARK: The end

  /// Hands all zones over, as far as there is anybody and time; then `done`.
  func drain(done: @escaping () -> Void) {
    var done: (() -> Void)? = done
    let finish = { [unowned self] in
      drainTimer = nil
      let call = done
      done = nil
      call?()
    }
    drainTimer = LoopEvent(timerOn: loop) { finish() }
    drainTimer?.start(afterNanoseconds: Self.drainTimeout)
    cluster.drain { finish() }
  }

  func close() {
    links.close()
    cluster.close()
  }

  // MARK: Zones of others

  private func isHere(channel id: [UInt8]) -> Bool {
    cluster.seat(of: cluster.map.zone(ofChannel: id)) == .here
  }

  /// Has a channel's leader make it, or with nil delete it; false if that is this node.
  private func askForChannel(
    _ key: ChannelTable.Key, storesNewest: Bool?, done: @escaping (Bool) -> Void
  ) -> Bool {
    guard !isHere(channel: key.id), let topic = broker.registry[key.topic].name else { return false }
    let action: LinkCommand.Action =
      storesNewest.map { .createChannel(topic: topic, key.environment, id: key.id, storesNewest: $0) }
      ?? .deleteChannel(topic: topic, key.environment, id: key.id)
    commands.ask(action, in: cluster.map.zone(ofChannel: key.id)) {
      // One that is not there was deleted when this was asked before, or by somebody else.
      done($0 == .done || $0 == .noChannel && storesNewest == nil)
    }
    return true
  }

  /// Rows of this node's zones are cleared as ever.
  private func tellOfFeedback(_ rows: [RegistrationID]) {
    let byZone = Dictionary(grouping: rows) { broker.registry[$0].zone }
    for (zone, rows) in byZone where !broker.zones.leads(zone) {
      let tokens = rows.map { broker.registry[$0].token }
      for start in stride(from: 0, to: tokens.count, by: 1000) {
        let part = Array(tokens[start..<min(start + 1000, tokens.count)])
        commands.ask(.feedbackRead(part), in: ZoneNumber(Int(zone)))
      }
    }
  }
}

/// What all nodes do.
extension EmulatorNode: NodeOrders {
  func order(_ request: OrderedRequest, done: @escaping (HTTPResponse?, String) -> Void) {
    cluster.orders.order(request.document) { [unowned self] in
      switch $0 {
      case .success(let number):
        done(answers.last { $0.number == number }?.response, "it was carried out, and its answer is lost")
      case .failure(let failure): done(nil, "\(failure)")
      }
    }
  }

  var lastOrder: UInt64 { cluster.orders.last }

  func whenCarriedOut(_ number: UInt64, then: @escaping () -> Void) -> Bool {
    cluster.orders.whenRead(number, then: then)
  }

  func forgetDevices() { cluster.startOver(number: orderNumber) }

  private func carryOutOrders(_ emulator: Emulator) {
    cluster.carryOutOrders { [unowned self, unowned emulator] number, document in
      guard let order = OrderedRequest(document) else { return }
      orderNumber = number
      answers.append((number, order.carryOut(by: console(of: emulator).table, at: emulator.clock.now())))
      if answers.count > Self.answerCount { answers.removeFirst() }
    }
  }

  private func console(of emulator: Emulator) -> Console {
    if let console = emulator.consoleRoutes ?? ownConsole { return console }
    let console = ConsoleService(emulator).makeConsole()
    ownConsole = console
    return console
  }
}
