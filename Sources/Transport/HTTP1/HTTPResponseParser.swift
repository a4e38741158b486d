/// Puts an answer together from a server's bytes; no I/O.
public struct HTTPResponseParser: ~Copyable {
  public enum Event {
    /// Status and fields; the body follows in pieces.
    case head(HTTPResponse)
    case piece([UInt8])
    case end
  }

  private let isAnswerToHead: Bool
  private var decoder: HTTPMessageDecoder
  private var isInterim = false

  public init(limits: HTTPLimits, isAnswerToHead: Bool) {
    self.isAnswerToHead = isAnswerToHead
    decoder = HTTPMessageDecoder(limits: limits)
  }

  /// Whether the server may end the connection here.
  var mayEnd: Bool { decoder.lastsUntilEnd }

  /// Bytes that wait to be parsed.
  var waiting: Int { decoder.waiting }

  public mutating func receive(_ bytes: Span<UInt8>) { decoder.receive(bytes) }

  /// The next event; nil when more bytes are needed. Interim answers (100 Continue) are skipped.
  public mutating func next() throws(HTTPParseFailure) -> Event? {
    while let event = try decoder.next() {
      switch event {
      case .head(let head):
        let response = try begin(head)
        if !isInterim { return .head(response) }
      case .body(let piece): return .piece(piece)
      case .end: if !isInterim { return .end }
      }
    }
    return nil
  }

  private mutating func begin(_ head: HTTPHead) throws(HTTPParseFailure) -> HTTPResponse {
    let line = head.startLine.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard line.count >= 2, line[0].hasPrefix("HTTP/1."), line[1].utf8.count == 3,
      let status = ASCII.decimal(line[1].utf8)
    else { throw HTTPParseFailure(400, "the first line is not \"HTTP/1.1 status\"") }
    let response = HTTPResponse(status: status, fields: head.fields)
    isInterim = status < 200
    let isBare = isAnswerToHead || response.hasNoBody
    try decoder.expectBody(isBare ? .fixed(0) : try HTTPBodyLength(head.fields))
    return response
  }
}
