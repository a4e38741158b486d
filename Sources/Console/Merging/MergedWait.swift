import Basics
import Broker
import Transport

/// One client that waits for what comes in by any node: each finds what is its own, and they are counted together.
///
///     waiting ─ enough in all, or the time is over ─→ over: each node shows what it has found
final class MergedWait {
  private static let second: Int64 = 1_000_000_000

  /// This node's part.
  let own: NotificationWait
  /// Told once, when there is nothing more to wait for.
  var onOver: (MergedWait) -> Void = { _ in }
  private(set) var isFulfilled = false
  private let others: any OtherConsoles
  private let request: HTTPRequest
  private let makeTimer: (Int64, @escaping () -> Void) -> AnyObject?
  private var waits: [String: OtherWait] = [:]
  private var ownFound: [HistoryMark] = []
  private var isOverdue = false
  private var isOver = false
  /// Others have had no time to begin an answer.
  private var isEarly = true
  private var earlyTimer: AnyObject?
  /// Until nodes are looked for that have come since, then until those are left out that do not answer.
  private var timer: AnyObject?

  init(
    _ own: NotificationWait, _ request: HTTPRequest, _ others: any OtherConsoles,
    makeTimer: @escaping (Int64, @escaping () -> Void) -> AnyObject?
  ) {
    (self.own, self.request, self.others, self.makeTimer) = (own, request, others, makeTimer)
    own.onFound = { [unowned self] record in
      ownFound.append(HistoryMark(receivedAt: record.receivedAt.rfc3339, id: record.id))
      look()
    }
    own.onConcluded = { [unowned self] in if !$0 { overdue() } }
    earlyTimer = makeTimer(Console.waitGrace) { [unowned self] in isEarly = false }
  }

  deinit { for wait in waits.values { wait.giveUp() } }

  /// Asks all that live and have not been asked, now and each second from now on.
  func begin() {
    guard !isOver, !isOverdue else { return }
    for name in others.names where waits[name]?.hasFailed ?? true { ask(name) }
    timer = makeTimer(Self.second) { [unowned self] in begin() }
  }

  private func ask(_ node: String) {
    let wait = OtherWait(node, limit: own.count)
    waits[node] = wait
    wait.onNews = { [weak self] in self?.look() }
    wait.ask(others, request.partOfBody { [others] in others.home(of: $0) == .at(node) }, timeout: nil)
  }

  /// The time is over: what others have found until now still counts, and what came near. Who has not begun to answer in all that
  /// time is not waited for.
  private func overdue() {
    isOverdue = true
    for wait in waits.values where isSilent(wait) { wait.giveUp() }
    timer = makeTimer(Console.waitGrace) { [unowned self] in
      for wait in waits.values { wait.giveUp() }
      look()
    }
    look()
  }

  private func isSilent(_ wait: OtherWait) -> Bool { !isEarly && !wait.hasBegun }

  private func look() {
    guard !isOver else { return }
    isFulfilled = found.count >= own.count
    guard isFulfilled || isOverdue && waits.values.allSatisfy({ $0.hasEnded || $0.hasFailed }) else { return }
    (isOver, timer) = (true, nil)
    onOver(self)
  }

  // MARK: What was found

  private var found: [HistoryMark] { ownFound + waits.values.flatMap(\.found) }

  /// As many as were asked for, in the order in which they came in.
  var matched: [HistoryMark] { Array(found.sorted().prefix(own.count)) }
  /// Near misses of other nodes.
  var misses: [[UInt8]] { waits.values.flatMap(\.misses) }
  /// Nodes that have not said all that was asked of them: of a wait that has found enough, those that have not begun to.
  var lost: Set<String> {
    Set(waits.filter { isFulfilled ? isSilent($0.value) : !$0.value.hasEnded }.keys)
  }

  /// Nobody waits any more.
  func giveUp() {
    (isOver, timer) = (true, nil)
    for wait in waits.values { wait.giveUp() }
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

/// What one other node finds for a wait, as it finds it (`FoundStream`).
private final class OtherWait: NodeAnswer {
  /// What it has found so far, never more than was asked for.
  private(set) var found: [HistoryMark] = []
  private let limit: Int
  private var elements = ListElements()

  init(_ node: String, limit: Int) {
    self.limit = limit
    super.init(node)
  }

  /// Its near misses, when its time was over.
  var misses: [[UInt8]] {
    guard hasEnded else { return [] }
    var rest = ListElements()
    rest.receive(elements.rest)
    return rest.take()
  }

  override func received(_ piece: [UInt8]) {
    guard !hasFailed else { return }
    elements.receive(piece)
    for bytes in elements.take() where found.count < limit {
      guard let mark = HistoryMark(bytes) else { return fail() }
      found.append(mark)
    }
    if elements.isBroken { giveUp() }
    onNews()
  }
}
