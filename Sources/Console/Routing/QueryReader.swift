import PushModel

/// Reads named values one by one, and says which of them nobody asked for: a misspelt filter that is ignored would
/// match everything.
struct QueryReader {
  private var values: [String: String] = [:]
  private var known: [String] = []

  /// Those that may be given more than once, in order.
  private var lists: [String: [String]] = [:]

  init(_ items: [(name: String, value: String)], repeating repeatable: Set<String> = []) throws {
    for item in items where repeatable.contains(item.name) {
      lists[item.name, default: []].append(item.value)
    }
    for item in items where !repeatable.contains(item.name) {
      guard values.updateValue(item.value, forKey: item.name) == nil else {
        throw ConsoleError.badRequest("\(DocumentError.quoted(item.name)) is given twice")
      }
    }
  }

  /// The values of a name that may be given more than once.
  mutating func texts(_ name: String) -> [String] {
    known.append(name)
    return lists[name] ?? []
  }

  /// A value as it is; nil when absent.
  mutating func text(_ name: String) -> String? {
    known.append(name)
    return values[name]
  }

  /// A value that is one of a few words.
  mutating func choice(_ name: String, _ words: [String]) throws -> String? {
    guard let text = text(name) else { return nil }
    guard words.contains(text) else {
      throw DocumentError(name, expected: words, got: text)
    }
    return text
  }

  /// A whole number.
  mutating func integer(_ name: String, _ range: ClosedRange<Int>) throws -> Int? {
    guard let text = text(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw ConsoleError.bad(
        name, expected: "a number from \(range.lowerBound) to \(range.upperBound)", got: text)
    }
    return number
  }

  /// The environment, or nil when absent.
  mutating func environment() throws -> Environment? {
    guard let text = try choice("environment", Environment.allCases.map(\.name)) else { return nil }
    return Environment(name: text)
  }

  /// Throws for a name that was not read.
  func finish() throws {
    for name in values.keys.sorted() where !known.contains(name) {
      guard !known.isEmpty else { throw ConsoleError.bad("the query", expected: "no query", got: name) }
      // Some are looked at twice.
      throw DocumentError("the query", expected: Set(known).sorted(), got: name)
    }
  }
}
