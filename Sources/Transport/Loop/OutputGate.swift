/// How much of a connection's output may leave while a commit is under way. Counts bytes from the front of the output.
///
///     | free to leave | covered by the commit that is under way | of turns that none covers yet |
package struct OutputGate {
  /// All may leave: nothing here waits for a commit.
  package static let open = OutputGate()

  private var free = Int.max
  private var covered = 0

  /// Whether some of the output, or the end behind it, has to wait.
  package var isClosed: Bool { free != .max }
  /// How many bytes may leave.
  package var allowed: Int { free }

  /// What comes behind the first `count` bytes waits.
  package mutating func close(behind count: Int) {
    if !isClosed { free = count }
  }

  /// A commit covers the first `count` bytes. Of those that were queued before it was known that there is anything to wait for,
  /// nobody can say which are of an earlier turn: all wait.
  package mutating func cover(_ count: Int) {
    if !isClosed { free = 0 }
    covered = count
  }

  /// What was covered may leave; it opens for good if that was all.
  package mutating func release(hasMore: Bool) {
    if hasMore { free = covered } else { self = .open }
  }

  /// Bytes have left.
  package mutating func left(_ count: Int) {
    guard isClosed else { return }
    free -= count
    covered = max(0, covered - count)
  }
}
