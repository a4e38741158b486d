import Broker
import PushModel
import Transport

extension Console {
  /// Most clients that wait at once, as a count: with the event streams fewer than `HTTPLimits.connections`, so that
  /// those who wait leave room for others.
  static let waitLimit = 800
  /// How long a search that has not seen everything lets others work, in nanoseconds.
  private static let pause: Int64 = 1_000_000

  /// `POST /api/v1/notifications/wait`: answers when enough match, also those that came before.
  func waitForNotifications(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    try request.query().finish()
    let body = try request.object(allowing: ["match", "count", "timeoutMs", "since"])
    let wait = try NotificationWait(body, exchange, broker)
    guard waits.count < Self.waitLimit else {
      throw ConsoleError.busy("\(Self.waitLimit) clients are waiting already")
    }
    broker.events.turnOn()
    waits[ObjectIdentifier(wait)] = wait
    exchange.onGone = { [unowned self, unowned wait] in waits[ObjectIdentifier(wait)] = nil }
    advance(wait)
    guard exchange.isOpen else { return }
    if wait.timeout == 0, !wait.isBehind(broker) { return timedOut(wait) }
    wait.timer = context.makeTimer(wait.timeout * 1_000_000) { [unowned self, unowned wait] in timedOut(wait)
    }
  }

  /// Looks for everybody who waits; called when something has changed.
  func advanceWaits() {
    for wait in Array(waits.values) { advance(wait) }
  }

  private func advance(_ wait: NotificationWait) {
    wait.look(broker)
    if wait.isFulfilled {
      finish(wait, HTTPResponse(json: .object(answer(wait))))
    } else if wait.isBehind(broker), !isWaitPaused {
      isWaitPaused = true
      waitPause = context.makeTimer(Self.pause) { [unowned self] in
        isWaitPaused = false
        advanceWaits()
      }
    }
  }

  private func answer(_ wait: NotificationWait) -> [(String, JSONValue)] {
    let document = NotificationDocument(broker: broker)
    let records = wait.matched.prefix(wait.count).sorted().compactMap { broker.journal[$0] }
    let next = records.last?.id ?? broker.journal.nextId - 1
    return [
      ("notifications", .array(records.map(document.summary))), ("next", .integer(Int64(clamping: next))),
    ]
  }

  private func timedOut(_ wait: NotificationWait) {
    wait.look(broker)
    guard !wait.isFulfilled else { return finish(wait, HTTPResponse(json: .object(answer(wait)))) }
    let message = "\(wait.matched.count) of \(wait.count) notifications matched within \(wait.timeout) ms"
    let error: JSONValue = ["code": "timeout", "message": .string(message)]
    let misses = NearMiss.nearest(wait.search, broker).map { $0.json(broker) }
    finish(
      wait,
      HTTPResponse(
        status: 408, json: .object([("error", error), ("nearMisses", .array(misses))] + answer(wait))))
  }

  func finish(_ wait: NotificationWait, _ response: HTTPResponse) {
    waits[ObjectIdentifier(wait)] = nil
    wait.timer = nil
    wait.exchange.respond(finished(response))
  }
}
