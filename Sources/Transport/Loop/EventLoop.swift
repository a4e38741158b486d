import CLibevent
import Platform

/// One thread's loop over sockets, timers and signals (libevent). Everything the emulator owns lives on it.
///
/// A *turn* is: wait until something is ready, handle all of it, run the turn-end hooks (the store commits there),
/// then write what was queued. State changed in a turn becomes visible to peers only after the hooks
/// (`design.md`, promise 1).
public final class EventLoop {
  let base: OpaquePointer
  /// Where every connection reads to; valid until the next read.
  let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
  var unflushed: [TLSConnection] = []
  var unflushedHTTP: [HTTPConnection] = []
  /// Who reads on in the next turn.
  var unread: [TLSConnection] = []
  var readTimes = ReadBudget.Times()
  /// How long connections that used up their share of this turn have read, in nanoseconds.
  var timeRead: Int64 = 0
  /// How many connections read on in this turn.
  private(set) var busyReaders = 0
  var spareOutput: [UnsafeMutableRawBufferPointer] = []
  private var turnEnd: [() -> Void] = []
  private var isRunning = false

  /// Makes a loop; nil only if the system has no readiness interface, which no supported system lacks.
  public init?() {
    guard let base = event_base_new() else { return nil }
    self.base = base
  }

  deinit {
    for buffer in spareOutput { buffer.deallocate() }
    scratch.deallocate()
    event_base_free(base)
  }

  /// Adds a hook that runs at the end of every turn, in the order of adding.
  public func atTurnEnd(_ hook: @escaping () -> Void) { turnEnd.append(hook) }

  /// Runs turns until `stop()`.
  public func run() {
    isRunning = true
    while isRunning { runTurn() }
  }

  /// Handles one batch of ready events, waiting for the first if `wait`.
  public func runTurn(wait: Bool = true) {
    let readers = unread
    unread = []
    (busyReaders, timeRead) = (readers.count, 0)
    let mayWait = wait && readers.isEmpty && unflushed.isEmpty && unflushedHTTP.isEmpty
    event_base_loop(base, mayWait ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK)
    continueReading(readers)
    for hook in turnEnd { hook() }
    flushConnections()
  }

  /// Ends `run()` after the present turn.
  public func stop() {
    isRunning = false
    event_base_loopbreak(base)
  }
}
