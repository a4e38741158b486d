import Basics
import Transport

/// Follows the event streams of all other nodes while somebody here watches, and a while longer for who comes back.
///
///     idle ─ a client ─→ beginning ─ each node is followed, or out of reach ─→ following ─ nobody for a while ─→ idle
///
/// What is missed of a node is a gap: when its stream is lost or it comes later than the clients, and when following ends.
final class EventFollower {
  /// How often it is looked whom to follow, in nanoseconds.
  private static let interval: Int64 = 1_000_000_000
  /// How long a client that was cut off has to come back, as a count of looks: without a gap then.
  private static let linger = 60

  /// Whether anybody watches.
  var isWatched: () -> Bool = { false }
  /// Told when there is something new.
  var onEvent: () -> Void = {}
  private let others: any OtherConsoles
  private let events: MergedEvents
  private let makeTimer: (Int64, @escaping () -> Void) -> AnyObject?
  private var nodes: [String: OtherEvents] = [:]
  /// Clients that wait until all nodes are followed.
  private var waiting: [() -> Void] = []
  private var isOn = false
  /// Not all that are to be followed have been asked.
  private var isLooking = false
  private var timer: AnyObject?
  private var deadline: AnyObject?
  private var idleLooks = 0

  init(
    _ others: any OtherConsoles, _ events: MergedEvents,
    makeTimer: @escaping (Int64, @escaping () -> Void) -> AnyObject?
  ) { (self.others, self.events, self.makeTimer) = (others, events, makeTimer) }

  /// How many clients wait to begin.
  var waitingCount: Int { waiting.count }

  /// Calls back when what happens at any node will be told, or is known not to be.
  func whenFollowing(_ then: @escaping () -> Void) {
    events.turnOn()
    waiting.append(then)
    if !isOn {
      isOn = true
      look()
    }
    if deadline == nil {
      deadline = makeTimer(Console.otherTimeout) { [unowned self] in
        for node in nodes.values where !node.isFollowed { node.giveUp() }
        settle()
      }
    }
    settle()
  }

  /// Follows those that have come, or come back, and forgets who is gone.
  private func look() {
    idleLooks = isWatched() || !waiting.isEmpty ? 0 : idleLooks + 1
    guard idleLooks < Self.linger else { return stop() }
    let names = others.names
    for (name, node) in nodes where !names.contains(name) {
      if !node.hasFailed { lose(name, node) }
      nodes[name] = nil
    }
    isLooking = true
    for name in names where nodes[name]?.hasFailed ?? true { follow(name) }
    isLooking = false
    timer = makeTimer(Self.interval) { [unowned self] in look() }
  }

  private func follow(_ name: String) {
    let position = nodes[name]?.position
    // Who watches already has missed what happened there so far.
    let isLate = position == nil && waiting.isEmpty
    let node = OtherEvents(name, after: position)
    nodes[name] = node
    node.onEvent = { [unowned self] event, data in take(event, data) }
    node.onNews = { [unowned self, unowned node] in
      if node.isFollowed ? isLate : node.hasBoot { gap(name) }
      settle()
    }
    node.ask(others)
  }

  /// What all nodes do, each tells; its own is enough.
  private func take(_ event: String, _ data: String) {
    guard !["clock", "reset"].contains(event) else { return }
    events.append(event, Array(data.utf8))
    onEvent()
  }

  private func lose(_ name: String, _ node: OtherEvents) {
    node.giveUp()
    gap(name)
  }

  private func gap(_ name: String) {
    events.appendGap(name)
    onEvent()
  }

  private func settle() {
    guard !isLooking, !waiting.isEmpty, nodes.values.allSatisfy({ $0.isFollowed || $0.hasFailed }) else {
      return
    }
    deadline = nil
    let calls = waiting
    waiting = []
    for call in calls { call() }
    // Who begins now is told what they do without.
    for (name, node) in nodes where node.hasFailed { gap(name) }
  }

  /// Nobody watches any more.
  func stop() {
    for (name, node) in nodes where !node.hasFailed { lose(name, node) }
    (nodes, timer, deadline, isOn, idleLooks) = ([:], nil, nil, false, 0)
  }
}

/// The events of one other node, as its stream tells them. It tells of news when it begins to be followed, and when it is not any more.
private final class OtherEvents: NodeAnswer {
  /// Longest event, in bytes: many times one with the largest payload.
  private static let limit = 1 << 20

  /// Told of each.
  var onEvent: (_ name: String, _ data: String) -> Void = { _, _ in }
  /// The first event has come, from which on none is missing.
  private(set) var hasBoot = false
  var isFollowed: Bool { hasBoot && !hasFailed }
  /// Where to go on: the id of the last event.
  private(set) var position: String?
  private var reader = EventStreamReader()

  /// `position`: where an earlier stream has ended.
  init(_ node: String, after position: String?) {
    self.position = position
    super.init(node)
  }

  func ask(_ others: any OtherConsoles) {
    let since = position.map { "?since=\($0)" } ?? ""
    // HTTP/1.1 wants a host, and nodes do not look at it.
    guard let request = HTTPRequest("GET", "/api/v1/events\(since)", fields: [HTTPField("Host", node)])
    else { return fail() }
    ask(others, request, timeout: nil)
  }

  override func received(_ piece: [UInt8]) {
    for event in reader.take(piece) where !hasFailed {
      if !event.id.isEmpty { position = event.id }
      if event.name != "boot" {
        onEvent(event.name, event.data)
      } else if !hasBoot {
        hasBoot = true
        onNews()
      }
    }
    if reader.heldBytes > Self.limit { fail() }
  }

  /// It is to have no end.
  override func ended(_ failure: String?) { fail() }
}

/// Clients that watch what happens at all nodes, by one of them.
final class MergedWatching {
  let pump: EventPump
  private let follower: EventFollower

  init(
    _ context: ConsoleContext, _ slices: SliceScheduler, _ own: OwnEvents, _ others: any OtherConsoles
  ) {
    let events = MergedEvents(own)
    pump = EventPump(context, slices, events)
    follower = EventFollower(others, events, makeTimer: slices.makeTimer)
    follower.isWatched = { [pump] in pump.streamCount > 0 }
    follower.onEvent = { [pump] in pump.somethingHappened() }
  }

  /// Begins a stream as soon as the others are followed: from its first event on it misses nothing. `refusing` has the client
  /// hear what goes wrong.
  func open(
    _ exchange: HTTPExchange, after position: EventPosition?,
    refusing: @escaping (() throws -> Void) -> Void
  ) throws {
    try pump.checkRoom(follower.waitingCount)
    follower.whenFollowing { [pump] in
      guard exchange.isOpen else { return }
      refusing { try pump.open(exchange, after: position) }
    }
  }

  func end() {
    pump.endAll()
    follower.stop()
  }
}

extension Console {
  /// `GET /api/v1/events` in a cluster: of all nodes.
  func mergeEvents(
    _ request: ConsoleRequest, _ exchange: HTTPExchange, _ others: any OtherConsoles
  ) throws {
    let position = try position(request)
    guard request.http.method == "GET" else { return exchange.respond(headOfEvents) }
    guard let merged else { throw ConsoleError.unavailable("the other nodes are not followed") }
    try merged.open(exchange, after: position) { exchange.refusing($0) }
  }
}
