import Basics
import PushModel

/// Feedback on tokens that another service has issued: pushes to them were forwarded, and the answer was that they are gone.
/// They have no row in the token map, and may have any length.
public struct ForeignFeedback {
  /// Most entries, as a count: providers that never read must not fill the memory. The oldest make room.
  public static let limit = 100_000

  /// One token that was found gone.
  public struct Entry: Equatable, Sendable {
    /// Counts entries, for the store; never used twice.
    public var id: Int64
    public var token: [UInt8]
    public var topic: TopicID
    public var environment: Environment
    public var goneAt: Timestamp

    public init(id: Int64, token: [UInt8], topic: TopicID, environment: Environment, goneAt: Timestamp) {
      (self.id, self.token, self.topic) = (id, token, topic)
      (self.environment, self.goneAt) = (environment, goneAt)
    }

    fileprivate var key: Key { Key(token: token, topic: topic, environment: environment) }
  }

  fileprivate struct Key: Hashable {
    var token: [UInt8]
    var topic: TopicID
    var environment: Environment
  }

  /// In order of their ids, which is the order of coming. Index by id through `position`.
  private var ordered: [Entry] = []
  private var idByKey: [Key: Int64] = [:]
  private var nextId: Int64 = 1
  /// Entries that the store has not seen, or must forget.
  private var changed: Set<Int64> = []

  /// Whose topics the entries are of; nil for a list alone.
  private let registry: Registry?

  public init(_ registry: Registry? = nil) { self.registry = registry }

  /// All that wait to be read, oldest first.
  public var entries: [Entry] { ordered }

  /// The entry of an id; nil once it was read.
  public subscript(id: Int64) -> Entry? { position(id).map { ordered[$0] } }

  /// The token was found gone. One entry a token: a later time takes the place of an earlier one.
  public mutating func add(token: [UInt8], topic: TopicID, environment: Environment, goneAt: Timestamp) {
    let entry = Entry(id: nextId, token: token, topic: topic, environment: environment, goneAt: goneAt)
    if let id = idByKey[entry.key], let position = position(id) {
      ordered[position].goneAt = max(ordered[position].goneAt, goneAt)
      changed.insert(id)
      return
    }
    if ordered.count >= Self.limit { remove([ordered[0].id]) }
    restore(entry)
    changed.insert(entry.id)
  }

  /// Puts an entry back in order of ids, as the store does; false for an id that was given before.
  @discardableResult
  public mutating func restore(_ entry: Entry) -> Bool {
    guard entry.id >= nextId, entry.id <= CountedNumber.limit else { return false }
    ordered.append(entry)
    idByKey[entry.key] = entry.id
    nextId = entry.id + 1
    registry?.retain(entry.topic)
    return true
  }

  mutating func remove(_ ids: some Sequence<Int64>) {
    let gone = Set(ids)
    // Those who read or clear them begin with the oldest.
    if ordered.prefix(gone.count).allSatisfy({ gone.contains($0.id) }) {
      for entry in ordered.prefix(gone.count) { forget(entry) }
      return ordered.removeFirst(min(gone.count, ordered.count))
    }
    for entry in ordered where gone.contains(entry.id) { forget(entry) }
    ordered.removeAll { gone.contains($0.id) }
  }

  private mutating func forget(_ entry: Entry) {
    idByKey[entry.key] = nil
    changed.insert(entry.id)
    registry?.release(entry.topic)
  }

  mutating func takeChanges() -> [Int64] {
    defer { changed = [] }
    return changed.sorted()
  }

  private func position(_ id: Int64) -> Int? {
    var (low, high) = (0, ordered.count)
    while low < high {
      let middle = (low + high) / 2
      if ordered[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < ordered.count && ordered[low].id == id ? low : nil
  }
}
