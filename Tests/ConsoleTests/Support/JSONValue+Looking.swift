import Basics

/// Short words for looking into answers.
extension JSONValue {
  subscript(name: String) -> JSONValue { member(name) ?? .null }

  subscript(index: Int) -> JSONValue {
    guard case .array(let values) = self, values.indices.contains(index) else { return .null }
    return values[index]
  }

  var count: Int {
    guard case .array(let values) = self else { return -1 }
    return values.count
  }

  var bool: Bool? {
    guard case .bool(let flag) = self else { return nil }
    return flag
  }

  var isNull: Bool {
    guard case .null = self else { return false }
    return true
  }

  var elements: [JSONValue] {
    guard case .array(let values) = self else { return [] }
    return values
  }

  var names: [String] {
    guard case .object(let members) = self else { return [] }
    return members.map(\.0)
  }
}
