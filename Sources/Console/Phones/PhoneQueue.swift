import PushModel

/// Settings that wait for a phone that is offline, as one order: later ones take the place of earlier ones.
struct PhoneQueue: JSONShown {
  /// Most that wait, in bytes as they are sent: one order.
  static let byteLimit = 60 * 1024

  private var settings: JSONValue = .object([])
  /// What waits takes so much, in bytes.
  private(set) var byteCount = 0

  var isEmpty: Bool {
    if case .object(let members) = settings { members.isEmpty } else { true }
  }

  static let schema = JSONSchema(["oneOf": [["type": "null"], ["type": "object"]]], example: nil)
  /// Of an order that waits.
  static let answer = JSONShape<Bool>(["queued": .show(true) { $0 }]).named("PhoneQueued")
  /// What waits; null for nothing.
  var json: JSONValue { isEmpty ? .null : settings }

  /// Adds settings, an object; false, with nothing added, if that is more than may wait.
  mutating func add(_ later: JSONValue) -> Bool {
    let merged = Self.merged(settings, later, at: [])
    let count = merged.encoded.count
    guard count <= Self.byteLimit else { return false }
    (settings, byteCount) = (merged, count)
    return true
  }

  /// What stands in each other of what a phone keeps when it is told a part: its apps, each app, what an app is allowed.
  /// Everything else is replaced.
  private static func isKept(_ path: [String]) -> Bool {
    path.isEmpty || path.first == "apps" && (path.count < 3 || path.count == 3 && path[2] == "permission")
  }

  private static func merged(_ earlier: JSONValue, _ later: JSONValue, at path: [String]) -> JSONValue {
    guard isKept(path), case .object(var members) = earlier, case .object(let changes) = later else {
      return later
    }
    for (name, change) in changes {
      if let index = members.firstIndex(where: { $0.0 == name }) {
        members[index].1 = merged(members[index].1, change, at: path + [name])
      } else {
        members.append((name, change))
      }
    }
    return .object(members)
  }
}
