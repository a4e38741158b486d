/// Reads JSON texts: provider tokens, descriptions of keys, requests. A peer wrote them, so the depth is bounded and
/// nothing traps.
public enum JSONReader {
  /// Deepest nesting read unless the caller says otherwise. Tokens are flat; some carry a small object or two.
  public static let maximumDepth = 8

  /// The one value that fills `text`; nil if it is not JSON (RFC 8259), or nested deeper than `maximumDepth` levels.
  public static func read(_ text: [UInt8], maximumDepth: Int = Self.maximumDepth) -> JSONValue? {
    try? whole(text, maximumDepth).get()
  }

  /// Where and why `text` stops being the JSON that `read` takes; nil if it is.
  public static func problem(of text: [UInt8], maximumDepth: Int = Self.maximumDepth) -> JSONProblem? {
    guard case .failure(let surprise) = whole(text, maximumDepth) else { return nil }
    return JSONProblem(surprise, in: text, maximumDepth)
  }

  /// How many values there are in `text`, those in others included, up to where it stops being the JSON that `read` takes. Builds
  /// none of them: it is for whoever wants to know first what reading would cost.
  public static func valueCount(of text: [UInt8], maximumDepth: Int = Self.maximumDepth) -> Int {
    var (cursor, count) = (JSONCursor(text.span), 0)
    try? cursor.skipValue(depth: maximumDepth + 1, counting: &count)
    return count
  }

  private static func whole(_ text: [UInt8], _ maximumDepth: Int) -> Result<JSONValue, JSONSurprise> {
    var cursor = JSONCursor(text.span)
    do throws(JSONSurprise) {
      try checkEncoding(text)
      let value = try cursor.value(depth: maximumDepth + 1)
      cursor.skipBlanks()
      return cursor.isAtEnd ? .success(value) : .failure(cursor.unexpected("the end"))
    } catch {
      return .failure(error)
    }
  }

  /// JSON is UTF-8 (RFC 8259, 8.1).
  private static func checkEncoding(_ text: [UInt8]) throws(JSONSurprise) {
    guard String(validating: text, as: UTF8.self) == nil else { return }
    var (decoder, rest, place) = (UTF8(), text.makeIterator(), 0)
    while case .scalarValue(let scalar) = decoder.decode(&rest) { place += UTF8.width(scalar) }
    throw JSONSurprise(expected: "UTF-8", position: place, kind: .encoding)
  }
}

extension JSONCursor {
  /// Any value, in which there may be values in each other `depth` deep.
  fileprivate mutating func value(depth: Int) throws(JSONSurprise) -> JSONValue {
    guard depth > 0 else { throw tooDeep() }
    skipBlanks()
    switch next {
    case UInt8(ascii: "{"):
      var found: [(String, JSONValue)] = []
      try members { name, cursor throws(JSONSurprise) in
        found.append((name.text, try cursor.value(depth: depth - 1)))
      }
      return .object(found)
    case UInt8(ascii: "["):
      var found: [JSONValue] = []
      try elements { cursor throws(JSONSurprise) in found.append(try cursor.value(depth: depth - 1)) }
      return .array(found)
    case UInt8(ascii: "\""): return .string(try string().text)
    case UInt8(ascii: "t") where takeAtOnce("true"): return .bool(true)
    case UInt8(ascii: "f") where takeAtOnce("false"): return .bool(false)
    case UInt8(ascii: "n") where takeAtOnce("null"): return .null
    default:
      let start = position
      let spelling = try number().text
      if let whole = Int64(spelling) { return .integer(whole) }
      guard let number = Double(spelling) else { throw unexpected("a number", at: start) }
      return .number(number)
    }
  }
}
