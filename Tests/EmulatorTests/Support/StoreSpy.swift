import Broker
import Testing

import Emulator

/// Stands before the store and tells when it is asked to commit.
final class StoreSpy: BrokerStore {
  struct Refused: Error, CustomStringConvertible {
    var description: String { "the test refuses" }
  }

  private let store: any BrokerStore
  /// Called before each commit is carried out.
  var beforeCommit: (BrokerChanges) -> Void = { _ in }
  /// Commits fail from now on.
  var refuses = false
  /// Commits of messages wait for `complete`.
  var commitsLater = false
  /// As `BrokerStore` has it.
  var restAfterCommit: Int64 = 0
  /// It may be closed while a commit is under way.
  var mayBeAbandoned = false
  private var ended: ((Result<Void, any Error>) -> Void)?
  private(set) var commits = 0
  private(set) var isUnderWay = false

  init(_ store: any BrokerStore) { self.store = store }

  func commit(
    _ changes: BrokerChanges, of broker: Broker, ended: @escaping (Result<Void, any Error>) -> Void
  ) throws -> CommitProgress {
    self.ended = ended
    beforeCommit(changes)
    if refuses { throw Refused() }
    #expect(!isUnderWay, "one commit at a time")
    _ = try store.commit(changes, of: broker) { _ in }
    commits += 1
    isUnderWay = commitsLater && !changes.notifications.isEmpty
    return isUnderWay ? .later : .complete
  }

  /// The commit that is under way has come to its end.
  func complete(_ result: Result<Void, any Error> = .success(())) {
    isUnderWay = false
    ended?(result)
  }

  func checkpointIfIdle() throws { try store.checkpointIfIdle() }

  func close() {
    #expect(!isUnderWay || mayBeAbandoned, "closed while a commit is under way")
    store.close()
  }
}

extension EmulatorHarness {
  /// Puts a spy before the store; the emulator must have one.
  func spyOnStore() throws -> StoreSpy {
    let spy = StoreSpy(try #require(emulator.store))
    emulator.store = spy
    return spy
  }
}
