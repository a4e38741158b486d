import Basics
import Transport

extension HTTPResponse {
  /// With what every answer of the console has: nothing is cached, and nothing is taken for another type than it says.
  package var finished: HTTPResponse {
    var response = self
    response.fields.append(HTTPField("X-Content-Type-Options", "nosniff"))
    if response.field("cache-control") == nil {
      response.fields.append(HTTPField("Cache-Control", "no-store"))
    }
    return response
  }
}

extension HTTPExchange {
  /// Answers, with what every answer of the console has.
  package func answer(_ response: HTTPResponse) { respond(response.finished) }

  /// What goes wrong is the answer.
  package func refusing(_ act: () throws -> Void) {
    do { try act() } catch { answer(ConsoleError.response(to: error)) }
  }
}

extension SliceScheduler {
  /// Answers with a document, over as many turns as it takes.
  package func answer(_ document: GrowingDocument, to exchange: HTTPExchange) {
    add(LongAnswer(document, to: exchange, self))
  }
}

/// Writes a growing document to a client: whole if it is short, else in pieces and no faster than the client reads.
package final class LongAnswer: SlicedWork {
  /// Up to here an answer leaves whole, with its length, in bytes.
  package static let wholeLimit = 64 << 10
  /// Least that is sent at once of a longer one, in bytes.
  package static let pieceSize = 16 << 10
  /// What a client may leave unread before nothing more is written for it, in bytes.
  package static let unreadLimit = 256 << 10

  private let exchange: HTTPExchange
  private let document: GrowingDocument
  private let scheduler: SliceScheduler
  private var isStreaming = false
  private var isWaiting = false

  package init(_ document: GrowingDocument, to exchange: HTTPExchange, _ scheduler: SliceScheduler) {
    (self.document, self.exchange, self.scheduler) = (document, exchange, scheduler)
  }

  package func work(_ slice: inout Slice) -> SliceOutcome {
    guard exchange.isOpen else { return .done }
    guard exchange.queuedBytes < Self.unreadLimit else { return waitForRoom() }
    document.write(&slice)
    if document.isVoid() { return giveUp() }
    if document.isComplete { return end() }
    if document.isWaiting { return waitForElement() }
    if document.count >= (isStreaming ? Self.pieceSize : Self.wholeLimit) { sendPiece() }
    return .goesOn
  }

  private func sendPiece() {
    guard !isStreaming else { return exchange.send(document.take()) }
    isStreaming = true
    exchange.startStream(response)
  }

  private var response: HTTPResponse {
    HTTPResponse(
      status: document.status, fields: [HTTPField("Content-Type", "application/json")],
      body: document.take()
    ).finished
  }

  private func end() -> SliceOutcome {
    if isStreaming {
      exchange.send(document.take())
      exchange.endStream()
    } else {
      exchange.respond(response)
    }
    return .done
  }

  /// The client must not take the part that it has for the whole.
  private func giveUp() -> SliceOutcome {
    guard !isStreaming else {
      exchange.end(by: .reset)
      return .done
    }
    let words = "what it tells of was reset while it was written; ask again"
    exchange.answer(ConsoleError.conflict(words).response)
    return .done
  }

  /// The document keeps this object until then.
  private func waitForElement() -> SliceOutcome {
    if document.leavesWhileWaiting { sendPiece() }
    document.onReady = { [self] in scheduler.add(self) }
    return .waits
  }

  /// The exchange keeps this object until then.
  private func waitForRoom() -> SliceOutcome {
    isWaiting = true
    exchange.onRoom = { [self] in
      guard isWaiting else { return }
      isWaiting = false
      scheduler.add(self)
    }
    return .waits
  }
}
