import Transport

/// The HTTP/1.1 client's parser: the same answer, or the same failure, in any segmentation; interim answers never show.
struct ResponseFuzz: FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer) {
    var pieces: [UnsafeRawBufferPointer] = []
    input.forEachPiece { pieces.append($0) }
    for isAnswerToHead in [false, true] {
      precondition(outcome([input], isAnswerToHead) == outcome(pieces, isAnswerToHead))
    }
  }

  private struct Outcome: Equatable {
    var heads: [String] = []
    var body: [UInt8] = []
    var ends = 0
    var failure: Int?
  }

  private func outcome(_ pieces: [UnsafeRawBufferPointer], _ isAnswerToHead: Bool) -> Outcome {
    var parser = HTTPResponseParser(limits: HTTPLimits(), isAnswerToHead: isAnswerToHead)
    var outcome = Outcome()
    for piece in pieces {
      parser.receive(piece.span)
      do {
        while let event = try parser.next() {
          switch event {
          case .head(let response):
            precondition(response.status >= 200)
            outcome.heads.append("\(response.status) \(response.fields)")
          case .piece(let bytes): outcome.body += bytes
          case .end: outcome.ends += 1
          }
        }
      } catch {
        outcome.failure = error.status
        return outcome
      }
    }
    return outcome
  }
}
