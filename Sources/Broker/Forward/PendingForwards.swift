import Basics
import PushModel

/// Notifications of the gateway that another service is to decide about, from the moment that they were read until it has.
/// Success is silent on the gateway, so their providers take them for accepted: a store keeps them.
public final class PendingForwards {
  /// One notification.
  public struct Entry: Equatable, Sendable {
    /// Counts entries, for the store; a later one has a larger id.
    public var id: Int64
    /// The frame as it came.
    public var frame: [UInt8]
    /// Name of the certificate's topic: indices don't outlive a reset.
    public var topic: String
    public var environment: Environment
    /// The `apns-id` that it is sent with each time, so that a repetition can be told.
    public var apnsID: APNSID
    public var receivedAt: Timestamp

    public init(
      id: Int64, frame: [UInt8], topic: String, environment: Environment, apnsID: APNSID,
      receivedAt: Timestamp
    ) {
      (self.id, self.frame, self.topic, self.environment) = (id, frame, topic, environment)
      (self.apnsID, self.receivedAt) = (apnsID, receivedAt)
    }
  }

  private var entries: [Int64: Entry] = [:]
  private var nextId: Int64 = 1
  /// Entries that the store has.
  private var stored: Set<Int64> = []
  /// Entries that the store has not seen, or must forget.
  private var changed: Set<Int64> = []

  init() {}

  public var count: Int { entries.count }

  /// All, oldest first.
  public var all: [Entry] { entries.values.sorted { $0.id < $1.id } }

  /// The entry of an id; nil once it is decided.
  public subscript(id: Int64) -> Entry? { entries[id] }

  /// A notification was read; answers its id.
  public func add(
    frame: [UInt8], topic: String, environment: Environment, apnsID: APNSID, receivedAt: Timestamp
  ) -> Int64 {
    let id = nextId
    nextId += 1
    entries[id] = Entry(
      id: id, frame: frame, topic: topic, environment: environment, apnsID: apnsID,
      receivedAt: receivedAt)
    changed.insert(id)
    return id
  }

  /// What became of it is known. One that came and went within a turn is never written.
  public func remove(_ id: Int64) {
    guard entries.removeValue(forKey: id) != nil else { return }
    if stored.contains(id) { changed.insert(id) } else { changed.remove(id) }
  }

  /// Puts back an entry, as the store does; false for an id that was given before.
  public func restore(_ entry: Entry) -> Bool {
    guard entry.id >= nextId, entry.id <= CountedNumber.limit else { return false }
    entries[entry.id] = entry
    stored.insert(entry.id)
    nextId = entry.id + 1
    return true
  }

  func takeChanges() -> [Int64] {
    guard !changed.isEmpty else { return [] }
    for id in changed {
      if entries[id] == nil { stored.remove(id) } else { stored.insert(id) }
    }
    defer { changed.removeAll(keepingCapacity: true) }
    return changed.sorted()
  }
}
