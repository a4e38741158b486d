import Basics
import Platform
import Transport

/// The orderly end: what is delayed is taken, providers get the verdicts that come in time and are told how far they got, devices
/// may still acknowledge what is under way, hooks hear of that if they are quick, what is left is kept, then the loop stops. Asked again, it leaves at once.
final class Shutdown {
  /// How long devices may take to acknowledge, and connections to close, in nanoseconds.
  private static let timeout: Int64 = 2_000_000_000
  /// How long providers are kept waiting for verdicts, in nanoseconds: less than the whole end may take. Variable so that a
  /// test need not wait for it.
  var verdictTimeout: Int64 = 1_500_000_000
  private static let step: Int64 = 20_000_000
  /// How long devices of other nodes may go on, in nanoseconds: what they acknowledge is known there alone.
  private static let relayTimeout: Int64 = 100_000_000

  private unowned let emulator: Emulator
  private var timer: LoopEvent?
  private var began = Instant.distantPast
  private var deadline = Instant.distantPast
  private var verdictDeadline = Instant.distantPast
  private var hasEndedVerdicts = false
  private var hasClosedCouriers = false
  private(set) var hasBegun = false

  init(_ emulator: Emulator) {
    self.emulator = emulator
    timer = LoopEvent(timerOn: emulator.loop) { [unowned self] in look() }
  }

  func begin() {
    guard !hasBegun else { return emulator.loop.stop() }
    hasBegun = true
    emulator.logger.log(.info, "shutting down")
    emulator.listeners.stopAccepting()
    // First, as what is delayed on a connection that stands still is given up: its provider would not hear of it.
    emulator.provider.shutDown()
    emulator.faults.holds.endDelays()
    emulator.gateway.shutDown()
    emulator.streams.shutDown()
    emulator.consoleRoutes?.shutDown()
    emulator.console?.shutDown()
    emulator.proxy?.shutDown()
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
      emulator.courier.shutDown()
      emulator.nodes?.devices.shutDown()
    } else if hasClosedCouriers,
      isOver
        || hasEndedVerdicts && !emulator.listeners.hasConnections
          && emulator.hooks?.isIdle ?? true
    {
      return end()
    }
    timer?.start(afterNanoseconds: Self.step)
  }

  /// Whether a device may still have something to acknowledge.
  private func mayAcknowledge(_ now: Instant) -> Bool {
    let isRelaying = emulator.nodes?.devices.isIdle == false
    return emulator.broker.deliveries.hasUnacknowledged
      || isRelaying && now.nanoseconds(since: began) < Self.relayTimeout
  }

  private var nobodyWaits: Bool { emulator.waiters.isEmpty && emulator.forward?.isIdle ?? true }

  /// No verdict comes any more.
  private func endVerdicts() {
    hasEndedVerdicts = true
    for waiter in emulator.waiters.all { waiter.endWithoutVerdicts() }
    emulator.forward?.shutDown()
  }

  private func end() {
    emulator.listeners.abort("the emulator is shutting down")
    emulator.loop.stop()
  }
}
