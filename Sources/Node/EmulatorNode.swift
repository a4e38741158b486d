import Basics
import Broker
import Cluster
import ClusterRouter
import Console
import Platform
import PushModel
import Services
import Transport
import Zones

/// What a node has the rest of its emulator do. All on the loop.
package protocol NodeHost: AnyObject {
  /// Why nothing can be promised any more; nil while all is well.
  var failure: EmulatorError? { get }
  /// The orderly end has begun.
  var isEnding: Bool { get }
  /// The console's listener; nil while it is off.
  var console: HTTPServer? { get }
  /// What the console has, listener or not; nil until the start.
  var routes: RouteTable? { get }
  /// Takes a device that another node leads here.
  func take(_ device: EdgeDevice, _ connection: SocketConnection)
  /// Ends the connections of devices that are not of this node any more, in order: they come back.
  func endDevices(_ reason: String, where isGone: (UDID) -> Bool)
  /// Nothing can be promised any more, and why.
  func giveUp(_ sentence: String)
}

/// This emulator as one node of several: its part of the cluster, and how pushes, commands and news go to the others.
///
///     join (before there is a broker: tokens depend on the cluster) ─→ made (before whoever takes pushes or devices)
///        ─→ start: logs are read ─→ announce ─→ drain ─→ close
package final class EmulatorNode {
  /// How long the start waits for the logs, and then for zones that have no leader, in nanoseconds.
  private static let readTimeout: Int64 = 120_000_000_000
  private static let leaderTimeout: Int64 = 12_000_000_000
  /// How long the orderly end waits for others to take the zones, in nanoseconds.
  private static let drainTimeout: Int64 = 8_000_000_000
  private static let tickInterval: Int64 = 100_000_000
  /// Answers to orders that are kept, as a count.
  private static let answerCount = 64

  package let cluster: ClusterNode
  private let loop: EventLoop
  private let broker: Broker
  private let clock: EmulatorClock
  private let logger: Logger
  /// Connections to other nodes.
  package let service: NodesService
  /// Where pushes and broadcasts go.
  package let sink: EdgeSink
  /// Takes the links of other nodes.
  package let leader: LeaderLinks
  private weak var host: (any NodeHost)?
  private var timer: LoopEvent?
  private var drainTimer: LoopEvent?
  /// The order that is carried out, or was last, and what came of it.
  private var orderNumber: UInt64 = 0
  /// The newest answers, for who has ordered them here.
  private var answers: [(number: UInt64, response: HTTPResponse)] = []

  /// Joins the cluster of NATS; throws the sentence why it can't. `folder` keeps what is known of it, if anything does.
  package static func join(
    _ cluster: ClusterOptions, _ loop: EventLoop, _ credentials: NodeCredentials, folder: String?,
    software: String, _ logger: Logger
  ) throws -> ClusterNode {
    var settings: NodeSettings
    do { settings = try cluster.nodeSettings() } catch {
      throw EmulatorError(.failed, "--cluster-secret: \(error)")
    }
    (settings.credentials, settings.folder) = (credentials, folder)
    settings.tell = { [logger] in
      logger.log(.warning, $0, [("because", .string($1))])
      // No turn of the emulator's ends yet.
      logger.flush()
    }
    do {
      return try ClusterNode(loop: loop, nats: cluster.natsSettings(software: software), settings)
    } catch {
      throw EmulatorError(.failed, "--nats: \(error)")
    }
  }

  /// Does nothing for others before `start`. `capture` is told which pushes other nodes decide about.
  package init(
    _ cluster: ClusterNode, loop: EventLoop, broker: Broker, clock: EmulatorClock, logger: Logger,
    waiters: PushWaiters, capture: (any TrafficRecorder)?
  ) {
    (self.cluster, self.loop, self.broker) = (cluster, loop, broker)
    (self.clock, self.logger) = (clock, logger)
    service = NodesService(cluster, loop: loop, logger: logger)
    sink = EdgeSink(
      broker: broker, cluster: cluster, clock: clock, waiters: waiters, caller: service.caller,
      capture: capture,
      logger: logger)
    leader = LeaderLinks(broker, cluster, clock)
    if !cluster.isSealed {
      logger.log(
        .warning,
        "without --cluster-secret, every client that may write to the NATS server may change everything", [])
    }
    timer = LoopEvent(timerOn: loop) { [unowned self] in tick() }
    timer?.start(afterNanoseconds: Self.tickInterval)
  }

  private func tick() {
    timer?.start(afterNanoseconds: Self.tickInterval)
    // First of all: whether this node has slept says what may still be done.
    leader.look()
    sink.tick()
  }

  // MARK: The start

  /// Turns the loop until all logs have been read; throws the sentence why that does not come to an end.
  package func start(for host: any NodeHost) throws {
    self.host = host
    cluster.start(broker, clock: { [clock] in clock.now() }, self)
    try turn(until: { cluster.hasRead }, timeout: Self.readTimeout)
  }

  /// Tells the others where this node and its console are, and turns the loop until each zone has a leader, or for a while.
  package func announce(_ nodes: SocketAddress?, console: SocketAddress?) throws {
    guard let nodes else { return }
    cluster.listens(at: advertised(nodes), console: console.map { advertised($0) })
    cluster.carryOutOrders { [unowned self] in carryOut($0, $1) }
    let deadline = SystemClock.now().adding(nanoseconds: Self.leaderTimeout)
    try turn(
      until: { cluster.orders.hasRead && cluster.isReady || SystemClock.now() >= deadline },
      timeout: 2 * Self.leaderTimeout)
  }

  private func turn(until isDone: () -> Bool, timeout: Int64) throws {
    let isInTime = try loop.turn(
      until: {
        if isDone() { return true }
        if let failure = host?.failure { throw failure }
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
  package func drain(done: @escaping () -> Void) {
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

  package func close() {
    sink.close()
    cluster.close()
  }
}

/// What the cluster tells.
extension EmulatorNode: ClusterListener {
  package func zoneParts(_ zone: ZoneNumber) {
    broker.devices.endSessions(
      of: UInt16(zone.number), reason: "the device's zone moves to another node", now: clock.now())
  }

  package func seatsChanged() {
    sink.release()
    service.seatsChanged(for: host)
  }

  package func startedOver() { broker.forgetDevices(now: clock.now()) }

  package func failed(_ sentence: String) { host?.giveUp(sentence) }

  package func tell(_ sentence: String, _ because: String?) {
    logger.log(.warning, sentence, because.map { [("because", .string($0))] } ?? [])
  }

  package func natsTrouble(_ trouble: ClusterTrouble?) {
    guard let trouble else { return logger.log(.info, "the NATS server is usable again") }
    logger.log(
      .error, "nothing is stored, and pushes are rejected", [("because", .string("\(trouble)"))])
  }
}

/// What all nodes do.
extension EmulatorNode: NodeOrders {
  package func order(_ request: OrderedRequest, done: @escaping (HTTPResponse?, String) -> Void) {
    cluster.orders.order(request.document) { [unowned self] in
      switch $0 {
      case .success(let number):
        done(
          answers.last { $0.number == number }?.response,
          "the request was carried out, but its answer is lost")
      case .failure(let failure): done(nil, "\(failure)")
      }
    }
  }

  package var lastOrder: UInt64 { cluster.orders.last }

  package func whenCarriedOut(_ number: UInt64, then: @escaping () -> Void) -> Bool {
    cluster.orders.whenRead(number, then: then)
  }

  package func forgetDevices() { cluster.startOver(number: orderNumber) }

  private func carryOut(_ number: UInt64, _ document: [UInt8]) {
    guard let order = OrderedRequest(document), let routes = host?.routes else { return }
    orderNumber = number
    answers.append((number, order.carryOut(by: routes, at: clock.now())))
    if answers.count > Self.answerCount { answers.removeFirst() }
  }
}
