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
