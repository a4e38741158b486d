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

  private enum Pieces: Equatable, Sendable {
    case one(Piece)
    case several([Piece])
  }

  /// Longest part of a peer's value that is shown, in bytes.
  static let shownBytes = 80

  private let pieces: Pieces

  public init(_ text: String) { pieces = .one(.text(text)) }

  init(_ piece: Piece) { pieces = .one(piece) }

  init(_ pieces: [Piece]) { self.pieces = .several(pieces) }

  /// A peer's value in quotes, clipped, with everything but visible ASCII replaced.
  public static func quoted(_ bytes: UnsafeRawBufferPointer?) -> Phrase {
    guard let bytes else { return "none" }
    return Phrase(.excerpt(Array(bytes.prefix(shownBytes)), isClipped: bytes.count > shownBytes))
  }

  /// A peer's JSON value, shown likewise.
  public static func quoted(_ value: JSONValue) -> Phrase { value.encoded.withUnsafeBytes { quoted($0) } }

  public var text: String {
    if case .one(.text(let text)) = pieces { return text }
    var buffer = TextBuffer()
    write(to: &buffer)
    return buffer.text
  }

  public func write(to buffer: inout TextBuffer) {
    switch pieces {
    case .one(let piece): piece.write(to: &buffer)
    case .several(let pieces): for piece in pieces { piece.write(to: &buffer) }
    }
  }

  var list: [Piece] {
    switch pieces {
    case .one(let piece): [piece]
    case .several(let pieces): pieces
    }
  }
}

extension Phrase.Piece {
  func write(to buffer: inout TextBuffer) {
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
