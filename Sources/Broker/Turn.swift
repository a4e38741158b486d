import PushModel

/// What a turn comes to: broadcasts go on, what changed is told for the store, then devices are sent to, and what they might lose is
/// stored too, before any provider hears of anything (`Sources/ARCHITECTURE.md#promises` 1).
///
///     `Broadcasts.goOn` ─→ take changes ─→ (commit) ─→ (flush to devices) ─→ `Deliveries.storeUnsent` ─→ take changes ─→ (commit)
public struct Turn {
  let registry: Registry
  let deliveries: Deliveries
  let feedback: Feedback
  let pendingForwards: PendingForwards
  let channels: ChannelTable

  /// What changed since the last call. The caller commits it before anything of the turn becomes visible.
  public func takeChanges() -> BrokerChanges {
    var changes = registry.takeChanges()
    channels.takeChanges(into: &changes)
    (changes.notifications, changes.foreignFeedback) = (deliveries.takeChanges(), feedback.takeChanges())
    changes.pendingForwards = pendingForwards.takeChanges()
    return changes
  }
}

/// Where the token map, stored notifications and channels survive a restart. Implemented by `Storage`.
public protocol BrokerStore: AnyObject {
  /// Writes one turn's changes as one transaction. When it answers `complete`, a crash of the process loses none of them;
  /// when it answers `later`, that holds once `ended` has been called, on the loop and within a turn, as it also is if the commit can't
  /// complete; and no other commit is begun until then.
  func commit(
    _ changes: BrokerChanges, of broker: Broker, ended: @escaping (Result<Void, any Error>) -> Void
  ) throws -> CommitProgress
  /// Whether a commit may complete later.
  var commitsLater: Bool { get }
  /// How long the next commit is better left alone after one that was complete later, so that more goes into it, in nanoseconds.
  /// 0 unless the store says otherwise.
  var restAfterCommit: Int64 { get }
  /// Does what waits for the disk, if nothing was committed since the last call. To be called about once a second.
  func checkpointIfIdle() throws
  /// Ends in order.
  func close()
}

extension BrokerStore {
  public var restAfterCommit: Int64 { 0 }
}

/// Numbers that a store, a log or a saved state has kept, and that are counted on from.
public enum CountedNumber {
  /// Most that one may be that is read: counting on from it never comes to the end of 64 bits, and what is beyond was never counted.
  public static let limit: Int64 = 1 << 62
}

/// How far a commit is.
public enum CommitProgress: Sendable { case complete, later }

/// What a store must write at the end of a turn. Rows are read from the broker by id.
public struct BrokerChanges {
  public var devices: [DeviceID] = []
  public var topics: [TopicID] = []
  public var registrations: [RegistrationID] = []
  /// Rows whose stored notification is to be written (`Deliveries.stored` answers it) or removed (it answers nil).
  public var notifications: [RegistrationID] = []
  /// Entries of `foreignFeedback` that are to be written, or removed where there is none of the id.
  public var foreignFeedback: [Int64] = []
  /// Entries of `pendingForwards` that are to be written, or removed where there is none of the id.
  public var pendingForwards: [Int64] = []
  /// Rows of channels that are to be written, or removed with their subscriptions (`ChannelTable.stored` answers nil).
  public var channels: [Int64] = []
  /// Subscriptions that are to be written or removed, after the channels.
  public var subscriptions: [StoredSubscription] = []
  /// Channels that were deleted, by name.
  public var deletedChannels: [ChannelTable.Key] = []
  /// Broadcasts that went out, with the rows of their channels; only if somebody asked for them.
  public var broadcasts: [(row: Int64, ChannelTable.Broadcast)] = []
  /// Everything stored before, channels apart, is to be deleted first.
  public var startsOver = false

  public var isEmpty: Bool {
    !startsOver && devices.isEmpty && topics.isEmpty && registrations.isEmpty && notifications.isEmpty
      && foreignFeedback.isEmpty && pendingForwards.isEmpty && channels.isEmpty && subscriptions.isEmpty
      && deletedChannels.isEmpty && broadcasts.isEmpty
  }
}
