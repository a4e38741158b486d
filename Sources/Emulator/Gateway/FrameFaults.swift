import Faults
import LegacyWire
import Services
import Transport

/// What goes wrong on purpose with the frames of one gateway connection. Faults have their say about the first that waits, once;
/// one that they hold up waits as it would for a busy sink, and nothing overtakes it.
///
///     unasked ─ no fault ────────────────────→ passed ─ the sink has it ─→ unasked
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
    case inject(FaultPlan, FaultEngine.Decision)
  }

  private enum State {
    case unasked
    case held(FaultHold, FaultPlan, FaultEngine.Decision)
    case passed
  }

  private var state = State.unasked

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
    state = .passed
    return .pass
  }

  /// A magic token that asks for nothing else is taken by its fault, as it is nobody's.
  private mutating func inject(_ plan: FaultPlan, _ decision: FaultEngine.Decision) -> Verdict {
    state = plan.fate == .take && !decision.isMagic ? .passed : .unasked
    return .inject(plan, decision)
  }

  /// The sink has it: the next is the first.
  mutating func begun() { state = .unasked }

  /// Whether what waits will wait for as long as its connection is stalled.
  var isStalled: Bool {
    if case .held(let hold, _, _) = state { !hold.isDelay && !hold.isOver } else { false }
  }

  /// Nothing waits any more.
  mutating func callOff() {
    if case .held(let hold, _, _) = state { hold.callOff() }
    state = .unasked
  }
}
