import Basics
import Broker
import Console
import Faults
import LegacyWire
import Platform
import ProviderAPI
import PushModel
import Runtime
import Transport

/// What goes wrong on purpose, for all listeners: asks the engine, and tells log and watchers of each injected fault.
final class FaultService {
  let engine: FaultEngine
  let holds: FaultHolds
  let clock: EmulatorClock
  private let logger: Logger
  private let events: OwnEvents
  init(seed: UInt64, loop: EventLoop, clock: EmulatorClock, logger: Logger, events: OwnEvents) {
    engine = FaultEngine(seed: seed)
    holds = FaultHolds(loop: loop)
    (self.clock, self.logger, self.events) = (clock, logger, events)
    engine.onInjection = { [unowned self] in report($0, $1) }
    engine.onRest = { [holds] in holds.ruleRests($0) }
  }

  /// The fault to inject at this moment, if any.
  func decide(_ point: FaultPoint) -> FaultEngine.Decision? { engine.decide(point, now: clock.now()) }

  // MARK: Telling

  /// Tells watchers, if there have been any.
  func tell(_ event: String, _ members: @autoclosure () -> [(String, JSONValue)]) {
    guard events.isOn else { return }
    events.publish(event, members())
  }

  private func report(_ decision: FaultEngine.Decision, _ point: FaultPoint) {
    logger.log(.info, "fault", fields(decision, point, token: ShortToken.text))
    tell(
      "fault",
      fields(decision, point) { Hex.encode($0) } + [("hits", .optional(engine[decision.name]?.hits))])
  }

  private func fields(
    _ decision: FaultEngine.Decision, _ point: FaultPoint, token: (UnsafeRawBufferPointer) -> String
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

extension FaultEngine.Decision {
  /// Why a push was refused that the checks need not have refused.
  var words: Explanation {
    isMagic
      ? Explanation(rule: "magic token", expected: "a token that was issued", got: Phrase(name))
      : Explanation(
        rule: "fault rule \(name)", expected: "no rule that matches", got: Phrase(effects.document.text))
  }

  /// As the history has it.
  func injected(isAnswered: Bool) -> InjectedFault {
    InjectedFault(name: name, effect: effects.document, isAnswered: isAnswered)
  }
}

/// Frames as faults see them.
extension FaultService {
  /// The fault to inject into a frame for `topic`, if any; `connection` is where it came from.
  func decide(
    _ notification: LegacyNotification, topic: @autoclosure () -> String?,
    connection: @autoclosure () -> SocketAddress?
  ) -> FaultEngine.Decision? {
    var point = FaultPoint(.push, at: .gateway)
    if let token = notification.token { point.token = token }
    (point.topic, point.priority, point.connection) = (
      topic(), notification.priority, connection()?.description
    )
    return decide(point)
  }
}

extension NotificationDetail {
  /// Why a push was refused or swallowed that a fault was injected into.
  convenience init(_ decision: FaultEngine.Decision, isAnswered: Bool) {
    self.init(decision.words, fault: decision.injected(isAnswered: isAnswered))
  }
}
