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
    registry.update(row) { $0.awaitsFeedback = true }
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
    rows.removeAll { removed.contains($0) }
    for row in removed where registry[row].awaitsFeedback {
      registry.update(row) { $0.awaitsFeedback = false }
    }
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

  /// Makes the entries of these rows the ones that wait in the feedback service, after those of rows that were not told
  /// of.
  public func importFeedback(_ entries: [RegistrationID], ofRows told: Set<RegistrationID>) {
    feedbackQueue.remove(told, in: registry)
    for row in entries where !registry[row].isActive { feedbackQueue.add(row, in: registry) }
  }
}
