import Basics
import Broker

/// Everybody who waits, ordered so that a push is held against those alone that could want it.
///
/// Waits that ask for the same are one group and share each evaluation. A group is found by the most telling of its
/// filters: token, else device, else topic; groups without any of them are asked about every push. What comes and what
/// changes is learned from the broker's events, so nothing is looked at twice.
final class WaitBoard: SlicedWork {
  /// Most clients that wait at once, as a count: with the event streams fewer than `HTTPLimits.connections`, so that
  /// those who wait leave room for others.
  static let limit = 800
  /// Most waits of other nodes' clients, as a count: those of two nodes that are full. What a wait holds is small.
  static let nodeLimit = 2 * limit

  /// Finds groups. A digest stands for the text: groups look at all of their filters anyway.
  fileprivate struct Key {
    enum Kind: CaseIterable { case token, udid, topic }
    let kind: Kind
    let digest: Int

    init(_ kind: Kind, _ bytes: some Sequence<UInt8>) { (self.kind, digest) = (kind, Self.digest(bytes)) }
  }

  /// Waits that ask for the same.
  private final class Group {
    let filter: NotificationFilter
    let key: Key?
    /// By their names.
    let states: [String]
    let steady: NotificationFilter
    /// Whether it wants to know what phones make of it.
    let asksPhones: Bool
    /// What must be in the payload.
    let texts: [ByteSearch]
    var waits: [NotificationWait] = []

    init(_ filter: NotificationFilter) {
      self.filter = filter
      key = Key(filter)
      states = filter.conditions.compactMap {
        if case (.state, .text(let state)) = ($0.name, $0.wanted) { state } else { nil }
      }
      steady = NotificationFilter(filter.conditions.filter { !$0.mayChange })
      asksPhones = filter.conditions.contains { $0.name == .phone }
      texts = filter.conditions.compactMap { if case .part(let search) = $0.wanted { search } else { nil } }
    }

    /// False if what it searches can't be in a payload of these pairs, so that nothing else need be looked at.
    func isWorthALook(_ pairs: BytePairs?, _ slice: inout Slice) -> Bool {
      guard let pairs, !texts.isEmpty else { return true }
      slice.spend(Slice.look)
      return texts.allSatisfy { $0.mayBeIn(pairs) }
    }

    /// Whether an event makes a notification match. One that came counts as it is now; a change counts even if the
    /// next one has come already.
    func matches(
      _ event: BrokerEvent, _ record: JournalRecord, _ broker: Broker, _ slice: inout Slice
    ) -> Bool {
      guard event.kind != .phone || asksPhones else { return false }
      guard event.kind == .delivery else { return filter.matches(record, broker, &slice) }
      guard !states.isEmpty, states.allSatisfy({ $0 == event.state.name }) else { return false }
      return steady.matches(record, broker, &slice)
    }
  }

  private let broker: Broker
  private var groups: [[NotificationFilter.Condition]: Group] = [:]
  /// By digest; a kind that nobody asks for is not here, and no digest of it is made.
  private var byKey: [Key.Kind: [Int: [Group]]] = [:]
  private var withoutKey: [Group] = []
  /// Groups that search payloads.
  private var searchingGroups = 0
  /// From so many searching groups on, a payload is looked through once for all of them.
  private static let searchesTogether = 8
  private(set) var count = 0
  /// How many of them are of other nodes' clients.
  private var ofNodes = 0
  /// The event to be looked at next.
  private var nextEvent: UInt64 = 0
  /// Notifications below this id have been looked at.
  private var nextId: UInt64 = 0
  /// Told of those that have all that they wait for.
  var onFulfilled: (NotificationWait) -> Void = { _ in }
  /// Told that events were lost, after everybody was made to look again.
  var onOverrun: ([NotificationWait]) -> Void = { _ in }
  /// Told when there is nothing left to look at.
  var onCaughtUp: () -> Void = {}
  private var isQueued = false

  init(_ broker: Broker) { self.broker = broker }

  var waits: [NotificationWait] { groups.values.flatMap(\.waits) }
  /// Whether something has happened that was not looked at.
  var isBehind: Bool { nextEvent < broker.events.nextNumber }

  // MARK: Who waits

  func contains(_ wait: NotificationWait) -> Bool {
    groups[wait.search.filter.conditions]?.waits.contains { $0 === wait } ?? false
  }

  func hasRoom(for wait: NotificationWait) -> Bool {
    wait.exchange.request.isOfNode ? ofNodes < Self.nodeLimit : count - ofNodes < Self.limit
  }

  /// Tells `wait` of what happens from now on.
  func add(_ wait: NotificationWait) {
    broker.events.turnOn()
    if count == 0 { (nextEvent, nextId) = (broker.events.nextNumber, broker.journal.nextId) }
    count += 1
    if wait.exchange.request.isOfNode { ofNodes += 1 }
    group(wait.search.filter).waits.append(wait)
  }

  private func group(_ filter: NotificationFilter) -> Group {
    if let group = groups[filter.conditions] { return group }
    let group = Group(filter)
    groups[filter.conditions] = group
    if let key = group.key {
      byKey[key.kind, default: [:]][key.digest, default: []].append(group)
    } else {
      withoutKey.append(group)
    }
    if !group.texts.isEmpty { searchingGroups += 1 }
    return group
  }

  /// `wait` has ended; harmless if it is not here.
  func remove(_ wait: NotificationWait) {
    guard let group = groups[wait.search.filter.conditions],
      let index = group.waits.firstIndex(where: { $0 === wait })
    else { return }
    count -= 1
    if wait.exchange.request.isOfNode { ofNodes -= 1 }
    group.waits.remove(at: index)
    if group.waits.isEmpty { remove(group) }
  }

  private func remove(_ group: Group) {
    groups[group.filter.conditions] = nil
    if !group.texts.isEmpty { searchingGroups -= 1 }
    guard let key = group.key else { return withoutKey.removeAll { $0 === group } }
    byKey[key.kind]?[key.digest]?.removeAll { $0 === group }
    if byKey[key.kind]?[key.digest]?.isEmpty == true { byKey[key.kind]?[key.digest] = nil }
    if byKey[key.kind]?.isEmpty == true { byKey[key.kind] = nil }
  }

  // MARK: What happens

  /// Whether it is to be given slices; once at a time.
  func wantsSlices() -> Bool {
    guard count > 0, isBehind, !isQueued else { return false }
    isQueued = true
    return true
  }

  func work(_ slice: inout Slice) -> SliceOutcome {
    if nextEvent < broker.events.firstNumber { overrun() }
    while count > 0, isBehind, !slice.isSpent {
      slice.spend(Slice.look)
      if let event = broker.events[nextEvent] { look(at: event, &slice) }
      nextEvent += 1
    }
    if count > 0, isBehind { return .goesOn }
    isQueued = false
    onCaughtUp()
    return .done
  }

  private func look(at event: BrokerEvent, _ slice: inout Slice) {
    guard [.notification, .delivery, .phone].contains(event.kind),
      let record = broker.journal.shown(event.subject)
    else { return }
    if event.kind == .notification { nextId = max(nextId, record.id + 1) }
    let pairs = searchingGroups >= Self.searchesTogether ? BytePairs(record.payload) : nil
    for group in withoutKey where group.isWorthALook(pairs, &slice) { evaluate(group, event, record, &slice) }
    for kind in Key.Kind.allCases where byKey[kind] != nil {
      guard let key = key(kind, of: record) else { continue }
      for group in byKey[kind]?[key.digest] ?? [] where group.isWorthALook(pairs, &slice) {
        evaluate(group, event, record, &slice)
      }
    }
  }

  private func evaluate(
    _ group: Group, _ event: BrokerEvent, _ record: JournalRecord, _ slice: inout Slice
  ) {
    guard group.matches(event, record, broker, &slice) else { return }
    // Those that have what they wait for leave the group.
    for wait in group.waits {
      slice.spend(Slice.look)
      wait.found(record)
      if wait.isFulfilled { onFulfilled(wait) }
    }
  }

  /// By what waits for this notification are found.
  private func key(_ kind: Key.Kind, of record: JournalRecord) -> Key? {
    switch kind {
    case .token: Key(kind, record.presentedToken)
    case .udid: record.udid(broker).map { Key(kind, $0.text.utf8) }
    case .topic: record.topicLabel(broker).map { Key(kind, $0.utf8) }
    }
  }

  /// More has happened than the log of events holds: everybody looks at the history instead.
  private func overrun() {
    for group in groups.values {
      for wait in group.waits { wait.lookAgain(from: group.states.isEmpty ? nextId : nil, broker) }
    }
    (nextEvent, nextId) = (broker.events.nextNumber, broker.journal.nextId)
    onOverrun(waits)
  }
}

extension WaitBoard.Key {
  fileprivate init?(_ filter: NotificationFilter) {
    var found: (token: Self?, udid: Self?, topic: Self?)
    for condition in filter.conditions {
      switch (condition.name, condition.wanted) {
      case (.token, .bytes(let bytes)): found.token = Self(.token, bytes)
      case (.udid, .text(let text)): found.udid = Self(.udid, text.utf8)
      case (.topic, .text(let name)): found.topic = Self(.topic, name.utf8)
      default: break
      }
    }
    guard let key = found.token ?? found.udid ?? found.topic else { return nil }
    self = key
  }

  /// Of a few bytes, without an allocation.
  fileprivate static func digest(_ bytes: some Sequence<UInt8>) -> Int {
    Int(truncatingIfNeeded: FNV1a.hash(bytes))
  }
}
