import Basics
import Broker
import NATSWire
import Platform
import PushModel
import Transport
import Zones

/// One node of a cluster: its line to NATS, the zones that it leads and the copies of all others, and what it knows of the other
/// nodes.
///
///     join: the cluster's number of zones, its secret, this node's ordinal ─→ attach a broker ─→ start: read all logs, own zones
///
/// A node that loses a zone without having left it ends: what it knows may be wrong, and whoever runs it starts it again.
package final class ClusterNode {
  private static let tickInterval: Int64 = 100_000_000
  /// After the start nothing is moved for so long: the others have to be heard first.
  private static let calm: Int64 = 2_500_000_000
  /// Snapshots that are made at the same time, as a count.
  private static let snapshotsAtOnce = 2
  private static let joinTimeout: Int64 = 10_000_000_000

  package let membership: ClusterMembership
  private let settings: NodeSettings
  private weak var listener: (any ClusterListener)?
  package private(set) lazy var store = ClusterStore(map, now: { SystemClock.now() }) { [unowned self] in
    driver($0).add($1)
  }
  let loop: EventLoop
  let client: NATSClient
  /// What all nodes do, in one order.
  package let orders: ClusterOrders
  private var drivers: [ZoneDriver] = []
  /// nil before the start.
  private var copies: ZoneCopies?
  private let presence: NodePresence
  private let places: ZonePlaces
  private var timer: LoopEvent?
  private var startedAt = Instant.distantPast
  private var whenEmpty: (() -> Void)?
  private var hasFailed = false
  /// Places of which `passedOver` has told.
  private var told: Set<String> = []
  private var news = TroubleNews()

  /// Connects to NATS and joins the cluster there, or makes one; turns the loop meanwhile. Throws a sentence.
  package init(loop: EventLoop, nats: NATSClient.Settings, _ settings: NodeSettings) throws {
    (self.loop, self.settings) = (loop, settings)
    client = NATSClient(loop: loop, settings: nats)
    let log = settings.log(client, loop) { $0.orders(replicas: $1) }
    client.start()
    do {
      membership = try ClusterJoin.run(client, log, loop: loop, settings, timeout: Self.joinTimeout)
    } catch {
      client.close()
      throw error
    }
    orders = ClusterOrders(log)
    presence = NodePresence(
      client, settings.names, name: settings.name, ordinal: membership.ordinal, seal: settings.seal,
      of: log.created ?? "")
    places = ZonePlaces(settings.name, presence, zones: membership.birth.zones.count)
  }

  package var map: ZoneMap { membership.birth.zones }
  package var name: String { settings.name }
  /// nil for the cluster that has no name.
  package var clusterName: String? { settings.names.cluster }

  /// Whether nothing counts here but what nodes of the cluster have written.
  package var isSealed: Bool { settings.seal != nil }

  private func driver(_ zone: ZoneNumber) -> ZoneDriver { drivers[zone.number] }

  /// Begins to read the logs into a broker that knows nothing yet, and to own zones; `listener` hears of it as long as it lives.
  package func start(_ broker: Broker, clock: @escaping () -> Timestamp, _ listener: any ClusterListener) {
    self.listener = listener
    copies = ZoneCopies(broker, map, clock: clock)
    drivers = map.zones.map {
      ZoneDriver($0, client, loop, settings, asides: membership.asides, delegate: self)
    }
    presence.start(membership.fingerprints, speaks: settings.speaks, self)
    startedAt = SystemClock.now()
    timer = LoopEvent(timerOn: loop) { [unowned self] in tick() }
    for driver in drivers { driver.open() }
    tick()
  }

  /// Ends it: whatever is under way is not known to be done.
  package func close() {
    timer?.cancel()
    client.close()
  }

  // MARK: What is so

  /// All logs have been read up to their ends.
  package var hasRead: Bool {
    drivers.allSatisfy { $0.lease?.isCaughtUp == true || $0.role == .leading || $0.role == .claiming }
  }

  /// NATS is there, all logs have been read, and each zone has a leader that lives.
  package var isReady: Bool { whyNotReady == nil }

  /// nil if it is ready.
  package var whyNotReady: String? { trouble.map { "\($0)" } }

  /// nil if it is ready.
  package var trouble: ClusterTrouble? {
    let now = SystemClock.now()
    var facts = ClusterTrouble.Facts()
    (facts.natsUnreachable, facts.hasRead) = (client.unreachableBecause, hasRead)
    facts.isNATSSilent = presence.isNATSSilent(now)
    facts.appends = drivers.compactMap { driver in
      driver.lease?.appendWait(now).map { (failure: driver.lease?.trouble, waited: $0) }
    }
    facts.silent = presence.silent(now)
    facts.leaders = places.leaders
    return ClusterTrouble(facts)
  }

  /// Whether there is a connection to NATS.
  package var isConnected: Bool { client.unreachableBecause == nil }

  /// This host, as NATS sees it; nil while that is not there.
  package var ownHost: String? { client.ownHost }

  /// Zones that this node leads, as a count.
  package var ledCount: Int { places.ledCount }

  /// How long NATS has let this node wait, in nanoseconds.
  package var waitingTime: Int64 { store.waitingTime }

  /// The zones, for people.
  package var zoneReports: [ZoneReport] {
    drivers.map { driver in
      ZoneReport(
        zone: driver.zone, seat: places[driver.zone], leader: driver.leaderName,
        epoch: driver.lease?.epoch ?? 0, sequence: driver.lease?.last ?? 0,
        waitingBytes: driver.lease?.waitingBytes ?? 0, isMoving: places.moves.isMoving(driver.zone),
        trouble: driver.trouble.map { "\($0)" })
    }
  }

  /// The nodes that are running, including this one, by name.
  package var nodes: [NodeAnnouncement] { presence.all }

  /// Nodes that have joined, do not live, and have neither left in order nor been forgotten, by name.
  package var missing: [String] {
    guard orders.hasRead else { return [] }
    return orders.members.names.filter { $0 != name && presence[$0] == nil }
  }

  /// Whether a node has left in order: it ends in a moment, if it has not.
  package func hasLeft(_ node: String) -> Bool {
    presence[node].map { orders.members.hasLeft($0, asOf: orders.last) } ?? false
  }

  // MARK: What others should know

  /// Where the other nodes reach this one.
  package func listens(at address: SocketAddress, console: SocketAddress?) {
    presence.listens(at: address, console: console)
  }

  package func count(devices: Int) { presence.count(devices: devices) }

  /// The connection to a node is gone, and can't be made again: it need not be waited for.
  package func lost(_ node: String) { presence.forget(node) }

  // MARK: Time

  private func tick() {
    timer?.start(afterNanoseconds: Self.tickInterval)
    guard !hasFailed else { return }
    let now = SystemClock.now()
    presence.tick(now)
    for node in presence.others where hasLeft(node.name) { presence.askWhetherGone(node.name) }
    tellOfNATS(now)
    let targets = places.targets(drivers)
    for driver in drivers {
      let isWanted = targets.isEmpty || targets[driver.zone.number] == name
      driver.tick(now, mayClaim: !presence.own.isDraining && (isWanted || isOverdue(driver, now)))
    }
    goOnParting()
    makeSnapshots()
    if now.nanoseconds(since: startedAt) >= Self.calm { moveZones(targets) }
    if let whenEmpty, mayEnd {
      self.whenEmpty = nil
      leave(then: whenEmpty)
    }
  }

  private func tellOfNATS(_ now: Instant) {
    switch news.take(trouble, now: now) {
    case .trouble(let trouble): listener?.natsTrouble(trouble)
    case .over: listener?.natsTrouble(nil)
    case nil: break
    }
  }

  /// Few at a time: each looks through all devices.
  private func makeSnapshots() {
    var room = Self.snapshotsAtOnce - drivers.count { $0.isMakingSnapshot }
    for driver in drivers where room > 0 && driver.wantsSnapshot && !places.moves.isMoving(driver.zone) {
      driver.makeSnapshot()
      room -= 1
    }
  }

  /// Makes one of each zone that this node leads, whether it is time or not.
  package func makeSnapshotsNow() {
    for driver in drivers where driver.role == .leading && !driver.isMakingSnapshot { driver.makeSnapshot() }
  }

  /// Snapshots that this node has made, as a count.
  package var snapshotCount: Int { drivers.reduce(0) { $0 + $1.snapshotCount } }

  /// Whoever should have taken a zone has not: anybody may.
  private func isOverdue(_ driver: ZoneDriver, _ now: Instant) -> Bool {
    driver.lease.map { $0.silence(now) >= 2 * NodeBoard.timeout } ?? false
  }

  // MARK: Where zones lie

  /// Leaves zones that should be elsewhere.
  private func moveZones(_ targets: [String]) {
    guard !targets.isEmpty else { return }
    for driver in drivers where places.mayLeave(driver, for: targets[driver.zone.number]) {
      part(driver.zone, to: targets[driver.zone.number])
    }
  }

  private func part(_ zone: ZoneNumber, to node: String) {
    places.moves.begin(zone, to: node)
    refreshSeats()
    listener?.zoneParts(zone)
  }

  /// What ended with the sessions is in a commit of its own turn; once none is under way the log has it.
  private func goOnParting() {
    guard !store.isCommitting else { return }
    for (zone, heir) in places.moves.due() where driver(zone).role == .leading && !store.isCommitting {
      // What would be changed from here on (an expiry, a reset) is the next leader's to change: the log takes nothing more of ours.
      copies?.lead(zone, false)
      driver(zone).handOver(to: heir)
    }
  }

  /// Whether each zone is where it should be, as far as this node knows: nothing is on its way between nodes.
  package var isSettled: Bool { places.areSettled(drivers) }

  /// Moves a zone that this node leads; nil, or why not.
  package func move(_ zone: ZoneNumber, to node: String) -> String? {
    guard drivers.indices.contains(zone.number) else {
      return "expected a zone from 0 to \(map.count - 1), got \(zone)"
    }
    guard driver(zone).role == .leading else { return "zone \(zone) is not at \(name)" }
    if let refusal = places.refuse(zone, to: node) { return refusal }
    if !places.moves.isMoving(zone) { part(zone, to: node) }
    return nil
  }

  /// Hands all zones over, and calls back when none is left, or nobody is there to take them.
  package func drain(done: @escaping () -> Void) {
    whenEmpty = done
    presence.drain()
  }

  /// Has the others not miss this node, if NATS takes that.
  private func leave(then: @escaping () -> Void) {
    guard client.unreachableBecause == nil else { return then() }
    orders.order(ClusterMembers.left(name, ordinal: ordinal)) { _ in then() }
  }

  /// Has all nodes not miss one any more that will not come back. `done` is told when this one knows, or why it may not come to that.
  package func forget(_ node: String, done: @escaping (_ failure: String?) -> Void) {
    guard missing.contains(node), let ordinal = orders.members[node] else { return done("it is not missing") }
    orders.order(ClusterMembers.left(node, ordinal: ordinal)) {
      if case .failure(let failure) = $0 { done("\(failure)") } else { done(nil) }
    }
  }

  private var mayEnd: Bool {
    !presence.hasHeir && !store.isCommitting
      || drivers.allSatisfy { $0.role != .leading && $0.role.map { !$0.isLeaving } ?? true }
  }

  private func refreshSeats() { if places.look(drivers) { listener?.seatsChanged() } }

  // MARK: Orders

  /// Begins to carry out what all nodes do in one order, from the first order that there was: each is told with its number.
  package func carryOutOrders(_ carryOut: @escaping (UInt64, [UInt8]) -> Void) {
    orders.follow(
      carryOut: carryOut, passedOver: { [unowned self] in passedOver(orders.stream) },
      failed: { [unowned self] in fail($0) })
  }

  // MARK: Starting over

  /// Forgets everything of every zone, here and at once everywhere else, and says when.
  package func startOver(number: UInt64) {
    guard copies?.begin(number) == true else { return }
    for driver in drivers { driver.startedOver() }
    listener?.startedOver()
    for driver in drivers where driver.role == .leading { tellStart(number, driver.zone) }
  }

  /// The log has to say from where on what it tells is of the time after.
  private func tellStart(_ number: UInt64, _ zone: ZoneNumber) {
    if driver(zone).add(ZoneCopies.entry(ofStart: number)) != nil { copies?.note(zone, number) }
  }

  // MARK: What nobody of the cluster has written

  /// Told once for each place: whoever writes there may do so without end.
  private func passedOver(_ place: String) {
    guard told.insert(place).inserted else { return }
    listener?.tell(
      "a client without the cluster's secret writes to \(place) in NATS: its messages are ignored", nil)
  }

  // MARK: Failure

  private func fail(_ sentence: String) {
    guard !hasFailed else { return }
    hasFailed = true
    listener?.failed(sentence)
    store.fail(ClusterJoin.Refusal(description: sentence))
  }
}

extension ClusterNode: ClusterView {
  package func zone(of udid: UDID) -> ZoneNumber { map.zone(of: udid) }
  package func seat(of zone: ZoneNumber) -> ZoneSeat { places[zone] }
  package var secret: [UInt8] { membership.birth.secret }
  package var ordinal: UInt64 { membership.ordinal }
  package var peers: [NodePeer] {
    presence.others.compactMap { node in
      guard let address = node.address else { return nil }
      return NodePeer(name: node.name, address: address, ordinal: node.ordinal)
    }
  }
}

extension ClusterNode: NodePresenceListener {
  var seenCount: UInt64 { orders.last }
  func presenceChanged() { refreshSeats() }
  func presencePassedOver() { passedOver(settings.names.announcements) }
  func presenceRefused(_ sentence: String) { fail(sentence) }
}

extension ClusterNode: ZoneDriverDelegate {
  func zone(_ zone: ZoneNumber, apply changes: [UInt8]) throws {
    try copies?.apply(changes, of: zone) { startOver(number: $0) }
  }

  func zoneBegan(_ zone: ZoneNumber, epoch: UInt64) {
    copies?.lead(zone, true)
    places.moves.arrived(zone)
    if let number = copies?.awaited(zone) { tellStart(number, zone) }
    refreshSeats()
  }

  func zone(_ zone: ZoneNumber, confirmed turns: ClosedRange<UInt64>) { store.confirmed(zone, turns) }

  func zoneLeft(_ zone: ZoneNumber, to node: String) {
    copies?.lead(zone, false)
    places.moves.left(zone)
    refreshSeats()
  }

  func zoneWasRead(_ zone: ZoneNumber) { refreshSeats() }

  func zone(_ zone: ZoneNumber, hasStartedOver number: UInt64) {
    startOver(number: number)
    copies?.note(zone, number)
  }

  func zoneSnapshot(
    _ zone: ZoneNumber, _ log: LogStream, at place: ZonePlace, of stream: String,
    done: @escaping (SnapshotWriter.Outcome) -> Void
  ) -> SnapshotWriter? {
    copies?.snapshot(
      of: zone, log, at: place, of: stream, isSettled: { [unowned self] in !store.isCommitting }, done: done)
  }

  func zonePassedOver(_ stream: String, _ sequence: UInt64?) {
    guard let sequence else { return passedOver(stream) }
    guard told.insert(stream).inserted else { return }
    listener?.tell(
      "message \(sequence) of the stream \(stream) in NATS is not from a node: it is ignored", nil)
  }

  func zoneFailed(_ zone: ZoneNumber, _ sentence: String) { fail("zone \(zone): \(sentence)") }
}
