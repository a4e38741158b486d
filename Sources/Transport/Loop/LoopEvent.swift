import Basics
import CLibevent
import Platform

/// A registration with the loop: a socket's readiness, a timer or a signal.
///
/// libevent holds an unretained pointer to this object; the object frees the registration when it goes, so the
/// pointer never outlives it. The registration lies in the loop's memory, so the object keeps the loop. The system may refuse
/// one (it has limits on what can be watched, and may be out of memory): see `onFailure`.
@safe public final class LoopEvent {
  /// What to wait for.
  public enum Interest: Sendable { case read, write }

  private let loop: EventLoop
  private let descriptor: Int32
  /// libevent's word for what is waited for; 0 for a timer.
  private let flags: Int32
  private var event: OpaquePointer?
  private let handler: () -> Void
  /// When a timer may fire; nil for at once and for what is no timer.
  private var due: Instant?
  /// Whether the registration is wanted.
  public private(set) var isActive = false
  /// The system has not taken it, and the loop knows.
  private var hasFailed = false
  /// Called before the turn ends when the system does not take the registration, or in the next turn. Without it the loop
  /// tries again in each turn.
  private let onFailure: (() -> Void)?

  /// Waits for readiness of `descriptor` until cancelled.
  public convenience init(
    _ loop: EventLoop, descriptor: Int32, _ interest: Interest, onFailure: (() -> Void)? = nil,
    handler: @escaping () -> Void
  ) {
    self.init(loop, descriptor, (interest == .read ? EV_READ : EV_WRITE) | EV_PERSIST, onFailure, handler)
  }

  /// A timer that fires once each time it is started.
  public convenience init(timerOn loop: EventLoop, handler: @escaping () -> Void) {
    self.init(loop, -1, 0, nil, handler)
  }

  /// Runs `handler` on the loop each time the process gets `signal`.
  public convenience init(_ loop: EventLoop, signal: Signal, handler: @escaping () -> Void) {
    self.init(loop, signal.number, EV_SIGNAL | EV_PERSIST, nil, handler)
  }

  private init(
    _ loop: EventLoop, _ descriptor: Int32, _ flags: Int32, _ onFailure: (() -> Void)?,
    _ handler: @escaping () -> Void
  ) {
    (self.loop, self.descriptor, self.flags, self.handler) = (loop, descriptor, flags, handler)
    self.onFailure = onFailure
    makeEvent()
  }

  /// Nil again only if there is no memory.
  private func makeEvent() {
    let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe event = unsafe event_new(
      loop.base, descriptor, Int16(flags),
      { _, _, context in
        guard let context = unsafe context else { return }
        let event = unsafe Unmanaged<LoopEvent>.fromOpaque(context).takeUnretainedValue()
        withExtendedLifetime(event) { event.fired() }
      }, unsafe owner)
  }

  deinit {
    if let event = unsafe event { unsafe event_free(event) }
  }

  /// Begins to wait; a socket or signal registration stays until `cancel()`.
  public func start() {
    guard !isActive else { return }
    isActive = true
    add(nil)
  }

  /// Starts (or restarts) a timer. It never fires early.
  public func start(afterNanoseconds delay: Int64) {
    due = delay <= 0 ? nil : SystemClock.now().adding(nanoseconds: delay)
    wait(max(0, delay))
  }

  private func wait(_ nanoseconds: Int64) {
    let time = timeval(
      tv_sec: .init(nanoseconds / 1_000_000_000), tv_usec: .init(nanoseconds % 1_000_000_000 / 1000))
    isActive = true
    add(time)
  }

  private func add(_ time: timeval?) {
    if unsafe event == nil { makeEvent() }
    guard let event = unsafe event, !loop.refuses(descriptor), unsafe Self.add(event, time) == 0 else {
      return failed()
    }
    hasFailed = false
  }

  private static func add(_ event: OpaquePointer, _ time: timeval?) -> Int32 {
    guard var time else { return unsafe event_add(event, nil) }
    return unsafe event_add(event, &time)
  }

  private func failed() {
    guard !hasFailed else { return }
    hasFailed = true
    loop.remember(failed: self)
  }

  /// The turn in which the system did not take it is over. Answers whether it is to be asked again.
  func settleFailure() -> Bool {
    guard hasFailed, isActive else { return false }
    if let onFailure {
      (hasFailed, isActive) = (false, false)
      onFailure()
      return false
    }
    let isSocket = descriptor >= 0
    if isSocket { add(nil) } else { wait(max(0, due?.nanoseconds(since: SystemClock.now()) ?? 0)) }
    return hasFailed
  }

  /// libevent counts from the time at which the turn began, by a coarse clock; so it may be a little early.
  private func fired() {
    guard isActive else { return }
    if let due {
      let left = due.nanoseconds(since: SystemClock.now())
      if left > 0 { return wait(left + 999) }
      self.due = nil
    }
    if descriptor >= 0 { loop.wakeups += 1 }
    loop.begin()
    handler()
  }

  /// Stops waiting.
  public func cancel() {
    guard isActive else { return }
    (isActive, hasFailed) = (false, false)
    // If libevent fails at that it may still call, and is not heard.
    if let event = unsafe event { _ = unsafe event_del(event) }
  }
}
