import Basics
import Broker
import Console
import ConsoleAnswers
import Transport

/// One client that waits for what comes in by any node: each finds what is its own, and they are counted together.
///
///     waiting ─ enough in all, or the time is over ─→ over: each node shows what it has found
final class MergedWait: WaitListener {
  private static let second: Int64 = 1_000_000_000

  /// What one other node finds, as it finds it (`FoundStream`).
  private struct Other {
    let answer: NodeAnswer
    /// What it has found so far, never more than was asked for.
    var found: [HistoryMark] = []
  }

  /// This node's part.
  private let own: NotificationWait
  private let context: ConsoleContext
  private let others: any OtherConsoles
  private let request: HTTPRequest
  private var waits: [String: Other] = [:]
  private var ownFound: [HistoryMark] = []
  private var isOverdue = false
  private var isOver = false
  /// Others have had no time to begin an answer.
  private var isEarly = true
  private var earlyTimer: AnyObject?
  /// Until nodes are looked for that have come since, then until those are left out that do not answer.
  private var timer: AnyObject?

  init(
    _ own: NotificationWait, _ request: HTTPRequest, _ context: ConsoleContext, _ others: any OtherConsoles
  ) {
    (self.own, self.request, self.context, self.others) = (own, request, context, others)
    earlyTimer = context.makeTimer(ClusterRouter.waitGrace) { [unowned self] in isEarly = false }
  }

  deinit { giveUpOthers() }

  /// Asks all that live and have not been asked, now and each second from now on.
  func begin() {
    guard !isOver, !isOverdue else { return }
    for name in others.names where waits[name]?.answer.hasFailed ?? true { ask(name) }
    timer = context.makeTimer(Self.second) { [unowned self] in begin() }
  }

  private func ask(_ node: String) {
    let answer = NodeAnswer(node, .list) { [weak self] in self?.read($0) }
    waits[node] = Other(answer: answer)
    answer.ask(
      others, request.partOfBody { [others] in others.home(of: $0) == .at(node) }, timeout: nil)
  }

  private func read(_ answer: NodeAnswer) {
    while !answer.hasFailed, let element = answer.take() {
      guard let mark = HistoryMark(element.bytes) else { return answer.fail() }
      if waits[answer.node]?.found.count ?? own.count < own.count { waits[answer.node]?.found.append(mark) }
    }
    look()
  }

  // MARK: This node's part

  func found(_ record: JournalRecord) {
    ownFound.append(HistoryMark(receivedAt: record.receivedAt.rfc3339, id: record.id))
    look()
  }

  func concluded(_ wait: NotificationWait, isFulfilled: Bool) {
    if !isFulfilled { overdue() }
  }

  /// Nobody waits any more.
  func gone() {
    (isOver, timer) = (true, nil)
    giveUpOthers()
  }

  private func giveUpOthers() { for wait in waits.values { wait.answer.giveUp() } }

  // MARK: The end

  /// The time is over: what others have found until now still counts, and what came near. Who has not begun to answer in all that
  /// time is not waited for.
  private func overdue() {
    isOverdue = true
    for wait in waits.values where isSilent(wait) { wait.answer.giveUp() }
    timer = context.makeTimer(ClusterRouter.waitGrace) { [unowned self] in
      giveUpOthers()
      look()
    }
    look()
  }

  private func isSilent(_ wait: Other) -> Bool { !isEarly && !wait.answer.hasBegun }

  private func look() {
    guard !isOver else { return }
    let found = ownFound + waits.values.flatMap(\.found)
    let isFulfilled = found.count >= own.count
    guard isFulfilled || isOverdue && waits.values.allSatisfy(\.answer.isOver) else { return }
    (isOver, timer) = (true, nil)
    context.waits.drop(own)
    // As many as were asked for, in the order in which they came in.
    answer(Array(found.sorted().prefix(own.count)), isFulfilled: isFulfilled)
    giveUpOthers()
  }

  /// Answers with what all nodes have found.
  private func answer(_ matched: [HistoryMark], isFulfilled: Bool) {
    // Nodes that have not said all that was asked of them: of a wait that has found enough, those that have not begun to.
    let lost = Set(waits.filter { isFulfilled ? isSilent($0.value) : !$0.value.answer.hasEnded }.keys)
    let homes = matched.map { others.home(of: $0.id) }
    let ids = { (place: NodePlace) in zip(matched, homes).filter { $0.1 == place }.map(\.0.id) }
    let moment = matched.last?.receivedAt
    let shown = ShownNotifications(
      ids(.here), before: moment.flatMap { Timestamp(rfc3339: $0) }, context.broker)
    let merged = MergedHistory(
      shown, context.broker, limit: own.count, lost: lost.union(others.missing))
    // Who did not answer in time would not now.
    for node in others.names where !lost.contains(node) || isFulfilled && homes.contains(.at(node)) {
      merged.ask(
        node, others, request.asking(for: ids(.at(node)), before: moment),
        timeout: isFulfilled ? ClusterRouter.otherTimeout : ClusterRouter.waitGrace)
    }
    guard !isFulfilled else { return merged.answer(own.exchange, context.slices) }
    let misses = MergedMisses(
      NearMissSearch(own.search, context.broker), others: waits.values.flatMap(Self.misses))
    merged.answer(
      own.exchange, context.slices, status: 408,
      behind: [own.timedOut(matched.count), .list("nearMisses", misses.look)])
  }

  /// A node's near misses, when its time was over.
  private static func misses(_ wait: Other) -> [[UInt8]] {
    guard wait.answer.hasEnded else { return [] }
    var rest = ListElements()
    rest.receive(wait.answer.rest)
    return rest.take()
  }
}

extension HTTPRequest {
  /// The request as one of several nodes is asked: of a cursor in its body it gets what is its own.
  func partOfBody(isItsOwn: (UInt64) -> Bool) -> HTTPRequest {
    guard case .object(let members)? = JSONReader.read(body, maximumDepth: JSONObject.bodyDepth) else {
      return self
    }
    var part = self
    part.body = JSONValue.object(Self.parts(members, isItsOwn)).encoded
    return part
  }

  /// Of another node, what its history has of a wait (`ClusterRouter.waitForNode`).
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

  private static func parts(
    _ members: [(String, JSONValue)], _ isItsOwn: (UInt64) -> Bool
  ) -> [(String, JSONValue)] {
    members.compactMap { name, value in
      if name == "match", case .object(let members) = value {
        return (name, .object(parts(members, isItsOwn)))
      }
      guard name == "since", let cursor = HistoryCursor(value) else { return (name, value) }
      return cursor.ids.first(where: isItsOwn).map { (name, .integer(Int64(clamping: $0))) }
    }
  }
}

extension HistoryCursor {
  fileprivate init?(_ value: JSONValue) {
    switch value {
    case .string(let text): self.init(text)
    case .integer(let id) where id >= 0: self.init([UInt64(id)])
    default: return nil
    }
  }
}

/// What another node's console waits for, as this node finds it: each at once, by id and time, and near misses when the time is over.
///
///     {"found": [{"id": 1, "receivedAt": "…"}, …], "nearMisses": […]}
final class FoundStream: WaitListener {
  private let broker: Broker
  private var queue: ArraySlice<JSONValue> = []
  private var isOver = false
  private var misses: NearMissSearch?
  /// Lasts as long as the wait.
  private var answer: LongAnswer?

  init(_ broker: Broker) { self.broker = broker }

  func answer(_ exchange: HTTPExchange, _ slices: SliceScheduler) {
    let members: [GrowingDocument.Member] = [.list("found", nextFound), .list("nearMisses", nextMiss)]
    answer = slices.answer(GrowingDocument(leavesWhileWaiting: true, members), to: exchange)
  }

  func found(_ record: JournalRecord) {
    queue.append([
      "id": .integer(Int64(clamping: record.id)), "receivedAt": .string(record.receivedAt.rfc3339),
    ])
    answer?.goOn()
  }

  /// With what came near, if not all has been found.
  func concluded(_ wait: NotificationWait, isFulfilled: Bool) {
    (isOver, misses) = (true, isFulfilled ? nil : NearMissSearch(wait.search, broker))
    answer?.goOn()
  }

  func gone() { answer = nil }

  private func nextFound(_ slice: inout Slice) -> GrowingDocument.Element {
    if let found = queue.popFirst() { return .value(found) }
    return isOver ? .end : .waits
  }

  private func nextMiss(_ slice: inout Slice) -> GrowingDocument.Element { misses?.look(&slice) ?? .end }
}

/// The near misses of all nodes: those that fail the fewest filters, the newest first, and no more than one node tells.
private final class MergedMisses {
  /// One of them.
  private struct Miss {
    let failed: Int
    let mark: HistoryMark
    let bytes: [UInt8]

    /// As a node tells it; nil for what is none.
    init?(_ bytes: [UInt8]) {
      var (mark, failed): (HistoryMark?, Int) = (nil, 0)
      var cursor = JSONCursor(bytes.span)
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
      } catch { return nil }
      guard let mark else { return nil }
      (self.failed, self.mark, self.bytes) = (failed, mark, bytes)
    }

    static func isNearer(_ left: Miss, _ right: Miss) -> Bool {
      left.failed == right.failed ? left.mark > right.mark : left.failed < right.failed
    }
  }

  private let own: NearMissSearch
  private var misses: [Miss]
  private var hasOwnEnded = false

  init(_ own: NearMissSearch, others: [[UInt8]]) {
    (self.own, misses) = (own, others.compactMap(Miss.init))
  }

  /// As a member of a document.
  func look(_ slice: inout Slice) -> GrowingDocument.Element {
    if !hasOwnEnded { return lookAtOwn(&slice) }
    return misses.isEmpty ? .end : .value(.verbatim(misses.removeFirst().bytes))
  }

  private func lookAtOwn(_ slice: inout Slice) -> GrowingDocument.Element {
    switch own.look(&slice) {
    case .value(let miss): if let miss = Miss(miss.encoded) { misses.append(miss) }
    case .end:
      hasOwnEnded = true
      misses = Array(misses.sorted(by: Miss.isNearer).prefix(NearMissSearch.limit))
    default: break
    }
    return .nothing
  }
}
