import Basics
import Broker
import Transport

extension Console {
  /// `POST /api/v1/notifications/wait`: answers when enough match, also those that came before.
  func waitForNotifications(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    guard !request.http.isOfNode else { return try waitForNode(request, exchange) }
    try begin(NotificationWait(request.object(allowing: NotificationWait.names), exchange, broker))
  }

  /// Begins to wait; `onGone` is told when the client goes.
  func begin(_ wait: NotificationWait, onGone: @escaping () -> Void = {}) throws {
    guard waiting.hasRoom(for: wait) else {
      throw ConsoleError.busy("\(WaitBoard.limit) clients are waiting already")
    }
    waiting.add(wait)
    wait.exchange.onGone = { [unowned self, unowned wait] in
      drop(wait)
      onGone()
    }
    scan(wait)
    guard waiting.contains(wait), !wait.isOverdue else { return }
    guard wait.timeout > 0 else { return overdue(wait) }
    wait.timer = context.makeTimer(wait.timeout * 1_000_000) { [unowned self, unowned wait] in overdue(wait) }
  }

  /// Looks for everybody who waits at what has happened.
  func lookForWaits() {
    if waiting.wantsSlices() { slices.add(waiting, isUrgent: true) }
  }

  /// How the board's words are followed.
  func watchBoard() {
    waiting.onFulfilled = { [unowned self] in settle($0) }
    waiting.onCaughtUp = { [unowned self] in
      for wait in waiting.waits where wait.isOverdue { settle(wait) }
    }
    waiting.onOverrun = { [unowned self] in
      for wait in $0 { scan(wait) }
    }
  }

  /// Looks through what came before.
  private func scan(_ wait: NotificationWait) {
    let isScanning = { wait.isScanning && wait.exchange.isOpen }
    let look = { [broker] (slice: inout Slice) in
      guard isScanning() else { return false }
      slice.spend(Slice.look)
      wait.look(broker, &slice)
      return isScanning()
    }
    slices.add(SlicedSteps(look) { [unowned self] in settle(wait) })
  }

  /// Its time is over; what has happened until now still counts.
  private func overdue(_ wait: NotificationWait) {
    wait.isOverdue = true
    lookForWaits()
    settle(wait)
  }

  /// Answers, if there is nothing more to wait for.
  private func settle(_ wait: NotificationWait) {
    guard waiting.contains(wait), !wait.isScanning else { return }
    if let conclude = wait.onConcluded {
      let isFulfilled = wait.isFulfilled
      guard isFulfilled || wait.isOverdue && !waiting.isBehind else { return }
      drop(wait)
      conclude(isFulfilled)
    } else if wait.isFulfilled {
      finish(wait, GrowingDocument(found(wait)))
    } else if wait.isOverdue, !waiting.isBehind {
      finish(wait, GrowingDocument(status: 408, missed(wait) + found(wait)))
    }
  }

  /// What matched; what the history has lost meanwhile is left out.
  private func found(_ wait: NotificationWait) -> [GrowingDocument.Member] {
    let (broker, journal) = (broker, broker.journal)
    var ids = wait.matched.sorted()[...]
    let next = ids.last ?? journal.nextId - 1
    return [
      .list("notifications") { _ in
        guard let id = ids.popFirst() else { return .end }
        return journal.shown(id).map { .notification($0, broker) } ?? .nothing
      }, .value("next", .integer(Int64(clamping: next))),
    ]
  }

  private func missed(_ wait: NotificationWait) -> [GrowingDocument.Member] {
    [
      timeout(wait, wait.matched.count), .list("nearMisses", NearMissSearch(wait.search, broker).look),
    ]
  }

  /// What a wait is answered that has found too little.
  func timeout(_ wait: NotificationWait, _ found: Int) -> GrowingDocument.Member {
    let message = "\(found) of \(wait.count) notifications matched within \(wait.timeout) ms"
    return .value("error", ["code": "timeout", "message": .string(message)])
  }

  /// It waits no more, and tells nobody.
  func drop(_ wait: NotificationWait) {
    (wait.timer, wait.onConcluded, wait.onFound) = (nil, nil, { _ in })
    waiting.remove(wait)
  }

  private func finish(_ wait: NotificationWait, _ document: GrowingDocument) {
    drop(wait)
    wait.exchange.onGone = nil
    slices.answer(document, to: wait.exchange)
  }

  /// Answers everybody who waits.
  func endWaits(with response: HTTPResponse) {
    for wait in waiting.waits {
      drop(wait)
      wait.exchange.answer(response)
    }
  }
}
