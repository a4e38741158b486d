import Emulator
import Transport

/// Ends an emulator once what providers have sent is read to its end: those of a command that has ended are gone, but their last bytes may
/// lie unread. An emulator that left before would tell them that it does, and would take for lost what they never heard of.
final class CommandEnd {
  /// How long connections are waited for that somebody else than the command holds, in nanoseconds.
  private static let limit: Int64 = 2_000_000_000
  private static let ofProviders = ["gateway", "feedback", "provider"]

  private let emulator: Emulator
  private var timer: LoopEvent?
  private var isAwaited = false

  init(_ emulator: Emulator) {
    self.emulator = emulator
    timer = LoopEvent(timerOn: emulator.loop) { [unowned self] in stop() }
    emulator.loop.atTurnEnd { [unowned self] in look() }
  }

  /// The command has ended.
  func begin() {
    isAwaited = true
    timer?.start(afterNanoseconds: Self.limit)
  }

  private func look() {
    guard isAwaited else { return }
    let isQuiet = Self.ofProviders.allSatisfy { emulator.listeners[$0]?.openConnections.isEmpty ?? true }
    if isQuiet { stop() }
  }

  private func stop() {
    guard isAwaited else { return }
    isAwaited = false
    timer?.cancel()
    emulator.stop()
  }
}
