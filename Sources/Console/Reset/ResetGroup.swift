import Basics
import Broker
import ConsoleAnswers
import Faults
import Phones
import Transport

/// What can be reset (`Documentation/console-api.md`), in the order in which it is done.
package enum ResetPart: String, CaseIterable {
  case faults, clock, feedback, store, channels, devices, notifications, advice

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
      .post("/api/v1/reset", "Resets the parts named, or everything", .exchange(reset))
        .ordered(doing: resetAtOnce).takes(ResetRequest.schema)
        .answers(200, "What was reset", ResetPart.done.schema)
    ]
  }

  /// `POST /api/v1/reset`: the parts named, or all. Doing it twice is the same as once. So that the turn in which it
  /// happens has little to do, most goes bit by bit before; it goes on when the client is gone.
  private func reset(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let parts = try parts(request)
    slices.add(SlicedSteps(target.sweep(parts)) { exchange.answer(reset(parts)) })
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
  private let advice: any AdviceBoard
  fileprivate let forgetDevices: (() -> Void)?

  /// `forgetDevices`: how every node of a cluster forgets them; nil for an emulator that is alone.
  package init(
    _ broker: Broker, _ clock: any ClockControl, _ faults: FaultEngine, _ phones: PhoneBoard,
    _ advice: any AdviceBoard, forgetDevices: (() -> Void)?
  ) {
    (self.broker, self.clock, self.faults, self.phones) = (broker, clock, faults, phones)
    (self.advice, self.forgetDevices) = (advice, forgetDevices)
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
      // Its examples are gone.
      advice.clear()
    case .advice: advice.clear()
    }
  }
}

/// Most of what a reset takes away goes bit by bit; what is left, or has come meanwhile, at its end.
extension ResetTarget {
  /// Entries of the feedback service, connections or channels that go at a time, as a count.
  private static let atOnce = 16
  /// What ending as many takes with what comes of it, in units of `Slice`: of one, closing a connection of TLS, or writing a row.
  private static let cost = 8 * atOnce

  /// Sweeps one part after the other.
  fileprivate func sweep(_ parts: Set<ResetPart>) -> (inout Slice) -> Bool {
    var sweeps: [(inout Slice) -> Bool] = []
    if parts.contains(.feedback) { sweeps += [feedbackSweep, foreignFeedbackSweep] }
    if parts.contains(.store) || parts.contains(.devices) { sweeps.append(messageSweep) }
    if parts.contains(.channels) { sweeps.append(channelSweep) }
    // Of several nodes each forgets them when the order reaches it.
    if parts.contains(.devices), forgetDevices == nil { sweeps.append(sessionSweep) }
    return { slice in
      guard let sweep = sweeps.first else { return false }
      slice.spend(Slice.look)
      if !sweep(&slice) { sweeps.removeFirst() }
      return !sweeps.isEmpty
    }
  }

  /// Those that wait now.
  private var feedbackSweep: (inout Slice) -> Bool {
    var rows = broker.feedback.rows[...]
    let areThere = broker.registry.holdsRows
    return { slice in
      // Another reset has forgotten the devices, and their entries with them: the rows are gone, or somebody else's.
      guard areThere() else { return false }
      slice.spend(Self.cost)
      broker.feedback.clear(rows.prefix(Self.atOnce).filter { broker.zones.leads(broker.registry[$0].zone) })
      rows = rows.dropFirst(Self.atOnce)
      return !rows.isEmpty
    }
  }

  private var foreignFeedbackSweep: (inout Slice) -> Bool {
    var foreign = broker.feedback.foreign.entries[...]
    return { slice in
      slice.spend(Self.cost)
      broker.feedback.clearForeign(foreign.prefix(Self.atOnce).map(\.id))
      foreign = foreign.dropFirst(Self.atOnce)
      return !foreign.isEmpty
    }
  }

  private var messageSweep: (inout Slice) -> Bool {
    var row = 0 as Int?
    return { _ in
      row = broker.deliveries.dropStored(from: row ?? 0, budget: Slice.rowsSwept, now: clock.now())
      return row != nil
    }
  }

  /// As many as there are now: somebody may go on making some.
  private var channelSweep: (inout Slice) -> Bool {
    var left = broker.channels.count
    return { slice in
      slice.spend(Self.cost)
      left -= Self.atOnce
      return broker.channels.deleteSome(Self.atOnce) && left > 0
    }
  }

  private var sessionSweep: (inout Slice) -> Bool {
    var place = 0 as Int?
    return { slice in
      slice.spend(Self.cost)
      place = broker.devices.endSessions(from: place ?? 0, budget: Self.atOnce, now: clock.now())
      return place != nil
    }
  }
}
