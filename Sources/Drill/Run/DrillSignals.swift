import Emulator
import Platform

/// The first signal that has come, for whoever runs drills to look at.
package final class DrillSignals {
  package private(set) var received: Signal?
  private let isDeaf: Bool

  /// A deaf one leaves the signals of the process to others.
  package init(isDeaf: Bool = false) { self.isDeaf = isDeaf }

  /// Throws once one has come.
  func check() throws(DrillInterrupted) {
    if let received { throw DrillInterrupted(signal: received) }
  }

  /// Has the signals that end a process end a run, as long as the emulator is there.
  func listen(_ emulator: Emulator) {
    guard !isDeaf else { return }
    for signal in [Signal.interrupt, .terminate, .hangUp] {
      emulator.onSignal(signal) { [self] in received = received ?? signal }
    }
  }
}

/// A signal has ended the run.
package struct DrillInterrupted: Error {
  package let signal: Signal

  package init(signal: Signal) { self.signal = signal }
}

/// Nobody waits for the verdict any more.
struct DrillAbandoned: Error {}
