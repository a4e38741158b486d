import Broker
import Testing

import APNSEmulatorTesting
import Emulator

/// Stands before the store: commits of messages are complete when the test says so.
final class LateStore: BrokerStore {
  struct Refused: Error {}

  private let store: any BrokerStore
  let commitsLater = true
  private(set) var ended: ((Result<Void, any Error>) -> Void)?

  init(_ store: any BrokerStore) { self.store = store }

  func commit(
    _ changes: BrokerChanges, of broker: Broker, ended: @escaping (Result<Void, any Error>) -> Void
  ) throws -> CommitProgress {
    self.ended = ended
    _ = try store.commit(changes, of: broker) { _ in }
    return changes.notifications.isEmpty ? .complete : .later
  }

  func checkpointIfIdle() throws { try store.checkpointIfIdle() }
  func close() { store.close() }
}

extension APNSEmulator {
  /// From now on commits need the test.
  func makeCommitsLate() throws {
    live.emulator.store = LateStore(try #require(live.emulator.store))
  }

  /// The commit that is under way has come to its end.
  func endCommit(_ result: Result<Void, any Error> = .success(())) {
    (live.emulator.store as? LateStore)?.ended?(result)
  }

  var isCommitting: Bool { live.emulator.isCommitting }
  /// How many wait for something to become true.
  var waiting: Int { live.waits.count }

  /// Turns go on until something is so.
  func until(_ condition: @Sendable (isolated APNSEmulator) -> Bool) async throws {
    while !condition(self) {
      try Task.checkCancellation()
      await Task.yield()
    }
  }
}
