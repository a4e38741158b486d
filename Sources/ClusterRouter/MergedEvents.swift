import Basics
import Console
import ConsoleAnswers
import Transport

/// What happens at all nodes, as one of them hears of it: its own events, and those that the others tell it, in one order with
/// numbers of their own. Of others as much is kept as has room.
package final class MergedEvents: EventFeed {
  /// How many events are kept, as a count: no more than a node keeps of its own, so that those are always there to be described.
  package static let capacity: UInt64 = 16_384
  /// Most bytes of what others have told.
  package static let byteLimit = 8 << 20

  private enum Entry {
    /// By its number.
    case own(UInt64)
    case other(String, [UInt8])

    var byteCount: Int { if case .other(_, let data) = self { data.count } else { 0 } }
  }

  private let own: OwnEvents
  /// Streams of events, which are made after what they tell of.
  private var watchers: [() -> Void] = []
  /// From the first number on; none until somebody watches.
  private var entries = FIFO<Entry>()
  private var isOn = false
  private var first: UInt64 = 1
  private var byteCount = 0
  /// Of its own events, the first that is not among the entries.
  private var nextOwn: UInt64 = 1

  package init(_ own: OwnEvents) { self.own = own }

  package func watch(_ watcher: @escaping () -> Void) {
    own.watch(watcher)
    watchers.append(watcher)
  }

  package func turnOn() {
    own.turnOn()
    isOn = true
  }

  package var firstNumber: UInt64 {
    takeOwn()
    return first
  }

  package var nextNumber: UInt64 { firstNumber + UInt64(entries.count) }

  package func describe(_ number: UInt64) -> (String, JSONValue)? {
    guard number >= first, number < first + UInt64(entries.count) else { return nil }
    switch entries[Int(number - first)] {
    case .own(let number): return own.describe(number)
    case .other(let name, let data): return (name, .verbatim(data))
    }
  }

  /// Another node tells of something.
  package func append(_ name: String, _ data: [UInt8]) {
    guard isOn else { return }
    takeOwn()
    append(.other(name, data))
    for watcher in watchers { watcher() }
  }

  /// Events of a node are missing, nobody knows how many.
  func appendGap(_ node: String) {
    append("gap", JSONValue.object([("event", "gap"), ("missed", .null), ("node", .string(node))]).encoded)
  }

  private func takeOwn() {
    guard isOn else { return }
    if nextOwn < own.firstNumber {
      nextOwn = own.firstNumber
      append(.other("gap", Array(#"{"event":"gap","missed":null}"#.utf8)))
    }
    while nextOwn < own.nextNumber {
      append(.own(nextOwn))
      nextOwn += 1
    }
  }

  private func append(_ entry: Entry) {
    entries.append(entry)
    byteCount += entry.byteCount
    while UInt64(entries.count) > Self.capacity || byteCount > Self.byteLimit {
      byteCount -= entries.removeFirst(leaving: .own(0)).byteCount
      first += 1
    }
  }
}

/// Tells clients of what happens at all nodes: follows the event streams of the others while somebody here watches, and a while longer
/// for who comes back.
///
///     idle ─ a client ─→ beginning ─ each node is followed, or out of reach ─→ following ─ nobody for a while ─→ idle
///
/// What is missed of a node is a gap: when its stream is lost or it comes later than the clients, and when following ends.
final class EventFollower {
  /// How often it is looked whom to follow, in nanoseconds.
  private static let interval: Int64 = 1_000_000_000
  /// How long a client that was cut off has to come back, as a count of looks: without a gap then.
  private static let linger = 60

  private struct Node {
    /// What its stream tells.
    let answer: NodeAnswer
    /// Where to go on: the id of the last event.
    var position: String?
    /// The first event has come, from which on none is missing.
    var hasBoot = false

    var isFollowed: Bool { hasBoot && !answer.hasFailed }
  }

  let pump: EventPump
  private let others: any OtherConsoles
  private let events: MergedEvents
  private let makeTimer: MakeTimer
  private var nodes: [String: Node] = [:]
  /// Clients that wait until all nodes are followed.
  private var waiting: [() -> Void] = []
  private var isOn = false
  /// Not all that are to be followed have been asked.
  private var isLooking = false
  private var timer: AnyObject?
  private var deadline: AnyObject?
  private var idleLooks = 0

  init(_ context: ConsoleContext, _ others: any OtherConsoles) {
    (self.others, makeTimer) = (others, context.makeTimer)
    events = MergedEvents(context.events)
    pump = EventPump(events, context)
  }

  /// Begins a stream as soon as the others are followed: from its first event on it misses nothing.
  func answer(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    try pump.answer(request, exchange, waiting: waiting.count, when: whenFollowing)
  }

  /// Calls back when what happens at any node will be told, or is known not to be.
  private func whenFollowing(_ then: @escaping () -> Void) {
    events.turnOn()
    waiting.append(then)
    if !isOn {
      isOn = true
      look()
    }
    if deadline == nil {
      deadline = makeTimer(ClusterRouter.otherTimeout) { [unowned self] in
        for node in nodes.values where !node.isFollowed { node.answer.giveUp() }
        settle()
      }
    }
    settle()
  }

  /// Follows those that have come, or come back, and forgets who is gone.
  private func look() {
    idleLooks = pump.streamCount > 0 || !waiting.isEmpty ? 0 : idleLooks + 1
    guard idleLooks < Self.linger else { return stop() }
    let names = others.names
    for (name, node) in nodes where !names.contains(name) {
      if !node.answer.hasFailed { lose(name, node) }
      nodes[name] = nil
    }
    isLooking = true
    for name in names where nodes[name]?.answer.hasFailed ?? true { follow(name) }
    isLooking = false
    timer = makeTimer(Self.interval) { [unowned self] in look() }
  }

  private func follow(_ name: String) {
    let position = nodes[name]?.position
    // Who watches already has missed what happened there so far.
    let isLate = position == nil && waiting.isEmpty
    let node = NodeAnswer(name, .events) { [unowned self] in read($0, isLate: isLate) }
    nodes[name] = Node(answer: node, position: position)
    let since = position.map { "?since=\($0)" } ?? ""
    // HTTP/1.1 wants a host, and nodes do not look at it.
    guard let request = HTTPRequest("GET", "/api/v1/events\(since)", fields: [HTTPField("Host", name)])
    else { return node.fail() }
    node.ask(others, request, timeout: nil)
  }

  private func read(_ answer: NodeAnswer, isLate: Bool) {
    guard var node = nodes[answer.node], node.answer === answer else { return }
    let hadBoot = node.hasBoot
    while let event = answer.take() {
      if !event.id.isEmpty { node.position = event.id }
      if event.name == "boot" { node.hasBoot = true } else { take(event) }
    }
    nodes[answer.node] = node
    if node.isFollowed ? isLate && !hadBoot : node.hasBoot { events.appendGap(answer.node) }
    settle()
  }

  /// What all nodes do, each tells; its own is enough.
  private func take(_ event: NodeAnswer.Element) {
    if !["clock", "reset"].contains(event.name) { events.append(event.name, event.bytes) }
  }

  private func lose(_ name: String, _ node: Node) {
    node.answer.giveUp()
    events.appendGap(name)
  }

  private func settle() {
    guard !isLooking, !waiting.isEmpty,
      nodes.values.allSatisfy({ $0.isFollowed || $0.answer.hasFailed })
    else { return }
    deadline = nil
    let calls = waiting
    waiting = []
    for call in calls { call() }
    // Who begins now is told what they do without.
    for (name, node) in nodes where node.answer.hasFailed { events.appendGap(name) }
  }

  /// Ends all that is told.
  func end() {
    pump.endAll()
    stop()
  }

  /// Nobody watches any more.
  private func stop() {
    for (name, node) in nodes where !node.answer.hasFailed { lose(name, node) }
    (nodes, timer, deadline, isOn, idleLooks) = ([:], nil, nil, false, 0)
  }
}
