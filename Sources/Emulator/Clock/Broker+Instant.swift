import Broker
import Platform
import PushModel

extension Broker {
  /// Bytes have come: what is done with them is timed from now. Once for each read and not for each push, where there are
  /// many in one.
  @inline(__always)
  func noteRead(at instant: Instant = SystemClock.now()) { meter.instant = instant.nanoseconds }
}
