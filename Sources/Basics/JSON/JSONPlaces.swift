/// Where the values of a JSON text stand in it: for what is said of a file.
public struct JSONPlaces: Sendable {
  /// Counted from 1; the column in characters, as editors do.
  public struct Place: Sendable, Equatable, CustomStringConvertible {
    public let line: Int
    public let column: Int

    public var description: String { "\(line):\(column)" }

    init(of offset: Int, in text: [UInt8]) {
      let before = text.prefix(offset)
      let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
      line = before.count { $0 == UInt8(ascii: "\n") } + 1
      column = String(decoding: before[start...], as: UTF8.self).count + 1
    }
  }

  private let text: [UInt8]
  /// Where each value begins, by its path: `steps[2].expect`.
  private var offsets: [String: Int] = [:]
  /// Where the text stops being JSON; nil if it is.
  public let problem: JSONProblem?

  /// Of values at most `depth` deep in each other.
  public init(_ text: [UInt8], depth: Int = JSONText.maximumDepth) {
    self.text = text
    problem = JSONReader.problem(of: text, maximumDepth: depth)
    guard problem == nil else { return }
    var offsets: [String: Int] = [:]
    var cursor = JSONCursor(text.span)
    // One level is for what is not in another.
    try? cursor.note("", depth + 1, &offsets)
    self.offsets = offsets
  }

  /// Of a value by its path, or of the nearest one around it.
  public subscript(path: String) -> Place {
    var path = path[...]
    while offsets[String(path)] == nil, let mark = path.lastIndex(where: { $0 == "." || $0 == "[" }) {
      path = path[..<mark]
    }
    return Place(of: offsets[String(path)] ?? 0, in: text)
  }

  /// Whether an object stands there.
  public func isObject(_ path: String) -> Bool {
    offsets[path].map { $0 < text.count && text[$0] == UInt8(ascii: "{") } ?? false
  }

  /// Of what an error is about, as `DocumentError` begins with the path.
  public subscript(error: DocumentError) -> Place {
    let text = error.description
    return self[String(text.prefix(upTo: text.firstRange(of: ": ")?.lowerBound ?? text.startIndex))]
  }
}

/// Where a text stops being JSON, what was expected there, and what came.
public struct JSONProblem: Sendable, CustomStringConvertible {
  public let place: JSONPlaces.Place
  public let expected: String
  /// As it came, shortened; `the end` where nothing did.
  public let found: String
  /// Whether `found` is of the text, and not a word of ours.
  private let isExcerpt: Bool

  init(_ surprise: JSONSurprise, in text: [UInt8], _ maximumDepth: Int) {
    place = JSONPlaces.Place(of: surprise.position, in: text)
    let excerpt = JSONCursor(text.span).found(at: surprise.position)
    isExcerpt = surprise.kind == .syntax && excerpt != nil
    (expected, found) =
      switch surprise.kind {
      case .syntax: (surprise.expected, excerpt ?? "the end")
      case .depth: ("at most \(maximumDepth) levels of nesting", "more")
      case .encoding: ("UTF-8", "the byte \(Hex.encode([text[surprise.position]]))")
      }
  }

  /// `line 1, column 4: expected a value, got the end`
  public var description: String {
    "line \(place.line), column \(place.column): expected \(expected), got \(isExcerpt ? "\"\(found)\"" : found)"
  }
}

extension JSONCursor {
  /// Passes over a value and notes where it and all in it begin.
  fileprivate mutating func note(
    _ path: String, _ depth: Int, _ offsets: inout [String: Int]
  ) throws(JSONSurprise) {
    skipBlanks()
    offsets[path] = position
    guard depth > 0 else { throw tooDeep() }
    switch next {
    case UInt8(ascii: "{"):
      try members { name, cursor throws(JSONSurprise) in
        let name = name.text
        try cursor.note(path.isEmpty ? name : "\(path).\(name)", depth - 1, &offsets)
      }
    case UInt8(ascii: "["):
      var index = 0
      try elements { cursor throws(JSONSurprise) in
        try cursor.note("\(path)[\(index)]", depth - 1, &offsets)
        index += 1
      }
    default: try skipValue(depth: depth)
    }
  }
}
