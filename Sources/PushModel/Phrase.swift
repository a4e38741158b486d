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

    public mutating func appendInterpolation(_ phrase: Phrase) { pieces += phrase.list }
  }
}

/// Pages of Apple's documentation, by their titles, for people who want to read on.
public enum ApplePage: String, CaseIterable, Sendable {
  case sendingRequests = "Sending notification requests to APNs"
  case handlingResponses = "Handling notification responses from APNs"
  case tokenConnection = "Establishing a token-based connection to APNs"
  case certificateConnection = "Establishing a certificate-based connection to APNs"
  case managingChannels = "Sending channel management requests to APNs"
  case broadcasting = "Sending broadcast push notification requests to APNs"
  case handlingErrors = "Handling error responses from APNs"
  /// Of the archived Local and Remote Notification Programming Guide.
  case binaryInterface = "Binary Provider API"
}

extension Phrase {
  /// A rule in words, with the page that states it.
  public init(rule words: String, _ page: ApplePage) { self.init("\(words) (Apple: \(page.rawValue))") }
}
