import Basics
import Broker
import Faults
import Phones
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

/// Starts over, whole or in parts.
package struct ResetGroup: RouteGroup {
  private let target: ResetTarget
  private let slices: SliceScheduler
  private let events: OwnEvents
  private let willReset: () -> Void

  /// `willReset` is told before anything is reset: whoever would bring back what is to be forgotten must not go on.
  package init(
    _ target: ResetTarget, _ slices: SliceScheduler, _ events: OwnEvents, willReset: @escaping () -> Void
  ) {
    (self.target, self.slices) = (target, slices)
    (self.events, self.willReset) = (events, willReset)
  }

  package var routes: [Route] {
    [
      .post("/api/v1/reset", "Forgets the parts named, or everything", .exchange(reset))
        .ordered(doing: resetAtOnce).takes(ResetRequest.schema)
        .answers(200, "What was reset", ResetPart.done.schema)
    ]
  }

  /// `POST /api/v1/reset`: the parts named, or all. Doing it twice is the same as once. So that the turn in which it
  /// happens has little to do, most goes bit by bit before; it goes on when the client is gone.
  private func reset(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let parts = try parts(request)
    slices.add(ResetSweep(parts, target) { exchange.answer(reset(parts)) })
  }

  /// The same as an order to all nodes, at its place among others.
  private func resetAtOnce(_ request: ConsoleRequest) throws -> HTTPResponse { reset(try parts(request)) }

  private func parts(_ request: ConsoleRequest) throws -> Set<ResetPart> {
    let asked = try ResetRequest.form.read(request.object(), from: ResetRequest())
    return Set(asked.parts.isEmpty ? ResetPart.allCases : asked.parts)
  }

  private func reset(_ parts: Set<ResetPart>) -> HTTPResponse {
    willReset()
    let done = ResetPart.allCases.filter(parts.contains)
    for part in done { target.clear(part) }
    events.publish("reset", [("what", .array(done.map(\.rawValue).sorted().map(JSONValue.string)))])
    return HTTPResponse(json: ResetPart.done.write(done))
  }
}

/// What there is to be reset.
package struct ResetTarget {
  fileprivate let broker: Broker
  fileprivate let clock: any ClockControl
  private let faults: FaultEngine
  private let phones: PhoneBoard
  fileprivate let forgetDevices: (() -> Void)?

  /// `forgetDevices`: how every node of a cluster forgets them; nil for an emulator that is alone.
  package init(
    _ broker: Broker, _ clock: any ClockControl, _ faults: FaultEngine, _ phones: PhoneBoard,
    forgetDevices: (() -> Void)?
  ) {
    (self.broker, self.clock, self.faults, self.phones) = (broker, clock, faults, phones)
    self.forgetDevices = forgetDevices
  }

  fileprivate func clear(_ part: ResetPart) {
    let now = clock.now()
    switch part {
    case .faults: faults.removeAll()
    case .clock: clock.reset()
    case .feedback:
      broker.feedback.clear(broker.feedback.rows.filter { broker.zones.leads(broker.registry[$0].zone) })
      broker.feedback.clearForeign(broker.feedback.foreign.entries.map(\.id))
    case .store:
      _ = broker.deliveries.dropStored(from: 0, budget: .max, now: now)
      broker.channels.dropBroadcasts()
    case .channels: while broker.channels.deleteSome(ChannelTable.limit) {}
    case .devices:
      if let forgetDevices { forgetDevices() } else { broker.forgetDevices(now: now) }
      phones.forgetAll()
    case .notifications:
      broker.journal.clear()
      phones.forgetLogs()
    }
  }
}

/// Does most of what a reset takes away bit by bit, and what is left, or has come meanwhile, at its end.
final class ResetSweep: SlicedWork {
  /// Entries of the feedback service, connections or channels that go at a time, as a count.
  private static let atOnce = 16
  /// What ending one of these takes with what comes of it, in units of `Slice`: closing a connection of TLS, or writing a row.
  private static let each = 8

  private let target: ResetTarget
  private let then: () -> Void
  /// What is swept of each part, one after the other.
  private var sweeps: [(inout Slice) -> Bool] = []

  private var broker: Broker { target.broker }

  init(_ parts: Set<ResetPart>, _ target: ResetTarget, then: @escaping () -> Void) {
    (self.target, self.then) = (target, then)
    if parts.contains(.feedback) { addFeedback() }
    if parts.contains(.store) || parts.contains(.devices) { addMessages() }
    if parts.contains(.channels) { addChannels() }
    // Of several nodes each forgets them when the order reaches it.
    if parts.contains(.devices), target.forgetDevices == nil { addSessions() }
  }

  func work(_ slice: inout Slice) -> SliceOutcome {
    while !slice.isSpent, let sweep = sweeps.first {
      slice.spend(Slice.look)
      if !sweep(&slice) { sweeps.removeFirst() }
    }
    guard sweeps.isEmpty else { return .goesOn }
    then()
    return .done
  }

  /// Those that wait now.
  private func addFeedback() {
    let broker = broker
    var rows = broker.feedback.rows[...]
    let generation = broker.registry.generation
    sweeps.append { slice in
      // Another reset has forgotten the devices, and their entries with them: the rows are gone, or somebody else's.
      guard broker.registry.generation == generation else { return false }
      slice.spend(Self.each * Self.atOnce)
      broker.feedback.clear(rows.prefix(Self.atOnce).filter { broker.zones.leads(broker.registry[$0].zone) })
      rows = rows.dropFirst(Self.atOnce)
      return !rows.isEmpty
    }
    var foreign = broker.feedback.foreign.entries[...]
    sweeps.append { slice in
      slice.spend(Self.each * Self.atOnce)
      broker.feedback.clearForeign(foreign.prefix(Self.atOnce).map(\.id))
      foreign = foreign.dropFirst(Self.atOnce)
      return !foreign.isEmpty
    }
  }

  private func addMessages() {
    var row: Int? = 0
    sweeps.append { [target] _ in
      row = target.broker.deliveries.dropStored(
        from: row ?? 0, budget: Slice.rowsSwept, now: target.clock.now())
      return row != nil
    }
  }

  /// As many as there are now: somebody may go on making some.
  private func addChannels() {
    let broker = broker
    var left = broker.channels.count
    sweeps.append { slice in
      slice.spend(Self.each * Self.atOnce)
      left -= Self.atOnce
      return broker.channels.deleteSome(Self.atOnce) && left > 0
    }
  }

  private func addSessions() {
    var place: Int? = 0
    sweeps.append { [target] slice in
      slice.spend(Self.each * Self.atOnce)
      place = target.broker.devices.endSessions(
        from: place ?? 0, budget: Self.atOnce, now: target.clock.now())
      return place != nil
    }
  }
}
