import Broker
import PushModel
import Transport

extension Console {
  /// Farthest that the clock may be set, so that times stay in reach of RFC 3339 and of 64 bits of nanoseconds.
  static let earliestClock = Timestamp(seconds: 0)
  static let latestClock = Timestamp(seconds: 7_258_118_400)

  /// `GET /api/v1/clock`
  func showClock(_ request: ConsoleRequest) throws -> HTTPResponse {
    try request.query().finish()
    return HTTPResponse(json: clockDocument(try clock()))
  }

  /// `PUT /api/v1/clock`: any of `set`, `advance` and `freeze`, applied in this order.
  func moveClock(_ request: ConsoleRequest) throws -> HTTPResponse {
    try request.query().finish()
    let body = try request.object(allowing: ["set", "advance", "freeze"])
    let clock = try clock()
    let target = try moment(body, from: request.now)
    let freezes = try body.bool("freeze")
    guard target != nil || freezes != nil else {
      throw ConsoleError.badRequest("the body: expected set, advance or freeze")
    }
    if let target { clock.set(target) }
    if let freezes { clock.setFrozen(freezes) }
    // What the new time ends is ended now, not at the next look.
    broker.dropExpired(now: context.now(), budget: broker.registry.registrationCount)
    publish("clock", [("clock", clockDocument(clock))])
    return HTTPResponse(json: clockDocument(clock))
  }

  /// Where the clock shall be; nil to leave it.
  private func moment(_ body: JSONObject, from now: Timestamp) throws -> Timestamp? {
    var moment: Timestamp?
    if let text = try body.string("set") {
      guard let time = Timestamp(rfc3339: text) else {
        throw ConsoleError.bad("set", expected: "a time as 2026-01-02T03:04:05Z", got: text)
      }
      moment = time
    }
    if let text = try body.string("advance") {
      guard let duration = DurationText.nanoseconds(text) else {
        throw ConsoleError.bad("advance", expected: "a duration as 61m or 1h30m", got: text)
      }
      moment = (moment ?? now).adding(nanoseconds: duration)
    }
    guard let moment else { return nil }
    guard moment >= Self.earliestClock, moment <= Self.latestClock else {
      // As it was written: a time far away has no place in 64 bits of nanoseconds.
      let written = try [body.string("set"), body.string("advance").map { "advance \($0)" }].compactMap(
        \.self)
      throw ConsoleError.bad(
        "the clock", expected: "a time from 1970 to 2199", got: written.joined(separator: ", "))
    }
    return moment
  }

  private func clock() throws -> any ClockControl {
    guard let clock = context.clock else { throw ConsoleError.unavailable("the clock can't be moved") }
    return clock
  }

  /// The offset is in seconds, since the numbers of this API's users are UNIX times.
  func clockDocument(_ clock: any ClockControl) -> JSONValue {
    [
      "now": .string(context.now().rfc3339), "frozen": .bool(clock.frozenAt != nil),
      "offset": .number(Double(clock.offset / 1_000_000) / 1000),
    ]
  }
}
