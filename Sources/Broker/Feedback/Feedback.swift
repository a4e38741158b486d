import Basics
import PushModel

/// What providers are to hear of tokens that are gone: of those of this token map, and of another service's
/// (`Documentation/binary-protocol.md#feedback`). Rows say themselves that they wait, in the store too
/// (`Registration.awaitsFeedback`); their order is here.
///
///     reported gone ─→ waiting ─ written whole to a provider, cleared, active again ─→ not waiting
public final class Feedback {
  private let registry: Registry
  private let history: History
  private let deliveries: Deliveries
  /// All rows that wait to be read, oldest first.
  public private(set) var rows: [RegistrationID] = []
  /// Tokens of another service that were found gone while forwarding.
  public private(set) var foreign: ForeignFeedback

  init(_ registry: Registry, _ history: History, _ deliveries: Deliveries) {
    (self.registry, self.history, self.deliveries) = (registry, history, deliveries)
    foreign = ForeignFeedback(registry)
  }

  /// Entries that wait to be read, foreign ones included, as a count.
  public var count: Int { rows.count + foreign.entries.count }

  /// Rows of these topics in this environment that wait to be read, oldest first.
  public func rows(topics: Set<TopicID>, environment: Environment) -> [RegistrationID] {
    rows.filter { topics.contains(registry[$0].topic) && registry[$0].environment == environment }
  }

  /// Entries on foreign tokens for these topics in this environment, oldest first.
  public func foreign(topics: Set<TopicID>, environment: Environment) -> [ForeignFeedback.Entry] {
    foreign.entries.filter { topics.contains($0.topic) && $0.environment == environment }
  }

  /// The device was tried and said that the app is gone: the token is dead from now on, and the feedback service and
  /// 410 tell it.
  public func reportGone(_ row: RegistrationID, now: Timestamp) {
    guard registry[row].isActive else { return }
    registry.update(row) { $0.goneAt = now }
    add(row)
    history.noteToken(.gone, row, registry[row].environment, now)
    deliveries.drop(row, .discarded, now)
  }

  /// A push was forwarded to a service that says the token is gone.
  public func reportForeignGone(
    token: [UInt8], topic: TopicID, environment: Environment, goneAt: Timestamp
  ) {
    foreign.add(token: token, topic: topic, environment: environment, goneAt: goneAt)
  }

  /// The entries were written whole to a provider.
  public func clear(_ read: [RegistrationID]) {
    let read = Set(read)
    _ = take(read)
    for row in read { settle(row) }
  }

  /// The same of foreign ones.
  public func clearForeign(_ ids: [Int64]) { foreign.remove(ids) }

  /// The token map is emptied: so is this.
  func forgetAll() {
    rows = []
    foreign.remove(foreign.entries.map(\.id))
  }

  // MARK: What is known from elsewhere

  /// A row is gone, and waits from now on.
  func add(_ row: RegistrationID) {
    if !registry[row].awaitsFeedback { registry.update(row) { $0.awaitsFeedback = true } }
    rows.append(row)
  }

  /// A saved state tells of these rows which of them wait: takes those that did out of the order, oldest first. They go on saying that
  /// they wait; each is to be put behind the others or to be settled then.
  public func take(_ told: Set<RegistrationID>) -> [RegistrationID] {
    // Those who read or clear it begin with the oldest.
    if rows.prefix(told.count).allSatisfy(told.contains) {
      let first = Array(rows.prefix(told.count))
      rows.removeFirst(first.count)
      return first
    }
    let found = rows.filter(told.contains)
    rows.removeAll { told.contains($0) }
    return found
  }

  /// Puts a row that was taken, or never waited, behind the others; of a token that is in use there is no entry.
  public func putBehind(_ row: RegistrationID) {
    if !registry[row].isActive { add(row) }
  }

  /// A row that was taken waits no more.
  public func settle(_ row: RegistrationID) {
    if registry[row].awaitsFeedback { registry.update(row) { $0.awaitsFeedback = false } }
  }

  /// A row says that it waits, or that it does not, which may be news: as the store or another process has it.
  func restore(_ row: RegistrationID, waited: Bool = false) {
    guard registry[row].awaitsFeedback != waited else { return }
    if waited { rows.removeAll { $0 == row } } else { rows.append(row) }
  }

  /// Puts back an entry, before the first turn; ids must come in order, after the topics.
  public func restore(_ entry: ForeignFeedback.Entry) -> Bool {
    registry.contains(entry.topic) && foreign.restore(entry)
  }

  /// Entries of foreign tokens that changed since the last call; rows say of themselves that they wait.
  func takeChanges() -> [Int64] { foreign.takeChanges() }
}
