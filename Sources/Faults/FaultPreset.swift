import Basics

/// Rules for the common cases, by name.
public enum FaultPreset: String, CaseIterable, Sendable {
  /// The first two pushes fail with 503, then all is well.
  case failTwice = "fail-twice"
  /// Every push fails with 503.
  case outage
  /// One push in ten fails with 500.
  case flaky
  /// Every push to a device is one too many.
  case throttled
  /// Every token is no longer active.
  case unregistered
  /// Answers take half a second to a second.
  case slow
  /// The next push is answered by a GOAWAY.
  case goaway
  /// The next push ends the connection with a TCP RST.
  case reset
  /// New connections are refused.
  case refuse
  /// Devices lose their connection when a message is due.
  case deviceLost = "device-lost"

  /// The rule, named as the preset.
  public var rule: FaultRule {
    var effects = FaultEffects()
    var schedule = FaultSchedule.always
    switch self {
    case .failTwice: (effects.reason, schedule) = (.serviceUnavailable, .next(2))
    case .outage: effects.reason = .serviceUnavailable
    case .flaky: (effects.reason, schedule) = (.internalServerError, .probability(0.1))
    case .throttled: effects.reason = .tooManyRequests
    case .unregistered: effects.reason = .unregistered
    case .slow: effects.delay = .init(milliseconds: 500, jitterMilliseconds: 500)
    case .goaway: (effects.goAway, schedule) = (.init(reason: "Shutdown"), .next(1))
    case .reset: (effects.resetsConnection, schedule) = (true, .next(1))
    case .refuse: effects.refuses = true
    case .deviceLost: effects.courier = .drop
    }
    return FaultRule(name: rawValue, schedule: schedule, effects: effects)
  }
}
