/// A lock with two conditions to wait for: there is something to take, there is room to put.
///
/// Unchecked because the compiler can't see that pthread objects are made for several threads; the memory they lie in
/// neither moves nor goes before this object does.
public final class ThreadCondition: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let something = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let room = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  public init() {
    pthread_mutex_init(mutex, nil)
    initializeTimed(something)
    initializeTimed(room)
  }

  deinit {
    pthread_cond_destroy(room)
    pthread_cond_destroy(something)
    pthread_mutex_destroy(mutex)
    room.deallocate()
    something.deallocate()
    mutex.deallocate()
  }

  public func lock() { pthread_mutex_lock(mutex) }
  public func unlock() { pthread_mutex_unlock(mutex) }

  /// Lets others have the lock until `signalSomething`. May return early; ask again.
  public func waitForSomething() { pthread_cond_wait(something, mutex) }
  /// The same for a limited time, in nanoseconds of a clock that never jumps.
  public func waitForSomething(atMost nanoseconds: Int64) { wait(something, nanoseconds) }

  private func wait(_ condition: UnsafeMutablePointer<pthread_cond_t>, _ nanoseconds: Int64) {
    #if canImport(Darwin)
      var time = Self.time(nanoseconds)
      pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
      var time = Self.time(SystemClock.monotonicNanoseconds() + nanoseconds)
      pthread_cond_timedwait(condition, mutex, &time)
    #endif
  }

  private static func time(_ nanoseconds: Int64) -> timespec {
    timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }

  private func initializeTimed(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
    #if canImport(Darwin)
      pthread_cond_init(condition, nil)
    #else
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  public func signalSomething() { pthread_cond_signal(something) }

  /// Lets others have the lock until `signalRoom`. May return early; ask again.
  public func waitForRoom() { pthread_cond_wait(room, mutex) }
  /// The same for a limited time, in nanoseconds of a clock that never jumps.
  public func waitForRoom(atMost nanoseconds: Int64) { wait(room, nanoseconds) }
  public func signalRoom() { pthread_cond_signal(room) }
}
