import Basics
import Faults
import Transport

/// A connection that a stall has stand still.
public protocol StallableConnection: AnyObject {
  var isStalled: Bool { get }
  func setStalled(_ stalled: Bool)
}

extension SocketConnection: StallableConnection {}
extension HTTPConnection: StallableConnection {}

/// Something that a fault holds up: a push for a time, or a connection while a rule is on.
///
///     held ─ its time is over, the rule is switched off, the emulator ends (of a delay) ─→ goes on
///       └─ its connection has gone ─→ called off
public final class FaultHold {
  /// Whether its end is sure to come; a stall may last.
  public let isDelay: Bool
  public private(set) var isOver = false
  fileprivate let rule: String
  fileprivate var timer: LoopEvent?
  private let number: Int
  private unowned let holds: FaultHolds
  private weak var stalled: (any StallableConnection)?
  /// nil when it is over: what goes on may be what has this.
  private var goOn: (() -> Void)?

  fileprivate init(
    _ holds: FaultHolds, _ number: Int, rule: String, isDelay: Bool,
    stalling stalled: (any StallableConnection)?,
    goOn: @escaping () -> Void
  ) {
    (self.holds, self.number, self.rule, self.isDelay) = (holds, number, rule, isDelay)
    (self.stalled, self.goOn) = (stalled, goOn)
    stalled?.setStalled(true)
  }

  /// What it holds up goes on now.
  public func end() {
    guard let goOn else { return }
    callOff()
    isOver = true
    stalled?.setStalled(false)
    goOn()
  }

  /// Nothing goes on any more.
  public func callOff() {
    (goOn, timer) = (nil, nil)
    holds.remove(number)
  }
}

/// All that faults hold up.
public final class FaultHolds {
  private let loop: EventLoop
  /// By number, in the order of coming.
  private var held: [Int: FaultHold] = [:]
  private var count = 0
  /// Nothing is delayed any more: the emulator ends.
  private var isEnding = false

  public init(loop: EventLoop) { self.loop = loop }

  /// Calls `goOn` once when it is over; nil if nothing is to be held up. A stall has the connection stand still meanwhile.
  public func hold(
    _ what: FaultPlan.Hold?, by decision: FaultEngine.Decision, stalling stalled: (any StallableConnection)?,
    goOn: @escaping () -> Void
  ) -> FaultHold? {
    guard let what, what == .stall || !isEnding else { return nil }
    count += 1
    let hold = FaultHold(
      self, count, rule: decision.name, isDelay: what != .stall, stalling: what == .stall ? stalled : nil,
      goOn: goOn)
    held[count] = hold
    if case .delay(let milliseconds) = what {
      hold.timer = LoopEvent(timerOn: loop) { [unowned hold] in hold.end() }
      hold.timer?.start(afterNanoseconds: milliseconds * 1_000_000)
    }
    return hold
  }

  fileprivate func remove(_ number: Int) { held[number] = nil }

  /// A rule is switched off: what stands still because of it goes on, while what is delayed has its time. Magic tokens are no
  /// rules, and what they stall stays so.
  public func ruleRests(_ name: String) { end { !$0.isDelay && $0.rule == name } }

  /// What is delayed is due now.
  public func endDelays() {
    isEnding = true
    end(where: \.isDelay)
  }

  private func end(where condition: (FaultHold) -> Bool) {
    // One that goes on may end the connection of another.
    for hold in held.sorted(by: { $0.key < $1.key }).map(\.value).filter(condition) { hold.end() }
  }
}
