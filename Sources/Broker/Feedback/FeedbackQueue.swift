import PushModel

/// Rows of the token map that wait to be read from the feedback service. The rows say so themselves, in the store too
/// (`Registration.awaitsFeedback`); their order is here.
///
///     reported gone ─→ waiting ─ written whole to a provider, cleared, active again ─→ not waiting
struct FeedbackQueue {
  /// Oldest first.
  private(set) var rows: [RegistrationID] = []

  var count: Int { rows.count }

  /// The row has been reported gone, or is put back as waiting.
  mutating func add(_ row: RegistrationID, in registry: Registry) {
    if !registry[row].awaitsFeedback { registry.update(row) { $0.awaitsFeedback = true } }
    rows.append(row)
  }

  /// The row says so itself whether it waits, which may be news.
  mutating func replicate(_ row: RegistrationID, waits: Bool, waited: Bool) {
    guard waits != waited else { return }
    if waits { rows.append(row) } else { rows.removeAll { $0 == row } }
  }

  /// Puts back a row that says that it waits.
  mutating func restore(_ row: RegistrationID) { rows.append(row) }

  mutating func remove(_ removed: Set<RegistrationID>, in registry: Registry) {
    _ = take(removed)
    for row in removed { settle(row, in: registry) }
  }

  /// Takes rows out of the order, oldest first; they go on saying that they wait, until they are added again or settled.
  mutating func take(_ taken: Set<RegistrationID>) -> [RegistrationID] {
    // Those who read or clear it begin with the oldest.
    if rows.prefix(taken.count).allSatisfy(taken.contains) {
      let first = Array(rows.prefix(taken.count))
      rows.removeFirst(first.count)
      return first
    }
    let found = rows.filter(taken.contains)
    rows.removeAll { taken.contains($0) }
    return found
  }

  /// A row that was taken out waits no more.
  func settle(_ row: RegistrationID, in registry: Registry) {
    if registry[row].awaitsFeedback { registry.update(row) { $0.awaitsFeedback = false } }
  }

  /// The rows are no more.
  mutating func forget() { rows = [] }
}

extension Broker {
  /// The device was tried and said that the app is gone: the token is dead from now on, and the feedback service and
  /// 410 tell it.
  package func reportGone(_ row: RegistrationID, now: Timestamp) {
    guard registry[row].isActive else { return }
    registry.update(row) { $0.goneAt = now }
    feedbackQueue.add(row, in: registry)
    history.noteToken(.gone, row, registry[row].environment, now)
    drop(row, .discarded, now)
  }

  /// Entries of the feedback service for these topics in this environment, oldest first.
  public func feedback(topics: Set<TopicID>, environment: Environment) -> [RegistrationID] {
    feedbackQueue.rows.filter {
      topics.contains(registry[$0].topic) && registry[$0].environment == environment
    }
  }

  /// All entries of the feedback service, oldest first.
  public var allFeedback: [RegistrationID] { feedbackQueue.rows }

  /// Entries that wait to be read from the feedback service, foreign ones included, as a count.
  public var feedbackCount: Int { feedbackQueue.count + foreignFeedback.entries.count }

  /// The entries were written whole to a provider.
  public func clearFeedback(_ rows: [RegistrationID]) { feedbackQueue.remove(Set(rows), in: registry) }

  /// A saved state tells of these rows which of them wait in the feedback service: answers those that did. Each is to be put behind
  /// the others or to be settled then.
  public func takeFeedback(ofRows told: Set<RegistrationID>) -> [RegistrationID] { feedbackQueue.take(told) }

  /// Puts the entry of a row that was taken, or never waited, behind the others; of a token that is in use there is none.
  public func importFeedback(_ row: RegistrationID) {
    if !registry[row].isActive { feedbackQueue.add(row, in: registry) }
  }

  /// The entry of a row that was taken is not put back.
  public func settleFeedback(_ row: RegistrationID) { feedbackQueue.settle(row, in: registry) }
}
