import PushModel

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
      if !node.isLost { lose(name, node) }
      nodes[name] = nil
    }
    isLooking = true
    for name in names where nodes[name]?.isLost ?? true { follow(name) }
    isLooking = false
    timer = makeTimer(Self.interval) { [unowned self] in look() }
  }

  private func follow(_ name: String) {
    let position = nodes[name]?.position
    // Who watches already has missed what happened there so far.
    let isLate = position == nil && waiting.isEmpty
    let node = OtherEvents(after: position)
    nodes[name] = node
    node.onEvent = { [unowned self] event, data in take(event, data) }
    node.onChange = { [unowned self, unowned node] in
      if node.isFollowed ? isLate : node.hasBegun { gap(name) }
      settle()
    }
    node.ask(name, others)
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
    guard !isLooking, !waiting.isEmpty, nodes.values.allSatisfy({ $0.isFollowed || $0.isLost }) else {
      return
    }
    deadline = nil
    let calls = waiting
    waiting = []
    for call in calls { call() }
    // Who begins now is told what they do without.
    for (name, node) in nodes where node.isLost { gap(name) }
  }

  /// Nobody watches any more.
  func stop() {
    for (name, node) in nodes where !node.isLost { lose(name, node) }
    (nodes, timer, deadline, isOn, idleLooks) = ([:], nil, nil, false, 0)
  }
}
