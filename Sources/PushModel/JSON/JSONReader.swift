/// Reads JSON texts: provider tokens, descriptions of keys, requests. A peer wrote them, so the depth is bounded and
/// nothing traps.
public struct JSONReader {
  /// Deepest nesting read unless the caller says otherwise. Tokens are flat; some carry a small object or two.
  public static let maximumDepth = 8

  private var rest: ArraySlice<UInt8>
  private let maximumDepth: Int

  /// The one value that fills `text`; nil if it is not JSON (RFC 8259), or nested deeper than `maximumDepth` levels.
  public static func read(_ text: [UInt8], maximumDepth: Int = Self.maximumDepth) -> JSONValue? {
    var reader = JSONReader(rest: text[...], maximumDepth: maximumDepth)
    guard let value = reader.value(depth: 0) else { return nil }
    reader.skipBlanks()
    guard reader.rest.isEmpty else { return nil }
    return value
  }

  /// The line, counted from 1, on which `text` stops being the JSON that `read` takes; nil if it is.
  public static func brokenLine(of text: [UInt8], maximumDepth: Int = Self.maximumDepth) -> Int? {
    var reader = JSONReader(rest: text[...], maximumDepth: maximumDepth)
    if reader.value(depth: 0) != nil {
      reader.skipBlanks()
      if reader.rest.isEmpty { return nil }
    }
    return text[..<reader.rest.startIndex].count { $0 == UInt8(ascii: "\n") } + 1
  }

  private mutating func value(depth: Int) -> JSONValue? {
    guard depth <= maximumDepth else { return nil }
    skipBlanks()
    switch rest.first {
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "\""): return string().map(JSONValue.string)
    case UInt8(ascii: "t"): return word("true", .bool(true))
    case UInt8(ascii: "f"): return word("false", .bool(false))
    case UInt8(ascii: "n"): return word("null", .null)
    default: return number()
    }
  }

  private mutating func object(depth: Int) -> JSONValue? {
    guard take("{") else { return nil }
    var members: [(String, JSONValue)] = []
    if takeAfterBlanks("}") { return .object(members) }
    repeat {
      skipBlanks()
      guard let name = string(), takeAfterBlanks(":"), let value = value(depth: depth + 1) else { return nil }
      members.append((name, value))
    } while takeAfterBlanks(",")
    return word("}", .object(members))
  }

  private mutating func array(depth: Int) -> JSONValue? {
    guard take("[") else { return nil }
    var values: [JSONValue] = []
    if takeAfterBlanks("]") { return .array(values) }
    repeat {
      guard let value = value(depth: depth + 1) else { return nil }
      values.append(value)
    } while takeAfterBlanks(",")
    return word("]", .array(values))
  }

  /// `meaning` if `word` comes next. A guard, because `nil` beside a `JSONValue` would mean null.
  private mutating func word(_ word: StaticString, _ meaning: JSONValue) -> JSONValue? {
    guard takeAfterBlanks(word) else { return nil }
    return meaning
  }

  private mutating func number() -> JSONValue? {
    let text = rest.prefix { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
        UInt8(ascii: "e"), UInt8(ascii: "E"):
        true
      default: false
      }
    }
    guard Self.isNumber(text) else { return nil }
    rest = rest.dropFirst(text.count)
    let spelling = String(decoding: text, as: UTF8.self)
    return Int64(spelling).map(JSONValue.integer) ?? Double(spelling).map(JSONValue.number)
  }

  /// RFC 8259 6: no leading zeros or plus, digits on both sides of the point.
  private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
    var rest = text
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let whole = takeDigits(&rest)
    guard whole > 0, whole == 1 || text.first(where: { $0 != UInt8(ascii: "-") }) != UInt8(ascii: "0") else {
      return false
    }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard takeDigits(&rest) > 0 else { return false }
    }
    if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
      guard takeDigits(&rest) > 0 else { return false }
    }
    return rest.isEmpty
  }

  private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> Int {
    let count = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
    rest = rest.dropFirst(count)
    return count
  }

  private mutating func skipBlanks() {
    rest = rest.drop { $0 == 0x20 || $0 == 0x0a || $0 == 0x0d || $0 == 0x09 }
  }

  private mutating func takeAfterBlanks(_ word: StaticString) -> Bool {
    skipBlanks()
    return take(word)
  }

  private mutating func take(_ word: StaticString) -> Bool {
    let bytes = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    guard rest.starts(with: bytes) else { return false }
    rest = rest.dropFirst(bytes.count)
    return true
  }
}

extension JSONReader {
  /// A string; bytes that are not UTF-8 and lone surrogates become U+FFFD.
  private mutating func string() -> String? {
    guard take("\"") else { return nil }
    var text: [UInt8] = []
    while let byte = rest.first {
      // Left there, so that whoever asks for the place is told the line of the string.
      if byte < 0x20 { return nil }
      rest = rest.dropFirst()
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let character = escape() else { return nil }
        text.append(contentsOf: String(character).utf8)
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    switch rest.popFirst() {
    case UInt8(ascii: "\""): "\""
    case UInt8(ascii: "\\"): "\\"
    case UInt8(ascii: "/"): "/"
    case UInt8(ascii: "b"): "\u{08}"
    case UInt8(ascii: "f"): "\u{0c}"
    case UInt8(ascii: "n"): "\n"
    case UInt8(ascii: "r"): "\r"
    case UInt8(ascii: "t"): "\t"
    case UInt8(ascii: "u"): unicodeEscape()
    default: nil
    }
  }

  private mutating func unicodeEscape() -> Unicode.Scalar? {
    guard let first = codeUnit() else { return nil }
    if let scalar = Unicode.Scalar(first) { return scalar }
    let replacement: Unicode.Scalar = "\u{fffd}"
    let kept = rest
    guard first < 0xdc00, take("\\u"), let second = codeUnit(), (0xdc00...0xdfff).contains(second) else {
      rest = kept
      return replacement
    }
    return Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00)) ?? replacement
  }

  private mutating func codeUnit() -> UInt32? {
    let digits = rest.prefix(4)
    guard digits.count == 4, let bytes = Hex.decode(digits: digits) else { return nil }
    rest = rest.dropFirst(4)
    return UInt32(bytes[0]) << 8 | UInt32(bytes[1])
  }
}
