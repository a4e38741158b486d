import Basics
import Transport

/// A JSON object that is written bit by bit: its lists are asked for one element after the other.
///
///     GrowingDocument([
///       .list("tokens") { slice in rows.next().map { .value(token($0)) } ?? .end },
///       .late { [("next", rows.position)] },
///     ])
package final class GrowingDocument {
  package enum Member {
    case value(String, JSONValue)
    /// Members asked for when everything before them has been written, and after work that is done for as long as it says true.
    case late(after: (inout Slice) -> Bool = { _ in false }, () -> [(String, JSONValue)])
    /// Asked for an element until there is no more. What it does to find one is to be taken from the slice.
    case list(String, (inout Slice) -> Element)
  }

  package enum Element {
    case value(JSONValue)
    /// An object that is itself too much for one go.
    case object([Member])
    /// Not found yet.
    case nothing
    /// It comes from elsewhere: there is nothing to do until `LongAnswer.goOn` is called.
    case waits
    case end
  }

  private enum Level {
    case object(ArraySlice<Member>)
    case list((inout Slice) -> Element)
  }

  /// Of the answer that carries it.
  package let status: Int
  /// Whether what has been written is true no more, so that it must not be taken for whole.
  package let isVoid: () -> Bool
  /// Where the writing is: the whole document, and in it the list or object that is not closed yet.
  private var levels: [Level]
  private var isAfterValue = false
  /// An element is waited for.
  package private(set) var isWaiting = false
  /// Whether what is written leaves at once where an element is waited for, however long that may be.
  package let leavesWhileWaiting: Bool
  /// What has been written and not been taken.
  private var output: [UInt8] = [UInt8(ascii: "{")]

  package init(
    status: Int = 200, isVoid: @escaping () -> Bool = { false }, leavesWhileWaiting: Bool = false,
    _ members: [Member]
  ) {
    (self.status, self.isVoid, levels) = (status, isVoid, [.object(members[...])])
    self.leavesWhileWaiting = leavesWhileWaiting
  }

  package var isComplete: Bool { levels.isEmpty }

  /// Writes nothing more, and lets go of whoever it asks for elements: these may hold this document.
  func drop() { levels = [] }
  /// Bytes that can be taken.
  package var count: Int { output.count }

  package func take() -> [UInt8] {
    defer { output = [] }
    return output
  }

  /// Writes until the slice is spent or the document complete.
  package func write(_ slice: inout Slice) {
    isWaiting = false
    while !isComplete, !isWaiting, !slice.isSpent, !isVoid() {
      let before = output.count
      step(&slice)
      slice.spend((output.count - before) / Slice.bytesWritten)
    }
  }

  private func step(_ slice: inout Slice) {
    switch levels.last {
    case .object(let members)?: writeMember(members, &slice)
    case .list(let next)?: writeElement(next, &slice)
    case nil: break
    }
  }

  private func writeMember(_ members: ArraySlice<Member>, _ slice: inout Slice) {
    guard let member = members.first else { return close("}") }
    slice.spend(Slice.look)
    if case .late(let work, _) = member, work(&slice) { return }
    levels[levels.count - 1] = .object(members.dropFirst())
    slice.spend(Slice.value)
    switch member {
    case .value(let name, let value): put(name, value)
    case .late(_, let members): for (name, value) in members() { put(name, value) }
    case .list(let name, let next):
      begin(name)
      open("[", .list(next))
    }
  }

  private func writeElement(_ next: (inout Slice) -> Element, _ slice: inout Slice) {
    slice.spend(Slice.look)
    switch next(&slice) {
    case .value(let value):
      slice.spend(Slice.value)
      separate()
      output += value.encoded
      isAfterValue = true
    case .object(let members):
      separate()
      open("{", .object(members[...]))
    case .nothing: break
    case .waits: isWaiting = true
    case .end: close("]")
    }
  }

  private func put(_ name: String, _ value: JSONValue) {
    begin(name)
    output += value.encoded
    isAfterValue = true
  }

  private func begin(_ name: String) {
    separate()
    output += JSONValue.string(name).encoded
    output.append(UInt8(ascii: ":"))
  }

  private func separate() {
    if isAfterValue { output.append(UInt8(ascii: ",")) }
  }

  private func open(_ bracket: Unicode.Scalar, _ level: Level) {
    output.append(UInt8(ascii: bracket))
    levels.append(level)
    isAfterValue = false
  }

  private func close(_ bracket: Unicode.Scalar) {
    output.append(UInt8(ascii: bracket))
    levels.removeLast()
    isAfterValue = true
  }
}

extension GrowingDocument.Member {
  /// A list of what is made of each of some values, for as long as they are there.
  package static func list<Value>(
    _ name: String, of values: some Sequence<Value>, while areThere: @escaping () -> Bool = { true },
    _ make: @escaping (Value) -> GrowingDocument.Element
  ) -> Self {
    let rest = AnyIterator(values.makeIterator())
    return .list(name) { _ in
      areThere() ? rest.next().map(make) ?? .end : .end
    }
  }
}

extension [GrowingDocument.Member] {
  /// What a shape says of a value at once; what is written elsewhere follows.
  package static func values(_ members: [(String, JSONValue)]) -> [GrowingDocument.Member] {
    members.map { .value($0, $1) }
  }
}

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
  /// Answers with a document, over as many turns as it takes. Who has elements that are waited for keeps the answer until then.
  @discardableResult
  package func answer(_ document: GrowingDocument, to exchange: HTTPExchange) -> LongAnswer {
    let answer = LongAnswer(document, to: exchange, self)
    add(answer)
    return answer
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
    guard exchange.isOpen else {
      document.drop()
      return .done
    }
    guard exchange.queuedBytes < Self.unreadLimit else { return waitForRoom() }
    document.write(&slice)
    if document.isVoid() { return giveUp() }
    if document.isComplete { return end() }
    if document.isWaiting {
      if document.leavesWhileWaiting, document.count > 0 { sendPiece() }
      return wait()
    }
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
    let words = "the data was reset while the answer was sent; ask again"
    exchange.answer(ConsoleError.conflict(words).response)
    return .done
  }

  /// The exchange keeps this object until then.
  private func waitForRoom() -> SliceOutcome {
    exchange.whenRead(goOn)
    return wait()
  }

  private func wait() -> SliceOutcome {
    isWaiting = true
    return .waits
  }

  /// What was waited for has come; harmless if nothing is waited for.
  package func goOn() {
    guard isWaiting else { return }
    isWaiting = false
    scheduler.add(self)
  }
}
