/// Words with values among them that are made into text when somebody reads it.
///
/// Whoever refuses a push says why, and often nobody listens: so what was seen is kept as it is. Write one as a literal;
/// interpolated values stay values.
package struct Phrase: Equatable, Sendable {
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

  package init(_ text: String) { pieces = [.text(text)] }

  init(_ pieces: [Piece]) { self.pieces = pieces }

  /// A peer's value in quotes, clipped, with everything but visible ASCII replaced.
  package static func quoted(_ bytes: UnsafeRawBufferPointer?) -> Phrase {
    guard let bytes else { return "none" }
    return Phrase([.excerpt(Array(bytes.prefix(shownBytes)), isClipped: bytes.count > shownBytes)])
  }

  /// A peer's JSON value, shown likewise.
  package static func quoted(_ value: JSONValue) -> Phrase { value.encoded.withUnsafeBytes { quoted($0) } }

  package var text: String {
    var buffer = ByteBuffer(capacity: 256)
    write(to: &buffer)
    return buffer.text
  }

  package func write(to buffer: inout ByteBuffer) {
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
  package init(stringLiteral text: String) { self.init(text) }

  package init(stringInterpolation: StringInterpolation) { self.init(stringInterpolation.pieces) }

  /// Collects the pieces of a literal.
  package struct StringInterpolation: StringInterpolationProtocol {
    var pieces: [Piece] = []

    package init(literalCapacity: Int, interpolationCount: Int) {
      pieces.reserveCapacity(2 * interpolationCount + 1)
    }

    package mutating func appendLiteral(_ text: String) {
      if !text.isEmpty { pieces.append(.text(text)) }
    }

    package mutating func appendInterpolation(_ text: String) { pieces.append(.text(text)) }

    package mutating func appendInterpolation(_ text: StaticString) { pieces.append(.text(text.description)) }

    package mutating func appendInterpolation(_ number: some BinaryInteger) {
      pieces.append(.number(Int64(clamping: number)))
    }

    /// Shown as RFC 3339.
    package mutating func appendInterpolation(_ moment: Timestamp) { pieces.append(.moment(moment)) }

    package mutating func appendInterpolation(_ phrase: Phrase) { pieces += phrase.pieces }
  }
}

/// Pages of Apple's documentation, by their titles, for people who want to read on.
package enum ApplePage: String, CaseIterable, Sendable {
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
  package init(rule words: String, _ page: ApplePage) { self.init("\(words) (Apple: \(page.rawValue))") }
}

/// Why a request was refused, for people: which rule, what it asks for, what came.
///
/// One reference, as it goes from the rule to the answer, the history and the log; made into text where that is read.
package struct Explanation: Equatable, Sendable {
  private final class Parts: Sendable {
    let rule, expected, got: Phrase

    init(_ rule: Phrase, _ expected: Phrase, _ got: Phrase) {
      (self.rule, self.expected, self.got) = (rule, expected, got)
    }
  }

  private var parts: Parts

  /// - Parameters:
  ///   - rule: the rule, with its place in the specification.
  ///   - expected: what it asks for.
  ///   - got: what came. Never a secret.
  package init(rule: Phrase, expected: Phrase, got: Phrase) { parts = Parts(rule, expected, got) }

  package var rule: String { parts.rule.text }
  package var expected: String { parts.expected.text }
  package var got: String {
    get { parts.got.text }
    set { parts = Parts(parts.rule, parts.expected, Phrase(newValue)) }
  }

  /// The same with words before it.
  package func following(_ words: Phrase) -> Explanation {
    Explanation(rule: "\(words)\(parts.rule)", expected: parts.expected, got: parts.got)
  }

  /// One line for logs and headers.
  package var text: String {
    var buffer = ByteBuffer(capacity: 256)
    write(to: &buffer)
    return buffer.text
  }

  /// Writes that line.
  package func write(to buffer: inout ByteBuffer) {
    parts.rule.write(to: &buffer)
    buffer.append(": expected ")
    parts.expected.write(to: &buffer)
    buffer.append(", got ")
    parts.got.write(to: &buffer)
  }

  package static func == (left: Explanation, right: Explanation) -> Bool {
    left.parts.rule == right.parts.rule && left.parts.expected == right.parts.expected
      && left.parts.got == right.parts.got
  }
}
