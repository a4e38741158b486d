/// A dictionary that holds at most so many keys: a new one takes the place of the one that came first.
package struct BoundedTable<Key: Hashable, Value> {
  private let limit: Int
  private var values: [Key: Value] = [:]
  /// The keys as they came; from `next` on the oldest, once there are `limit`.
  private var ring: [Key] = []
  private var next = 0

  /// `limit` is a count, at least 1.
  package init(limit: Int) { self.limit = max(1, limit) }

  package var count: Int { values.count }
  package var isEmpty: Bool { values.isEmpty }

  package subscript(key: Key) -> Value? { values[key] }

  package mutating func set(_ key: Key, _ value: Value) {
    if values.updateValue(value, forKey: key) != nil { return }
    if ring.count < limit {
      ring.append(key)
    } else {
      values[ring[next]] = nil
      ring[next] = key
      next = (next + 1) % limit
    }
  }

  package mutating func removeAll() {
    values = [:]
    ring = []
    next = 0
  }
}
