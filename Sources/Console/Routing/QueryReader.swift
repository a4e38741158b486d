import Basics
import PushModel

/// Reads named values one by one, and says which of them nobody asked for: a misspelt filter that is ignored would
/// match everything.
package struct QueryReader {
  private var values: [String: String] = [:]
  private var known: [String] = []

  package init(_ items: [(name: String, value: String)]) throws {
    for item in items {
      guard values.updateValue(item.value, forKey: item.name) == nil else {
        throw ConsoleError.badRequest("\(DocumentError.quoted(item.name)) is given twice")
      }
    }
  }

  /// A value as it is; nil when absent.
  package mutating func text(_ name: String) -> String? {
    known.append(name)
    return values[name]
  }

  /// A value that a text spells.
  package mutating func value<Value>(_ name: String, _ kind: JSONKind<Value>) throws -> Value? {
    try text(name).map { try kind.read(.string($0), name) }
  }

  /// A whole number.
  package mutating func integer(_ name: String, _ range: ClosedRange<Int>) throws -> Int? {
    guard let text = text(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw ConsoleError.bad(
        name, expected: "a number from \(range.lowerBound) to \(range.upperBound)", got: text)
    }
    return number
  }

  /// The environment, or nil when absent.
  package mutating func environment() throws -> Environment? {
    try value("environment", .word(Environment.allCases, { $0.name }))
  }

  /// Throws for a name that was not read.
  package func finish() throws {
    for name in values.keys.sorted() where !known.contains(name) {
      guard !known.isEmpty else { throw ConsoleError.bad("the query", expected: "no query", got: name) }
      // Some are looked at twice.
      throw DocumentError("the query", expected: Set(known).sorted(), got: name)
    }
  }
}
