import Basics

/// How long a device waits before it connects again, by how its connections have gone so far.
struct ReconnectBackoff {
  /// The first wait at most, in nanoseconds.
  private static let firstWaitNanoseconds: Int64 = 1_000_000_000
  /// The longest wait, in nanoseconds. A person who has restarted the emulator should not wait longer than this.
  private static let longestWaitNanoseconds: Int64 = 60 * 1_000_000_000
  /// A connection that has lasted so long was a success, in nanoseconds: whatever ends it then, the next is tried at once. A service of
  /// several nodes ends connections when it moves devices; two devices with one identity, which end each other's, take turns.
  private static let stableNanoseconds: Int64 = 2 * 1_000_000_000
  /// Connections in a row that ended sooner, as a count, before the next one counts as a failure: devices may be moved more than once.
  private static let briefConnections = 3
  /// Where nobody takes connections, no more failures are counted than these: the wait is up to 4 s. An attempt costs next to nothing there,
  /// and whoever comes back is found soon.
  private static let unreachableFailures = 3

  private var backoff: Backoff
  /// Since when the service has known it on this connection.
  private var connectedSince: Instant?
  /// Attempts in a row that came to nothing.
  private var failures = 0
  /// Connections in a row that the service took, and that did not last.
  private var briefConnections = 0

  init(seed: UInt64) {
    backoff = Backoff(first: Self.firstWaitNanoseconds, longest: Self.longestWaitNanoseconds, seed: seed)
  }

  mutating func connected(at now: Instant) { connectedSince = now }

  /// The device itself has ended the connection, if there was one.
  mutating func left() { connectedSince = nil }

  /// The connection has ended, or did not come about. Answers how long to wait, in nanoseconds.
  mutating func wait(at now: Instant, isUnreachable: Bool) -> Int64 {
    if let connectedSince {
      let hasLasted = now >= connectedSince.adding(nanoseconds: Self.stableNanoseconds)
      briefConnections = hasLasted ? 0 : briefConnections + 1
      failures = max(0, briefConnections - Self.briefConnections)
    }
    connectedSince = nil
    failures += 1
    if isUnreachable { failures = min(failures, Self.unreachableFailures) }
    return backoff.wait(after: failures)
  }

  /// What went wrong before says nothing of the network that comes next.
  mutating func forget() { (failures, briefConnections) = (0, 0) }
}
