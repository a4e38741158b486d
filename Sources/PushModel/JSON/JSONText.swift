/// Tells JSON from other bytes, without reading its meaning (RFC 8259).
public enum JSONText {
  /// Deepest nesting taken, as a count. Payloads of some thousand bytes have no use for more.
  public static let maximumDepth = 512

  /// `bytes` without the white space between tokens, if they are exactly one JSON value in UTF-8; else nil. The
  /// result has no line break, so it can stand in a JSON line through `JSONValue.verbatim`.
  public static func compact(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
    let input = Array(bytes)
    guard String(validating: input, as: UTF8.self) != nil else { return nil }
    var scanner = Scanner(input: input)
    scanner.output.reserveCapacity(input.count)
    guard scanner.value(depth: 0), scanner.isAtEnd else { return nil }
    return scanner.output
  }
}

/// Copies tokens from `input` to `output` as long as they are what the grammar wants.
private struct Scanner {
  let input: [UInt8]
  var position = 0
  var output: [UInt8] = []

  var isAtEnd: Bool { position == input.count }
  private var next: UInt8? { position < input.count ? input[position] : nil }

  mutating func value(depth: Int) -> Bool {
    guard depth < JSONText.maximumDepth else { return false }
    skipWhiteSpace()
    defer { skipWhiteSpace() }
    switch next {
    case UInt8(ascii: "{"): return list(closedBy: UInt8(ascii: "}")) { $0.member(depth: depth + 1) }
    case UInt8(ascii: "["): return list(closedBy: UInt8(ascii: "]")) { $0.value(depth: depth + 1) }
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: "t"): return word("true")
    case UInt8(ascii: "f"): return word("false")
    case UInt8(ascii: "n"): return word("null")
    default: return number()
    }
  }

  /// An opening bracket, elements between commas, and the closing bracket.
  private mutating func list(closedBy end: UInt8, _ element: (inout Scanner) -> Bool) -> Bool {
    copy()
    skipWhiteSpace()
    if take(end) { return true }
    repeat {
      guard element(&self) else { return false }
    } while take(UInt8(ascii: ","))
    return take(end)
  }

  private mutating func member(depth: Int) -> Bool {
    skipWhiteSpace()
    guard next == UInt8(ascii: "\""), string() else { return false }
    skipWhiteSpace()
    return take(UInt8(ascii: ":")) && value(depth: depth)
  }

  private mutating func string() -> Bool {
    copy()
    while let character = next {
      guard character >= 0x20 else { return false }
      copy()
      if character == UInt8(ascii: "\"") { return true }
      if character == UInt8(ascii: "\\"), !escape() { return false }
    }
    return false
  }

  /// What follows a backslash.
  private mutating func escape() -> Bool {
    guard let character = next else { return false }
    copy()
    guard character == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(character) }
    for _ in 0..<4 {
      guard let digit = next, Hex.value(digit) != nil else { return false }
      copy()
    }
    return true
  }

  private mutating func number() -> Bool {
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) {
      guard digits() else { return false }
    }
    if take(UInt8(ascii: ".")) {
      guard digits() else { return false }
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
      return digits()
    }
    return true
  }

  /// At least one digit.
  private mutating func digits() -> Bool {
    let start = position
    while let character = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) { copy() }
    return position > start
  }

  private mutating func word(_ word: StaticString) -> Bool {
    word.withUTF8Buffer { expected in expected.allSatisfy { take($0) } }
  }

  private mutating func take(_ character: UInt8) -> Bool {
    guard next == character else { return false }
    copy()
    return true
  }

  private mutating func copy() {
    output.append(input[position])
    position += 1
  }

  private mutating func skipWhiteSpace() {
    while let character = next, [0x20, 0x09, 0x0a, 0x0d].contains(character) { position += 1 }
  }
}
