import Basics
import Broker
import Console
import ConsoleAnswers

/// Makes an emulator know what a saved state says, over as many turns of the loop as that takes. All that can be wrong is checked
/// before anything is changed.
///
///     reading ─→ checking ─ all is there ───────────────────────────→ changing ─→ ended
///       (a long     │  └─ certificates or keys are missing ─→ issuing ─→ checking ─┘  │
///     document      │                                                                 └─ it fits no more, or a reset: ended half-way
///     beside the    └─ it does not fit: ended, nothing has changed
///     loop)
///
/// Once begun it goes on, whether somebody waits for it or not. Half of it is no harm: the same document again adds what is missing.
final class StateImport: SlicedWork {
  /// What there was in the document, by kind.
  struct Counts {
    var apps = 0, keys = 0, devices = 0, tokens = 0, messages = 0, channels = 0, subscriptions = 0, faults = 0
  }

  private enum Phase {
    case reading
    case checking
    /// A key is made, beside the loop.
    case issuing
    case changing
    case ended
  }

  /// Longest document that is read on the loop, in bytes: it takes some milliseconds.
  static let besideLoop = 256 << 10
  /// Until it is asked again whether there is room for one key more to be made, in nanoseconds: making one takes some 100 ms.
  private static let pause: Int64 = 50_000_000

  private let live: LiveState
  private let scheduler: SliceScheduler
  private let done: (Result<Counts, any Error>) -> Void
  /// Of the token map, when the changes began.
  private var generation = 0
  private var state: SavedState
  private var counts = Counts()
  private var phase = Phase.reading
  private var checks: ImportChecks
  private var changes: ImportChanges?
  private var hasIssued = false
  private var timer: AnyObject?

  /// `done` is called once, unless `begin` throws.
  init(_ live: LiveState, _ scheduler: SliceScheduler, done: @escaping (Result<Counts, any Error>) -> Void) {
    (self.live, self.scheduler, self.done) = (live, scheduler, done)
    (state, checks) = (SavedState(environment: live.environment), ImportChecks(live))
  }

  /// Throws if nothing was begun.
  func begin(_ body: [UInt8], _ limit: BodyLimit, _ background: (any BesideLoop)?) throws {
    let environment = live.environment
    let read: @Sendable () -> Result<SavedState, any Error> = {
      Result {
        let document = try limit.read(body)
        try StateSize(document).check()
        return try SavedState(document, environment: environment)
      }
    }
    guard body.count > Self.besideLoop, let background else { return start(try read().get()) }
    let isTaken = background.run(read) { [self] state in
      do { start(try state.get()) } catch { finish(.failure(error)) }
    }
    guard isTaken else { throw ConsoleError.busy("too many operations are running; try again") }
  }

  private func start(_ state: SavedState) {
    guard case .reading = phase else { return }
    (self.state, counts, phase) = (state, Counts(state), .checking)
    scheduler.add(self)
  }

  func work(_ slice: inout Slice) -> SliceOutcome {
    do {
      var outcome = SliceOutcome.goesOn
      while !slice.isSpent, outcome == .goesOn { outcome = try step(&slice) }
      return outcome
    } catch {
      finish(.failure(error))
      return .done
    }
  }

  /// Does all of it before it returns, keys included. For who starts an emulator that nobody is served by yet.
  static func runWhole(_ state: SavedState, _ live: LiveState) throws {
    var (state, checks, slice) = (state, ImportChecks(live), Slice(.max))
    while try checks.step(state, &slice) {}
    for credential in checks.missing { try telling { try live.credentials.issue(credential) } }
    var changes = ImportChanges(live, tokens: checks.tokens)
    while try changes.step(&state, &slice) {}
  }

  /// It must not do the rest.
  func end(because error: ConsoleError) { finish(.failure(error)) }

  private func finish(_ result: Result<Counts, any Error>) {
    if case .ended = phase { return }
    (phase, timer) = (.ended, nil)
    done(result)
  }

  /// Does a little.
  private func step(_ slice: inout Slice) throws -> SliceOutcome {
    switch phase {
    case .checking: return try checks.step(state, &slice) ? .goesOn : checked()
    case .changing:
      // What it holds by numbers of devices and rows would be others' now.
      guard live.broker.registry.generation == generation else { throw Self.wasReset }
      if try changes?.step(&state, &slice) == true { return .goesOn }
      finish(.success(counts))
      return .done
    case .reading, .issuing: return .waits
    case .ended: return .done
    }
  }

  private func checked() -> SliceOutcome {
    guard hasIssued || checks.missing.isEmpty else {
      phase = .issuing
      issue(checks.missing[...])
      return .waits
    }
    generation = live.broker.registry.generation
    (phase, changes) = (.changing, ImportChanges(live, tokens: checks.tokens))
    return .goesOn
  }

  /// One after the other, so that others who want keys get their turns. Meanwhile devices and people go on, so it is checked again.
  private func issue(_ missing: ArraySlice<SavedCredential>) {
    guard case .issuing = phase else { return }
    guard let next = missing.first else {
      (phase, hasIssued, checks) = (.checking, true, ImportChecks(live))
      return scheduler.add(self)
    }
    let isTaken = live.credentials.issue(next) { [self] made in
      do {
        try Self.telling { try made.get() }
        issue(missing.dropFirst())
      } catch { finish(.failure(error)) }
    }
    if !isTaken { timer = scheduler.makeTimer(Self.pause) { [weak self] in self?.issue(missing) } }
  }

  private static func telling(_ issue: () throws -> Void) throws {
    do { try issue() } catch { throw ConsoleError.conflict("issuing certificates and keys: \(error)") }
  }

  static let wasReset = ConsoleError.conflict(
    "something was reset while the document was imported, and the rest of it was left out; import it again")
}

extension StateImport.Counts {
  init(_ state: SavedState) {
    self.init(
      apps: state.apps.count, keys: state.keys.count, devices: state.devices.count,
      channels: state.channels.count,
      faults: state.faults.count)
    for device in state.devices {
      tokens += device.rows.count
      messages += device.rows.count { $0.message != nil }
    }
    subscriptions = state.channels.reduce(0) { $0 + $1.subscribers.count }
  }
}
