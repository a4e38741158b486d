import Basics
import PushModel

/// What came of pushes and how quickly, for those who watch from afar. Counting is adding to a number.
public final class PushMeter {
  /// How a notification went on its way.
  public enum Path: UInt8, Sendable, CaseIterable {
    /// Its device was there.
    case direct
    /// It was kept for its device.
    case kept
    /// To another service.
    case forwarded
  }

  /// What came of a push, as counted.
  public enum Outcome: Hashable, Sendable {
    case accepted
    case rejected(Rejection)
    /// A fault left the provider without an answer.
    case unanswered
  }

  /// Outcomes of one interface: 0 is accepted, a rejection its own number, the last one unanswered.
  private static let slots = 256
  private static let unanswered = slots - 1

  /// By interface and outcome.
  private var outcomes = PlainTable<TablePlace, UInt64>(repeating: 0, count: Interface.allCases.count * slots)
  private let sent = Path.allCases.map { _ in LatencyHistogram() }
  private let acknowledged = Path.allCases.map { _ in LatencyHistogram() }
  /// When the bytes came that are being worked on, by the monotonic clock in nanoseconds. Set once for each read.
  public var instant: Int64 {
    @inline(__always) get { readAt }
    @inline(__always) set { readAt = newValue }
  }
  private var readAt: Int64 = 0

  init() {}

  // MARK: Counting

  @inline(__always)
  func countAccepted(_ interface: Interface) { outcomes[Self.slot(interface, 0)] &+= 1 }

  func count(_ rejection: Rejection, isAnswered: Bool, _ interface: Interface) {
    outcomes[Self.slot(interface, isAnswered ? Int(rejection.rawValue) : Self.unanswered)] &+= 1
  }

  @inline(__always)
  private static func slot(_ interface: Interface, _ outcome: Int) -> TablePlace {
    TablePlace(Int(interface.rawValue) &* slots &+ outcome)
  }

  /// A notification has been handed on.
  @inline(__always)
  func noteSent(_ arrival: Arrival, _ path: Path) {
    sent[Int(path.rawValue)].observe(readAt &- arrival.at)
  }

  /// Its receiver has said that it has it.
  @inline(__always)
  func noteAcknowledged(_ arrival: Arrival, _ path: Path) {
    acknowledged[Int(path.rawValue)].observe(readAt &- arrival.at)
  }

  // MARK: Looking

  /// From reception until a notification was handed on.
  public func sent(_ path: Path) -> LatencyHistogram { sent[Int(path.rawValue)] }

  /// From reception until its receiver said that it has it.
  public func acknowledged(_ path: Path) -> LatencyHistogram { acknowledged[Int(path.rawValue)] }

  /// What has been counted of an interface: always what was accepted, and what else there was.
  public func outcomes(_ interface: Interface) -> [(outcome: Outcome, count: UInt64)] {
    func count(_ outcome: Int) -> UInt64 { outcomes[Self.slot(interface, outcome)] }
    let rejections = Rejection.allCases.map { (Outcome.rejected($0), count(Int($0.rawValue))) }
    let all = rejections + [(.unanswered, count(Self.unanswered))]
    return [(.accepted, count(0))] + all.filter { $0.1 > 0 }
  }
}

/// How long something took, counted in buckets of which each reaches twice as far as the one before: finding one is a
/// count of bits.
public final class LatencyHistogram {
  /// The first bucket holds what took up to two to this power nanoseconds, some 66 µs.
  private static let firstPower = 16
  /// Buckets with a bound, as a count; the last one of them reaches to 137 s.
  public static let boundCount = 22

  /// One for each bound, and one for what is beyond.
  private var counts = PlainTable<TablePlace, UInt64>(repeating: 0, count: boundCount + 1)
  private var total: UInt64 = 0

  public init() {}

  /// Of all that was observed, in nanoseconds.
  public var sum: UInt64 { total }

  /// The largest duration of a bucket, in nanoseconds.
  public static func bound(_ bucket: Int) -> Int64 { 1 << (firstPower + bucket) }

  /// How many durations fell into a bucket; that behind the last bound has no end.
  public func count(_ bucket: Int) -> UInt64 { counts[TablePlace(bucket)] }

  /// Counts a duration, in nanoseconds.
  @inline(__always)
  public func observe(_ nanoseconds: Int64) {
    let duration = UInt64(max(1, nanoseconds))
    let power = UInt64.bitWidth - (duration - 1).leadingZeroBitCount
    counts[TablePlace(min(max(0, power - Self.firstPower), Self.boundCount))] &+= 1
    total &+= duration
  }
}
