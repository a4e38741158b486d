import Emulator
import Platform
import Transport

/// A loop of a command's own, with a time limit.
final class ClientLoop {
  let loop: EventLoop
  private var timer: LoopEvent?
  private var signals: [LoopEvent] = []
  /// Whether the time was over before the command was done.
  private(set) var hasTimedOut = false

  /// Of its own, or another's.
  init(on loop: EventLoop? = EventLoop()) throws {
    guard let loop else { throw CommandFailure("can't make an event loop") }
    self.loop = loop
    SignalMask.ignoreSignalsOfWriting()
  }

  /// Runs until `stop()`, or until `nanoseconds` have passed; nil waits for ever.
  func run(limit nanoseconds: Int64?) {
    if let nanoseconds {
      let timer = LoopEvent(timerOn: loop) { [unowned self] in
        hasTimedOut = true
        loop.stop()
      }
      self.timer = timer
      timer.start(afterNanoseconds: nanoseconds)
    }
    loop.run()
    timer?.cancel()
  }

  func stop() { loop.stop() }

  /// Turns the loop a little longer so that what was queued leaves.
  func flush() { loop.runTurn(wait: false) }

  /// Ends at each of these.
  func stop(at wanted: Signal...) {
    signals = wanted.map { LoopEvent(loop, signal: $0) { [unowned self] in stop() } }
    for event in signals { event.start() }
  }
}
