import Basics
import Broker
import ConsoleAnswers
import Transport

/// Waiting for notifications: answers when enough match, also those that came before.
package final class WaitGroup: RouteGroup {
  private let broker: Broker
  private let board: WaitBoard
  private let slices: SliceScheduler

  package init(_ broker: Broker, _ board: WaitBoard, _ slices: SliceScheduler) {
    (self.broker, self.board, self.slices) = (broker, board, slices)
  }

  package func shutDown() { board.end() }

  package var routes: [Route] {
    [
      .post(
        "/api/v1/notifications/wait", "Waits until enough notifications match",
        .exchange { [self] in try board.begin(NotificationWait($0.object(), $1, broker), telling: self) }
      )
      .at(.merged(.wait)).takes(NotificationWait.schema).refuses(503)
      .answers(200, "The notifications that match", NotificationAnswer.found.schema)
      .answers(
        408, "Timeout: the nearest notifications, and why they did not match",
        NotificationAnswer.timeout.schema)
    ]
  }
}

extension WaitGroup: WaitListener {
  package func found(_ record: JournalRecord) {}
  package func gone() {}

  package func concluded(_ wait: NotificationWait, isFulfilled: Bool) {
    wait.exchange.stopWaiting()
    let document =
      isFulfilled
      ? GrowingDocument(found(wait))
      : GrowingDocument(
        status: 408,
        [
          wait.timedOut(wait.matched.count), .list("nearMisses", NearMissSearch(wait.search, broker).look),
        ] + found(wait))
    slices.answer(document, to: wait.exchange)
  }

  /// What matched; what the history has lost meanwhile is left out.
  private func found(_ wait: NotificationWait) -> [GrowingDocument.Member] {
    let ids = wait.matched.sorted()
    let next = ids.last ?? broker.journal.nextId - 1
    return [
      .list("notifications", of: ids) { [broker] id in
        broker.journal.shown(id).map { .notification($0, broker) } ?? .nothing
      }, .value("next", .integer(Int64(clamping: next))),
    ]
  }
}

extension NotificationWait {
  /// What a wait is answered that has found too little.
  package func timedOut(_ found: Int) -> GrowingDocument.Member {
    let message = "\(found) of \(count) notifications matched within \(timeout) ms"
    return .value("error", ["code": "timeout", "message": .string(message)])
  }
}
