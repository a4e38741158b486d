import Basics
import Broker
import Courier
import Hooks
import Platform
import Services
import Transport
import WaysIn

/// The end of an emulator. The orderly one: what is delayed is taken, providers get the verdicts that come in time and are told how far
/// they got, devices may still acknowledge what is under way, hooks hear of that if they are quick, what is left is kept, then the loop
/// stops. The other leaves without a word to anybody.
///
///     starting ─→ running ─ asked for ─→ draining: others take this node's zones ─ they have them ─→ ending ─ all is over ─→ the loop stops
///                    └─ without a cluster ─────────────┴─ asked for again ─────────────────────────↗   └─ asked for again ──↗
package final class Shutdown {
  /// How long devices may take to acknowledge, and connections to close, in nanoseconds.
  private static let timeout: Int64 = 2_000_000_000
  /// How long providers are kept waiting for verdicts, in nanoseconds: less than the whole end may take. Variable so that a
  /// test need not wait for it.
  package var verdictTimeout: Int64 = 1_500_000_000
  private static let step: Int64 = 20_000_000
  /// How long devices of other nodes may go on, in nanoseconds: what they acknowledge is known there alone.
  private static let relayTimeout: Int64 = 100_000_000

  private enum Stage { case starting, running, draining, ending }

  /// What is ended.
  struct Parts {
    let loop: EventLoop
    let logger: Logger
    let broker: Broker
    let paths: PushPaths
    let listeners: Listeners
    let faults: FaultService
    let gateway: Gateway
    let provider: ProviderService
    let courier: CourierService
    let streams: StreamService
    let hooks: HookService?
  }

  private let parts: Parts
  private var stage = Stage.starting
  /// Asked for while the emulator starts: the end follows then.
  private var followsStart = false
  private var timer: LoopEvent?
  private var began = Instant.distantPast
  private var deadline = Instant.distantPast
  private var verdictDeadline = Instant.distantPast
  private var hasEndedVerdicts = false
  private var hasClosedCouriers = false
  /// Set when the store can't be written any more: nothing may be acknowledged then.
  private(set) var failure: EmulatorError?

  init(_ parts: Parts) {
    self.parts = parts
    timer = LoopEvent(timerOn: parts.loop) { [unowned self] in look() }
  }

  /// Whether the orderly end has begun.
  package var hasBegun: Bool { stage == .ending }

  /// The start is over: from here on the orderly end may be asked for.
  func started() {
    stage = .running
    if followsStart { begin() }
  }

  /// Begins the orderly end; asked for again, leaves at once.
  func begin() {
    switch stage {
    case .starting: followsStart = true
    case .running:
      guard let node = parts.paths.node else { return end() }
      stage = .draining
      // Asked for again meanwhile, the end is under way without it.
      node.drain { [unowned self] in if stage == .draining { end() } }
    case .draining: end()
    case .ending: parts.loop.stop()
    }
  }

  /// Notes why the emulator does not go on.
  func fail(_ error: EmulatorError) {
    failure = error
    parts.logger.log(.error, error.sentence)
  }

  /// Nothing can be promised any more: ends without answering anybody. Nothing that has happened since the last commit is stored, or
  /// told to anybody.
  package func giveUp(_ sentence: String) {
    guard failure == nil else { return }
    fail(EmulatorError(.storeUnusable, sentence))
    parts.paths.capture?.abandonTurn()
    let listeners = parts.listeners
    listeners.stopAccepting()
    listeners.abort(sentence, reset: true)
    listeners.console?.abort()
    listeners.proxy?.abort()
    parts.loop.stop()
  }

  private func end() {
    stage = .ending
    parts.logger.log(.info, "shutting down")
    parts.listeners.stopAccepting()
    // First, as what is delayed on a connection that stands still is given up: its provider would not hear of it.
    parts.provider.shutDown()
    parts.faults.holds.endDelays()
    parts.gateway.shutDown()
    parts.streams.shutDown()
    parts.listeners.consoleRoutes?.shutDown()
    parts.listeners.console?.shutDown()
    parts.listeners.proxy?.shutDown()
    let now = SystemClock.now()
    began = now
    deadline = now.adding(nanoseconds: Self.timeout)
    verdictDeadline = now.adding(nanoseconds: verdictTimeout)
    look()
  }

  /// Closes device connections once nothing is unacknowledged, and stops once all verdicts are there and everything is closed.
  private func look() {
    let now = SystemClock.now()
    if !hasEndedVerdicts, now >= verdictDeadline || nobodyWaits { endVerdicts() }
    let isOver = now >= deadline
    if !hasClosedCouriers, isOver || !mayAcknowledge(now) {
      hasClosedCouriers = true
      deadline = now.adding(nanoseconds: Self.timeout)
      parts.courier.shutDown()
      parts.paths.nodes?.devices.shutDown()
    } else if hasClosedCouriers, isOver || hasEndedVerdicts && isEverythingClosed {
      parts.listeners.abort("the emulator is shutting down")
      return parts.loop.stop()
    }
    timer?.start(afterNanoseconds: Self.step)
  }

  private var isEverythingClosed: Bool { !parts.listeners.hasConnections && parts.hooks?.isIdle ?? true }

  /// Whether a device may still have something to acknowledge.
  private func mayAcknowledge(_ now: Instant) -> Bool {
    let isRelaying = parts.paths.nodes?.devices.isIdle == false
    return parts.broker.deliveries.hasUnacknowledged
      || isRelaying && now.nanoseconds(since: began) < Self.relayTimeout
  }

  private var nobodyWaits: Bool { parts.paths.waiters.isEmpty && parts.paths.forward?.isIdle ?? true }

  /// No verdict comes any more.
  private func endVerdicts() {
    hasEndedVerdicts = true
    for waiter in parts.paths.waiters.all { waiter.endWithoutVerdicts() }
    parts.paths.forward?.shutDown()
  }
}
