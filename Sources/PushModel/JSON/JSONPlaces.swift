/// Where the values of a JSON text stand in it: for what is said of a file.
public struct JSONPlaces: Sendable {
  /// Counted from 1; the column in bytes.
  public struct Place: Sendable, Equatable, CustomStringConvertible {
    public let line: Int
    public let column: Int

    public var description: String { "\(line):\(column)" }
  }

  private let text: [UInt8]
  /// Where each value begins, by its path: `steps[2].expect`.
  private var offsets: [String: Int] = [:]
  /// Where the text stops being JSON, and what was expected there; nil if it is.
  public private(set) var problem: (place: Place, expected: String, found: String)?

  /// Of values at most `depth` deep in each other.
  public init(_ text: [UInt8], depth: Int = JSONText.maximumDepth) {
    self.text = text
    var offsets: [String: Int] = [:]
    let surprise = text.withUnsafeBytes { bytes -> (JSONSurprise, String)? in
      var cursor = JSONCursor(bytes)
      do throws(JSONSurprise) {
        try cursor.note("", depth, &offsets)
        cursor.skipBlanks()
        guard cursor.isAtEnd else { throw cursor.unexpected("the end") }
        return nil
      } catch {
        return (error, cursor.found(at: error.position) ?? "the end")
      }
    }
    self.offsets = offsets
    problem = surprise.map { (place(at: $0.0.position), $0.0.expected, $0.1) }
  }

  /// Of a value by its path, or of the nearest one around it.
  public subscript(path: String) -> Place {
    var path = path[...]
    while offsets[String(path)] == nil, let mark = path.lastIndex(where: { $0 == "." || $0 == "[" }) {
      path = path[..<mark]
    }
    return place(at: offsets[String(path)] ?? 0)
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

  private func place(at offset: Int) -> Place {
    let before = text.prefix(offset)
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return Place(line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: offset - start + 1)
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
