import Broker
import Testing

@testable import Emulator

/// Stands before the store and tells when it is asked to commit.
final class StoreSpy: BrokerStore {
  struct Refused: Error, CustomStringConvertible {
    var description: String { "the test refuses" }
  }

  private let store: any BrokerStore
  /// Called before each commit is carried out.
  var onCommit: (BrokerChanges) -> Void = { _ in }
  /// Commits fail from now on.
  var refuses = false
  private(set) var commits = 0

  init(_ store: any BrokerStore) { self.store = store }

  func commit(_ changes: BrokerChanges, of broker: Broker) throws {
    onCommit(changes)
    if refuses { throw Refused() }
    try store.commit(changes, of: broker)
    commits += 1
  }

  func checkpointIfIdle() throws { try store.checkpointIfIdle() }
  func close() { store.close() }
}

extension EmulatorHarness {
  /// Puts a spy before the store; the emulator must have one.
  func spyOnStore() throws -> StoreSpy {
    let spy = StoreSpy(try #require(emulator.store))
    emulator.store = spy
    return spy
  }
}
