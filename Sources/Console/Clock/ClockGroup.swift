import Basics
import Broker
import ConsoleAnswers
import Transport

/// The emulator's clock, to be looked at and moved.
package struct ClockGroup: RouteGroup {
  private let clock: any ClockControl
  private let broker: Broker
  private let slices: SliceScheduler
  private let events: OwnEvents

  package init(_ clock: any ClockControl, _ broker: Broker, _ slices: SliceScheduler, _ events: OwnEvents) {
    (self.clock, self.broker, self.slices, self.events) = (clock, broker, slices, events)
  }

  package var routes: [Route] {
    [
      .get("/api/v1/clock", "The emulator's clock", .json { _ in ClockDocument(clock) })
        .answers(200, "The clock; the offset is in seconds", ClockDocument.schema),
      .put("/api/v1/clock", "Moves, stops or starts the clock", .document(moveClock))
        .ordered(as: absoluteClock, doing: moveClockAtOnce)
        .needs(ClockChange.schema).answers(200, "The clock afterwards", ClockDocument.schema),
    ]
  }

  /// `PUT /api/v1/clock`. What the new time ends is ended before the answer, and not at the next look.
  private func moveClock(_ request: ConsoleRequest) throws -> GrowingDocument {
    set(try changed(request.object(), from: request.now))
    return GrowingDocument([
      .late(after: expiry()) { ClockDocument.shape.written(ClockDocument(clock)) }
    ])
  }

  /// The same as an order to all nodes: what the new time ends is ended in the turns that follow.
  package func moveClockAtOnce(_ request: ConsoleRequest) throws -> HTTPResponse {
    let body = try request.object()
    // A log may keep orders of an earlier version, which name a moment.
    let isAbsolute = body.members.contains { SavedClock.order.names.contains($0.0) }
    set(
      isAbsolute
        ? try SavedClock.order.read(body, from: .offset(0)) : try changed(body, from: request.now))
    slices.add(SlicedSteps(expiry()))
    return HTTPResponse(json: ClockDocument(clock).json)
  }

  /// Ends what the present time has ended, of all rows, step by step.
  private func expiry() -> (inout Slice) -> Bool {
    var left = broker.registry.registrationCount
    return { slice in
      broker.deliveries.dropExpired(now: clock.now(), budget: Slice.rowsSwept)
      slice.spend(Slice.look)
      left -= Slice.rowsSwept
      return left > 0
    }
  }

  /// The same as every node of a cluster is asked for it: where the clock is afterwards, whenever a node hears of it.
  package func absoluteClock(_ request: ConsoleRequest) throws -> [UInt8] {
    try SavedClock.order.document(changed(request.object(), from: request.now)).encoded
  }

  private func set(_ state: SavedClock) {
    state.apply(to: clock)
    events.publish("clock", [("clock", ClockDocument(clock).json)])
  }

  /// Where a change leads: any of `set`, `advance` and `freeze`, applied in this order.
  private func changed(_ body: JSONObject, from now: Timestamp) throws -> SavedClock {
    let change = try ClockChange.form.read(body, from: ClockChange())
    let target = try Self.moment(change, body, from: now)
    guard target != nil || change.freezes != nil else {
      throw ConsoleError.badRequest("the body: expected set, advance or freeze")
    }
    if change.freezes ?? (clock.frozenAt != nil) { return .frozen(target ?? now) }
    // To the nanosecond, as some time passes between two looks at the system's clock. What leads to 1970 to 2199 is in range.
    guard clock.frozenAt == nil, change.moment == nil else {
      return .offset((target ?? now).nanoseconds &- clock.system.nanoseconds)
    }
    return .offset(clock.offset &+ (change.nanoseconds ?? 0))
  }

  /// Where the clock shall be; nil to leave it.
  private static func moment(_ change: ClockChange, _ body: JSONObject, from now: Timestamp) throws
    -> Timestamp?
  {
    let moment = change.nanoseconds.map { (change.moment ?? now).adding(nanoseconds: $0) } ?? change.moment
    guard let moment else { return nil }
    guard SavedClock.reach.contains(moment) else {
      // As it was written: a time far away has no place in 64 bits of nanoseconds.
      let written = [
        try body.value("set", .text), try body.value("advance", .text).map { "advance \($0)" },
      ].compactMap(\.self)
      throw ConsoleError.bad(
        "the clock", expected: "a time from 1970 to 2199", got: written.joined(separator: ", "))
    }
    return moment
  }
}

/// The clock as the API shows it.
struct ClockDocument: JSONAnswer {
  let now: Timestamp
  let isFrozen: Bool
  /// From the system's clock, in nanoseconds.
  let offset: Int64

  /// The offset is in seconds, since the numbers of this API's users are UNIX times.
  static let shape = JSONShape<ClockDocument>([
    "now": .show { $0.now }, "frozen": .show { $0.isFrozen },
    "offset": .show(words: "Seconds from the system's clock.") { Double($0.offset / 1_000_000) / 1000 },
  ]).named("Clock")

  init(_ clock: any ClockControl) {
    (now, isFrozen, offset) = (clock.now(), clock.frozenAt != nil, clock.offset)
  }
}

/// What `PUT /api/v1/clock` takes.
struct ClockChange: JSONDocument {
  var moment: Timestamp?
  /// How far to move it.
  var nanoseconds: Int64?
  var freezes: Bool?

  static let form = JSONForm<ClockChange>(
    [
      JSONField("set", .time, \.moment), JSONField("advance", .duration, \.nanoseconds),
      JSONField("freeze", .flag, \.freezes),
    ], rules: [("minProperties", 1)])

  static let schema = JSONSchema("ClockChange", form.schema, example: ["advance": "1m"])
}

/// The emulator's clock as the console moves it. Implemented by module `Emulator`.
package protocol ClockControl: AnyObject {
  /// What it shows.
  func now() -> Timestamp
  /// How far it is from the system's clock, in nanoseconds.
  var offset: Int64 { get }
  /// Set while time stands still.
  var frozenAt: Timestamp? { get }
  /// The system's own time.
  var system: Timestamp { get }
  /// Jumps forward (or back, if negative) by nanoseconds.
  func advance(nanoseconds: Int64)
  /// Makes it `moment` now.
  func set(_ moment: Timestamp)
  /// Stops or goes on from where it stood.
  func setFrozen(_ frozen: Bool)
  /// Follows the system's clock again.
  func reset()
}
