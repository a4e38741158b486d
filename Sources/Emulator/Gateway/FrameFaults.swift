import Basics
import Broker
import Faults
import LegacyWire
import PushModel
import Services
import Transport

/// What goes wrong on purpose with the frames of one gateway connection. Faults have their say about the first that waits, once;
/// one that they hold up waits as it would for a busy sink, and nothing overtakes it.
///
///     unasked ─ no fault ────────────────────→ passed ─ the sink has it, and the rest of a fault is done ─→ unasked
///        ├───── a fault, nothing to wait for ─→ faulted
///        └───── a fault that holds it up ─────→ held ─ over ─→ faulted
///     faulted ─ to be taken after all ─→ passed
///        └──── dealt with ───────────→ unasked
struct FrameFaults {
  enum Verdict {
    /// It is to be taken.
    case pass
    case wait
    /// Nothing of it is stored, delivered or forwarded, unless the plan says so.
    case inject(Injection)
  }

  private enum State {
    case unasked
    case held(FaultHold, FaultPlan, FaultEngine.Decision)
    /// With the fault that has it taken, and may want more then.
    case passed(Injection?)
  }

  /// A fault that has been injected into a frame.
  struct Injection {
    let plan: FaultPlan
    let decision: FaultEngine.Decision

    /// Whether the sink is to have the frame. A magic token that asks for nothing else is taken by its fault, as it is nobody's.
    var isSubmitted: Bool {
      (plan.fate == .take || plan.fate == .takeInSilence) && !decision.isMagic
    }
  }

  /// What a fault does behind a frame that the sink has.
  struct Rest {
    let plan: FaultPlan
    let command: LegacyCommand
  }

  private var state = State.unasked
  private var rest: Rest?

  /// What becomes of the first that waits. `goOn` is called when what holds it up is over.
  mutating func verdict(
    _ service: FaultService, on connection: SocketConnection?, _ decide: () -> FaultEngine.Decision?,
    goOn: @escaping () -> Void
  ) -> Verdict {
    switch state {
    case .passed: return .pass
    case .held(let hold, let plan, let decision): return hold.isOver ? inject(plan, decision) : .wait
    case .unasked:
      guard let decision = decide() else { return pass() }
      let plan = FaultPlan(decision, on: .frames)
      let hold = service.holds.hold(plan.hold, by: decision, stalling: connection, goOn: goOn)
      guard let hold else { return inject(plan, decision) }
      state = .held(hold, plan, decision)
      return .wait
    }
  }

  /// Whether they have had their say about the first that waits, which is not over.
  var isBusy: Bool { if case .unasked = state { false } else { true } }

  mutating func pass() -> Verdict {
    state = .passed(nil)
    return .pass
  }

  private mutating func inject(_ plan: FaultPlan, _ decision: FaultEngine.Decision) -> Verdict {
    let injection = Injection(plan: plan, decision: decision)
    state = injection.isSubmitted ? .passed(injection) : .unasked
    return .inject(injection)
  }

  /// Whether its provider is told nothing of the first, whatever the verdict is.
  var isSilent: Bool { passed?.plan.fate == .takeInSilence }

  private var passed: Injection? { if case .passed(let injection) = state { injection } else { nil } }

  /// The sink has it: the next is the first. Answers the fault that leaves it without an answer.
  mutating func begun(_ command: LegacyCommand) -> FaultEngine.Decision? {
    defer { state = .unasked }
    rest = passed.map { Rest(plan: $0.plan, command: command) }
    return isSilent ? passed?.decision : nil
  }

  /// What is left of a fault when its frame does not wait any more, once.
  mutating func takeRest() -> Rest? {
    defer { rest = nil }
    return rest
  }

  /// Whether what waits will wait for as long as its connection is stalled.
  var isStalled: Bool {
    if case .held(let hold, _, _) = state { !hold.isDelay && !hold.isOver } else { false }
  }

  /// Nothing waits any more.
  mutating func callOff() {
    if case .held(let hold, _, _) = state { hold.callOff() }
    (state, rest) = (.unasked, nil)
  }
}

/// A frame as faults find it.
struct FaultedFrame: FaultedConnection, ~Escapable {
  let notification: LegacyNotification
  let provider: GatewayProvider
  let decision: FaultEngine.Decision
  let now: Timestamp
  let frames: ProviderFrames
  let connection: GatewayConnection

  @_lifetime(copy notification)
  init(
    _ notification: LegacyNotification, from provider: GatewayProvider, _ decision: FaultEngine.Decision,
    now: Timestamp, by frames: ProviderFrames, on connection: GatewayConnection
  ) {
    self.notification = notification
    (self.provider, self.decision, self.now) = (provider, decision, now)
    (self.frames, self.connection) = (frames, connection)
  }

  func dribble(_ dribble: FaultEffects.Dribble) { connection.dribble(dribble) }
  func goWrong(_ breakage: FaultBreakage) { connection.goWrong(breakage) }

  func settle(_ fate: FaultFate) {
    guard let result = frames.apply(fate, decision, notification, from: provider, now: now) else {
      return
    }
    switch fate {
    case .take: connection.noteKnown(result, of: notification)
    case .refuse(let refusal): connection.refuse(notification, by: refusal)
    case .takeInSilence, .swallow: break
    }
  }
}

extension FaultRefusal {
  /// A server that goes names the last notification that it took, for which this is nil (`Documentation/binary-protocol.md#statuses`,
  /// 10); any other error names the one that is wrong.
  func identifier(for notification: LegacyNotification) -> UInt32? {
    identifier ?? (status == Rejection.shutdown.legacyStatus ? nil : notification.identifier)
  }
}

extension PushVerdict {
  /// The notification's id in the history, if it has one.
  var id: UInt64? {
    switch self {
    case .now(let result): result.id
    case .later(let id): id
    case .busy: nil
    }
  }
}
