/// Words with values among them that are made into text when somebody reads it.
///
/// Whoever refuses a push says why, and often nobody listens: so what was seen is kept as it is. Write one as a literal;
/// interpolated values stay values.
public struct Phrase: Equatable, Sendable {
  enum Piece: Equatable, Sendable {
    case text(String)
    case number(Int64)
    case moment(Timestamp)
    /// Of a peer's bytes, in quotes.
    case excerpt([UInt8], isClipped: Bool)
  }

  /// Longest part of a peer's value that is shown, in bytes.
  static let shownBytes = 80

  private let pieces: [Piece]

  public init(_ text: String) { pieces = [.text(text)] }

  init(_ pieces: [Piece]) { self.pieces = pieces }

  /// A peer's value in quotes, clipped, with everything but visible ASCII replaced.
  public static func quoted(_ bytes: Span<UInt8>?) -> Phrase {
    guard let bytes else { return "none" }
    return Phrase([.excerpt(Array(bytes.prefix(shownBytes)), isClipped: bytes.count > shownBytes)])
  }

  /// A peer's JSON value, shown likewise.
  public static func quoted(_ value: JSONValue) -> Phrase { quoted(value.encoded.span) }

  public var text: String {
    var buffer = ByteBuffer(capacity: 256)
    write(to: &buffer)
    return buffer.text
  }

  public func write(to buffer: inout ByteBuffer) {
    for piece in pieces { piece.write(to: &buffer) }
  }
}

extension Phrase.Piece {
  func write(to buffer: inout ByteBuffer) {
    switch self {
    case .text(let text): buffer.append(text)
    case .number(let number): buffer.append(number)
    case .moment(let moment): moment.write(to: &buffer)
    case .excerpt(let bytes, let isClipped):
      buffer.append(UInt8(ascii: "\""))
      buffer.append(visible: bytes)
      buffer.append(isClipped ? "…\"" : "\"")
    }
  }
}

extension Phrase: ExpressibleByStringInterpolation {
  public init(stringLiteral text: String) { self.init(text) }

  public init(stringInterpolation: StringInterpolation) { self.init(stringInterpolation.pieces) }

  /// Collects the pieces of a literal.
  public struct StringInterpolation: StringInterpolationProtocol {
    var pieces: [Piece] = []

    public init(literalCapacity: Int, interpolationCount: Int) {
      pieces.reserveCapacity(2 * interpolationCount + 1)
    }

    public mutating func appendLiteral(_ text: String) {
      if !text.isEmpty { pieces.append(.text(text)) }
    }

    public mutating func appendInterpolation(_ text: String) { pieces.append(.text(text)) }

    public mutating func appendInterpolation(_ text: StaticString) { pieces.append(.text(text.description)) }

    public mutating func appendInterpolation(_ number: some BinaryInteger) {
      pieces.append(.number(Int64(clamping: number)))
    }

    /// Shown as RFC 3339.
    public mutating func appendInterpolation(_ moment: Timestamp) { pieces.append(.moment(moment)) }

    public mutating func appendInterpolation(_ phrase: Phrase) { pieces += phrase.pieces }
  }
}
