import Broker
import PushModel
import Transport

/// What can be reset (`Documentation/console-api.md`), in the order in which it is done.
package enum ResetPart: String, CaseIterable {
  case faults, clock, feedback, store, channels, devices, notifications

  /// What was reset.
  static let done = JSONShape<[ResetPart]>(["reset": .show(["feedback"]) { $0.map(\.rawValue) }]).named(
    "ResetDone")
}

/// What `POST /api/v1/reset` takes.
struct ResetRequest: JSONDocument {
  /// All, if it names none.
  var parts: [ResetPart] = []

  static let form = JSONForm<ResetRequest>([JSONField("what", .list(of: .word), \.parts)])
  static let schema = JSONSchema("Reset", form.schema, example: ["what": ["feedback"]])
}

extension Console {
  /// `POST /api/v1/reset`: the parts named, or all. Doing it twice is the same as once. So that the turn in which it
  /// happens has little to do, most goes bit by bit before; it goes on when the client is gone.
  func reset(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let parts = try parts(request)
    slices.add(
      ResetSweep(parts, context) { [weak self] in
        guard let self else { return }
        exchange.respond(finished(perform(parts)))
      })
  }

  /// The same as an order to all nodes, at its place among others.
  func resetAtOnce(_ request: ConsoleRequest) throws -> HTTPResponse { perform(try parts(request)) }

  private func parts(_ request: ConsoleRequest) throws -> Set<ResetPart> {
    let asked = try ResetRequest.form.read(request.object(), from: ResetRequest())
    return Set(asked.parts.isEmpty ? ResetPart.allCases : asked.parts)
  }

  private func perform(_ parts: Set<ResetPart>) -> HTTPResponse {
    // It would bring back what is to be forgotten.
    importing?.end(because: StateImport.reset)
    let done = ResetPart.allCases.filter(parts.contains)
    for part in done { clear(part) }
    publish("reset", [("what", .array(done.map(\.rawValue).sorted().map(JSONValue.string)))])
    return HTTPResponse(json: ResetPart.done.write(done))
  }

  private func clear(_ part: ResetPart) {
    let now = context.now()
    switch part {
    case .faults: context.faults?.removeAll()
    case .clock: context.clock?.reset()
    case .feedback:
      broker.feedback.clear(broker.feedback.rows.filter { broker.zones.leads(broker.registry[$0].zone) })
      broker.feedback.clearForeign(broker.feedback.foreign.entries.map(\.id))
    case .store:
      _ = broker.deliveries.dropStored(from: 0, budget: .max, now: now)
      broker.channels.dropBroadcasts()
    case .channels: while broker.channels.deleteSome(ChannelTable.limit) {}
    case .devices:
      if let orders = context.orders { orders.forgetDevices() } else { broker.forgetDevices(now: now) }
      context.phones.forgetAll()
    case .notifications:
      broker.journal.clear()
      context.phones.forgetLogs()
    }
  }
}
