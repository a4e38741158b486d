import Basics
import CLibrary

/// A lock with a condition to wait for: that something has changed.
///
/// Unchecked because the compiler can't see that pthread objects are made for several threads; the memory they lie in
/// neither moves nor goes before this object does.
@safe public final class ThreadCondition: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  public init() {
    unsafe pthread_mutex_init(mutex, nil)
    #if canImport(Darwin)
      unsafe pthread_cond_init(condition, nil)
    #else
      var attributes = pthread_condattr_t()
      unsafe pthread_condattr_init(&attributes)
      unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      unsafe pthread_cond_init(condition, &attributes)
      unsafe pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  public func lock() { unsafe pthread_mutex_lock(mutex) }
  public func unlock() { unsafe pthread_mutex_unlock(mutex) }

  /// Lets others have the lock until `signal`. May return early; ask again.
  public func wait() { unsafe pthread_cond_wait(condition, mutex) }

  /// The same for a limited time, in nanoseconds of a clock that never jumps.
  public func wait(atMost nanoseconds: Int64) {
    #if canImport(Darwin)
      var time = Self.time(nanoseconds)
      unsafe pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
      var time = Self.time(SystemClock.now().adding(nanoseconds: nanoseconds).nanoseconds)
      unsafe pthread_cond_timedwait(condition, mutex, &time)
    #endif
  }

  private static func time(_ nanoseconds: Int64) -> timespec {
    timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }

  /// Something has changed: all who wait look again.
  public func signal() { unsafe pthread_cond_broadcast(condition) }
}
