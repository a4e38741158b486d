import Basics
import CLibrary

/// Reads the operating system's clocks.
public enum SystemClock {
  /// Wall clock, nanoseconds since 1970-01-01T00:00:00Z.
  public static func wallNanoseconds() -> Int64 { read(CLOCK_REALTIME) }

  /// By a clock that never jumps: for timeouts, pauses, deadlines and durations.
  public static func now() -> Instant { Instant(nanoseconds: read(CLOCK_MONOTONIC)) }

  /// What the calling thread has had of the processor, in nanoseconds. A system call.
  public static func processorNanoseconds() -> Int64 { read(CLOCK_THREAD_CPUTIME_ID) }

  private static func read(_ id: clockid_t) -> Int64 {
    var value = timespec()
    unsafe clock_gettime(id, &value)
    return Int64(value.tv_sec) &* 1_000_000_000 &+ Int64(value.tv_nsec)
  }
}
