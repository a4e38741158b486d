import Platform
import Transport

/// The orderly end: providers are told how far they got, devices may still acknowledge what is under way, what is left
/// is kept, then the loop stops. Asked again, it leaves at once.
final class Shutdown {
  /// How long devices may take to acknowledge, and connections to close, in nanoseconds.
  private static let patience: Int64 = 2_000_000_000
  private static let step: Int64 = 20_000_000

  private unowned let emulator: Emulator
  private var timer: LoopEvent?
  private var deadline: Int64 = 0
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
    for (_, listener) in emulator.listeners { listener.stopAccepting() }
    emulator.gateway.shutDown()
    emulator.forward?.shutDown()
    emulator.provider.shutDown()
    emulator.consoleRoutes?.shutDown()
    emulator.console?.shutDown()
    deadline = SystemClock.monotonicNanoseconds() + Self.patience
    look()
  }

  /// Closes device connections once nothing is unacknowledged, and stops once everything is closed.
  private func look() {
    let isOver = SystemClock.monotonicNanoseconds() >= deadline
    if !hasClosedCouriers, isOver || !emulator.broker.hasUnacknowledged {
      hasClosedCouriers = true
      deadline = SystemClock.monotonicNanoseconds() + Self.patience
      emulator.courier.shutDown()
    } else if hasClosedCouriers,
      isOver
        || emulator.forward?.isIdle ?? true
          && emulator.listeners.allSatisfy({ $0.listener.openConnections.isEmpty })
    {
      return end()
    }
    timer?.start(afterNanoseconds: Self.step)
  }

  private func end() {
    for (_, listener) in emulator.listeners {
      for connection in listener.openConnections { connection.abort("the emulator is shutting down") }
    }
    emulator.loop.stop()
  }
}
