import Basics
import Broker
import ConsoleAnswers

/// Everybody who waits, ordered so that a push is held against those alone that could want it.
///
/// Waits that ask for the same are one group and share each evaluation. A group is found by the most telling of its
/// filters: token, else device, else topic; groups without any of them are asked about every push.
struct WaitIndex {
  /// Finds groups. A digest stands for the text: groups look at all of their filters anyway.
  struct Key {
    enum Kind: CaseIterable { case token, udid, topic }
    let kind: Kind
    let digest: Int

    init(_ kind: Kind, _ bytes: some Sequence<UInt8>) { (self.kind, digest) = (kind, Self.digest(bytes)) }
  }

  /// Waits that ask for the same.
  final class Group {
    let filter: NotificationFilter
    let key: Key?
    /// By their names.
    let states: [String]
    let steady: NotificationFilter
    /// Whether it wants to know what phones make of it.
    let asksPhones: Bool
    var waits: [NotificationWait] = []

    init(_ filter: NotificationFilter) {
      self.filter = filter
      key = Key(filter)
      states = filter.conditions.compactMap {
        if case (.state, .text(let state)) = ($0.name, $0.wanted) { state } else { nil }
      }
      steady = NotificationFilter(filter.conditions.filter { !$0.mayChange })
      asksPhones = filter.conditions.contains { $0.name == .phone }
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

  private var groups: [[NotificationFilter.Condition]: Group] = [:]
  /// By digest; a kind that nobody asks for is not here, and no digest of it is made.
  private var byKey: [Key.Kind: [Int: [Group]]] = [:]
  private var withoutKey: [Group] = []
  private(set) var count = 0
  /// How many of them are of other nodes' clients.
  private(set) var ofNodes = 0

  var all: some Collection<Group> { groups.values }
  var waits: [NotificationWait] { groups.values.flatMap(\.waits) }

  func contains(_ wait: NotificationWait) -> Bool {
    groups[wait.search.filter.conditions]?.waits.contains { $0 === wait } ?? false
  }

  mutating func add(_ wait: NotificationWait) {
    count += 1
    if wait.exchange.request.isOfNode { ofNodes += 1 }
    group(wait.search.filter).waits.append(wait)
  }

  private mutating func group(_ filter: NotificationFilter) -> Group {
    if let group = groups[filter.conditions] { return group }
    let group = Group(filter)
    groups[filter.conditions] = group
    if let key = group.key {
      byKey[key.kind, default: [:]][key.digest, default: []].append(group)
    } else {
      withoutKey.append(group)
    }
    return group
  }

  /// `wait` has ended; harmless if it is not here.
  mutating func remove(_ wait: NotificationWait) {
    guard let group = groups[wait.search.filter.conditions],
      let index = group.waits.firstIndex(where: { $0 === wait })
    else { return }
    count -= 1
    if wait.exchange.request.isOfNode { ofNodes -= 1 }
    group.waits.remove(at: index)
    if group.waits.isEmpty { remove(group) }
  }

  private mutating func remove(_ group: Group) {
    groups[group.filter.conditions] = nil
    guard let key = group.key else { return withoutKey.removeAll { $0 === group } }
    byKey[key.kind]?[key.digest]?.removeAll { $0 === group }
    if byKey[key.kind]?[key.digest]?.isEmpty == true { byKey[key.kind]?[key.digest] = nil }
    if byKey[key.kind]?.isEmpty == true { byKey[key.kind] = nil }
  }

  /// Groups that may want a notification.
  func groups(for record: JournalRecord, _ broker: Broker) -> [Group] {
    var found = withoutKey
    for kind in Key.Kind.allCases where byKey[kind] != nil {
      guard let key = key(kind, of: record, broker) else { continue }
      found += byKey[kind]?[key.digest] ?? []
    }
    return found
  }

  /// By what waits for this notification are found.
  private func key(_ kind: Key.Kind, of record: JournalRecord, _ broker: Broker) -> Key? {
    switch kind {
    case .token: Key(kind, Array(record.presentedToken))
    case .udid: record.udid(broker).map { Key(kind, $0.text.utf8) }
    case .topic: record.topicLabel(broker).map { Key(kind, $0.utf8) }
    }
  }
}

extension WaitIndex.Key {
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
