import Broker
import PushModel
import Transport

extension Console {
  /// `GET /livez`
  func live(_ request: ConsoleRequest) -> HTTPResponse { HTTPResponse(json: ["status": "live"]) }

  /// `GET /readyz`
  func ready(_ request: ConsoleRequest) -> HTTPResponse {
    guard let reason = context.unreadiness() else { return HTTPResponse(json: ["status": "ready"]) }
    return HTTPResponse(status: 503, error: "notReady", reason)
  }

  /// `GET /api/v1/info`
  func showInfo(_ request: ConsoleRequest) throws -> HTTPResponse {
    try request.query().finish()
    var members = context.info() + [("boot", .string(context.boot)), ("now", .string(request.now.rfc3339))]
    if let clock = context.clock { members.append(("clock", clockDocument(clock))) }
    return HTTPResponse(json: .object(members + [("counters", counters)]))
  }

  /// `GET /api/v1/connections`
  func listConnections(_ request: ConsoleRequest) throws -> GrowingDocument {
    try request.query().finish()
    var connections = context.connections().makeIterator()
    return GrowingDocument([
      .list("connections") { _ in connections.next().map { .value($0()) } ?? .end }
    ])
  }

  private var counters: JSONValue {
    let (totals, registry) = (broker.counters, broker.registry)
    return [
      "received": count(totals.received), "accepted": count(totals.accepted),
      "rejected": count(totals.rejected), "stored": count(totals.stored), "sent": count(totals.sent),
      "delivered": count(totals.delivered), "replaced": count(totals.replaced),
      "expired": count(totals.expired), "discarded": count(totals.discarded),
      "devices": .integer(Int64(registry.deviceCount)),
      "tokens": .integer(Int64(registry.registrationCount)),
      "topics": .integer(Int64(registry.topicCount)),
      "feedback": .integer(Int64(broker.feedbackCount)),
      "history": count(broker.journal.nextId - broker.journal.firstId),
      "historyLimit": .integer(Int64(broker.journal.capacity)),
      "latestId": count(broker.journal.nextId - 1),
    ]
  }

  private func count(_ value: UInt64) -> JSONValue { .integer(Int64(clamping: value)) }
}
