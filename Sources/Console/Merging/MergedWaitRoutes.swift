import Basics
import Broker
import Transport

/// `POST /api/v1/notifications/wait` in a cluster.
extension Console {
  /// As a client asks.
  func mergeWait(
    _ request: ConsoleRequest, _ exchange: HTTPExchange, _ others: any OtherConsoles
  ) throws {
    let own = ConsoleRequest(
      http: request.http.partOfBody { others.home(of: $0) == .here }, captures: [:], now: request.now)
    let wait = try NotificationWait(own.object(allowing: NotificationWait.names), exchange, broker)
    let merged = MergedWait(wait, ordered(request.http), others, makeTimer: context.makeTimer)
    merged.onOver = { [unowned self] in finishMerged($0, exchange, request.http, others) }
    merged.begin()
    try begin(wait) { merged.giveUp() }
  }

  /// Answers with what all nodes have found.
  private func finishMerged(
    _ wait: MergedWait, _ exchange: HTTPExchange, _ request: HTTPRequest, _ others: any OtherConsoles
  ) {
    drop(wait.own)
    let (matched, lost) = (wait.matched, wait.lost)
    let finders = matched.map { others.home(of: $0.id) }
    // Who did not answer in time would not now.
    let asked = others.names.filter { !lost.contains($0) || wait.isFulfilled && finders.contains(.at($0)) }
    let histories = asked.map { OtherHistory($0, after: nil) }
    let shown = ShownNotifications(
      matched.map(\.id).filter { others.home(of: $0) == .here },
      before: matched.last.flatMap { Timestamp(rfc3339: $0.receivedAt) }, broker)
    let merged = MergedHistory(
      shown, histories, broker, limit: wait.own.count, lost: lost.union(others.missing))
    for history in histories {
      let ids = matched.map(\.id).filter { others.home(of: $0) == .at(history.node) }
      history.ask(
        others, request.asking(for: ids, before: matched.last?.receivedAt),
        timeout: wait.isFulfilled ? Self.otherTimeout : Self.waitGrace)
    }
    let document =
      wait.isFulfilled
      ? GrowingDocument(merged.members)
      : GrowingDocument(status: 408, missedByAll(wait, matched.count) + merged.members)
    wait.giveUp()
    answer(merged, document, to: exchange)
  }

  private func missedByAll(_ wait: MergedWait, _ found: Int) -> [GrowingDocument.Member] {
    let misses = MergedMisses(NearMissSearch(wait.own.search, broker), broker, others: wait.misses)
    return [timeout(wait.own, found), .list("nearMisses", misses.look)]
  }

  /// As another node asks: what it waits for, or what is to be shown of what was found.
  func waitForNode(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let body = try request.object()
    // The connection lasts as long as somebody waits.
    exchange.connection?.stand(stallTime: Self.nodeStallTime)
    if let shown = body["shown"] { return try show(JSONObject(shown, place: "shown"), exchange) }
    let wait = try NotificationWait(request.object(allowing: NotificationWait.names), exchange, broker)
    let stream = FoundStream()
    let document = stream.makeDocument()
    wait.onFound = { stream.found($0) }
    let search = wait.search
    wait.onConcluded = { [unowned self] in
      stream.end($0 ? nil : NearMissSearch(search, broker))
    }
    try begin(wait) { document.onReady = nil }
    slices.answer(document, to: exchange)
  }

  /// How long another node may take nothing of an answer that lasts, in nanoseconds.
  static let nodeStallTime: Int64 = 15_000_000_000

  private func show(_ what: JSONObject, _ exchange: HTTPExchange) throws {
    let ids: [Int64] = try what.required("ids", .list(of: .whole(0...Int64.max)))
    let moment: Timestamp? = try what.droppingNull("before").value("before", .time)
    let shown = ShownNotifications(ids.map { UInt64($0) }, before: moment, broker)
    slices.answer(GrowingDocument(shown.members(broker)), to: exchange)
  }
}

extension HTTPRequest {
  /// Of another node, what its history has of a wait (`Console.waitForNode`).
  fileprivate func asking(for ids: [UInt64], before moment: String?) -> HTTPRequest {
    var request = self
    request.body =
      JSONValue.object([
        (
          "shown",
          [
            "ids": .array(ids.map { .integer(Int64(clamping: $0)) }), "before": .optional(moment),
          ]
        )
      ]).encoded
    return request
  }
}

/// What another node's console waits for, as this node finds it: each at once, by id and time, and near misses when the time is over.
///
///     {"found": [{"id": 1, "receivedAt": "…"}, …], "nearMisses": […]}
final class FoundStream {
  private var queue: ArraySlice<JSONValue> = []
  private var isOver = false
  private var misses: NearMissSearch?
  private weak var document: GrowingDocument?

  /// The answer, which lasts as long as the wait.
  func makeDocument() -> GrowingDocument {
    let document = GrowingDocument([.list("found", nextFound), .list("nearMisses", nextMiss)])
    document.leavesWhileWaiting = true
    self.document = document
    return document
  }

  func found(_ record: JournalRecord) {
    queue.append([
      "id": .integer(Int64(clamping: record.id)), "receivedAt": .string(record.receivedAt.rfc3339),
    ])
    document?.goOn()
  }

  /// All has been found, or the time is over: then with what came near.
  func end(_ misses: NearMissSearch?) {
    (isOver, self.misses) = (true, misses)
    document?.goOn()
  }

  private func nextFound(_ slice: inout Slice) -> GrowingDocument.Element {
    if let found = queue.popFirst() { return .value(found) }
    return isOver ? .end : .waits
  }

  private func nextMiss(_ slice: inout Slice) -> GrowingDocument.Element { misses?.look(&slice) ?? .end }
}

/// The near misses of all nodes: those that fail the fewest filters, the newest first, and no more than one node tells.
final class MergedMisses {
  /// One of them.
  private struct Miss {
    let failed: Int
    let mark: HistoryMark
    let bytes: [UInt8]

    init(failed: Int, mark: HistoryMark, bytes: [UInt8]) {
      (self.failed, self.mark, self.bytes) = (failed, mark, bytes)
    }

    /// As another node tells it; nil for what is none.
    init?(_ bytes: [UInt8]) {
      var (mark, failed): (HistoryMark?, Int) = (nil, 0)
      let isRead = bytes.withUnsafeBytes { bytes in
        var cursor = JSONCursor(bytes)
        do throws(JSONSurprise) {
          try cursor.members { name, cursor throws(JSONSurprise) in
            if name.spells("notification") {
              mark = try HistoryMark(&cursor)
            } else {
              try cursor.elements { cursor throws(JSONSurprise) in
                failed += 1
                try cursor.skipValue(depth: JSONText.maximumDepth)
              }
            }
          }
          return true
        } catch { return false }
      }
      guard isRead, let mark else { return nil }
      self.init(failed: failed, mark: mark, bytes: bytes)
    }

    static func isNearer(_ left: Miss, _ right: Miss) -> Bool {
      left.failed == right.failed ? left.mark > right.mark : left.failed < right.failed
    }
  }

  private let own: NearMissSearch
  private let broker: Broker
  private var misses: [Miss]
  private var hasOwnEnded = false

  init(_ own: NearMissSearch, _ broker: Broker, others: [[UInt8]]) {
    (self.own, self.broker, misses) = (own, broker, others.compactMap(Miss.init))
  }

  /// As a member of a document.
  func look(_ slice: inout Slice) -> GrowingDocument.Element {
    if !hasOwnEnded { return lookAtOwn(&slice) }
    return misses.isEmpty ? .end : .value(.verbatim(misses.removeFirst().bytes))
  }

  private func lookAtOwn(_ slice: inout Slice) -> GrowingDocument.Element {
    switch own.step(&slice) {
    case .miss(let miss):
      let mark = HistoryMark(receivedAt: miss.record.receivedAt.rfc3339, id: miss.record.id)
      misses.append(Miss(failed: miss.failed.count, mark: mark, bytes: miss.json.encoded))
    case .nothing: break
    case .end:
      hasOwnEnded = true
      misses = Array(misses.sorted(by: Miss.isNearer).prefix(NearMissSearch.limit))
    }
    return .nothing
  }
}
