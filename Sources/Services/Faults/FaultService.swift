import Basics
import Broker
import Faults
import Platform
import PushModel
import Transport

/// What goes wrong on purpose, for all listeners: asks the engine, and tells log and watchers of each injected fault.
public final class FaultService {
  public let engine: FaultEngine
  public let holds: FaultHolds
  private let clock: EmulatorClock
  private let logger: Logger
  private let events: EventLog
  private let publish: (_ event: String, [(String, JSONValue)]) -> Void

  /// `publish` tells who watches `events`.
  public init(
    seed: UInt64, loop: EventLoop, clock: EmulatorClock, logger: Logger, events: EventLog,
    publish: @escaping (_ event: String, [(String, JSONValue)]) -> Void
  ) {
    let holds = FaultHolds(loop: loop)
    self.holds = holds
    engine = FaultEngine(seed: seed) { holds.ruleRests($0) }
    (self.clock, self.logger, self.events, self.publish) = (clock, logger, events, publish)
  }

  /// The fault to inject at this moment, if any.
  public func decide(_ point: FaultPoint) -> FaultEngine.Decision? {
    guard let decision = engine.decide(point, now: clock.now()) else { return nil }
    report(decision, point)
    return decision
  }

  // MARK: Telling

  /// Tells watchers, if there have been any.
  public func tell(_ event: String, _ members: @autoclosure () -> [(String, JSONValue)]) {
    guard events.isOn else { return }
    publish(event, members())
  }

  private func report(_ decision: FaultEngine.Decision, _ point: FaultPoint) {
    logger.log(.info, "fault", fields(decision, point) { ShortToken.text($0.span) })
    tell(
      "fault",
      fields(decision, point) { Hex.encode($0) } + [("hits", .optional(engine[decision.name]?.hits))])
  }

  private func fields(
    _ decision: FaultEngine.Decision, _ point: FaultPoint, token: ([UInt8]) -> String
  ) -> [(String, JSONValue)] {
    var fields: [(String, JSONValue)] = [
      ("name", .string(decision.name)), ("interface", .string(point.place.rawValue)),
      ("stage", .string(point.stage.rawValue)),
    ]
    if let topic = point.topic { fields.append(("topic", .string(topic))) }
    if !point.token.isEmpty { fields.append(("token", .string(token(point.token)))) }
    if let connection = point.connection { fields.append(("connection", .string(connection))) }
    fields.append(("effect", decision.effects.document))
    return fields
  }
}
