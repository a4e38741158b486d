/// Where the token map, kept messages and channels survive a restart. Implemented by `Storage`.
public protocol BrokerStore: AnyObject {
  /// Writes one turn's changes as one transaction. When it answers `complete`, a crash of the process loses none of them;
  /// when it answers `later`, that holds once `onCommit` has been called, and no other commit is begun until then.
  func commit(_ changes: BrokerChanges, of broker: Broker) throws -> CommitProgress
  /// Whether a commit may complete later.
  var commitsLater: Bool { get }
  /// Called on the loop, within a turn, when a commit that was to complete later has, or can't.
  var onCommit: ((Result<Void, any Error>) -> Void)? { get set }
  /// Does what waits for the disk, if nothing was committed since the last call. To be called about once a second.
  func checkpointIfIdle() throws
  /// Ends in order.
  func close()
}

/// How far a commit is.
public enum CommitProgress: Sendable { case complete, later }
