/// Where in a `SentWindow` a message is, by its wire id.
///
/// It is filled up at each question, so every message enters it at most once and messages that are acknowledged in order
/// never do. It may still name what has gone since; whoever asks looks.
final class SentIndex {
  /// By numbers that count on when entries are dropped from the front of the window.
  private var numbers: [UInt32: Int] = [:]
  private var dropped = 0
  /// The number of the first entry that has not been looked at.
  private var next = 0
  /// Entries looked at so far, as a count.
  private(set) var steps = 0

  /// Entries that memory is held for, as a count.
  var memory: Int { numbers.capacity }

  /// Takes up what came since the last question. `count` of the entries from `head` on are unacknowledged.
  func fill(from entries: [SentWindow.Entry], head: Int, count: Int) {
    // Mostly of messages that have gone: cheaper to make anew.
    if numbers.count > 2 * count + 64 { startOver() }
    let start = max(next - dropped, head)
    for position in start..<max(start, entries.count) {
      steps += 1
      guard entries[position].registration >= 0 else { continue }
      numbers[UInt32(truncatingIfNeeded: entries[position].id)] = dropped + position
    }
    next = dropped + entries.count
  }

  /// Forgets an id; answers where its message was.
  func remove(_ messageId: UInt32) -> Int? { numbers.removeValue(forKey: messageId).map { $0 - dropped } }

  /// The window has dropped so many entries from its front.
  func dropFirst(_ count: Int) { dropped += count }

  /// The positions of all entries have changed.
  func startOver() { (numbers, dropped, next) = ([:], 0, 0) }
}
