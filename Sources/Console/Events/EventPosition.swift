/// Where a client was: the id of the last event that it got.
struct EventPosition: Equatable {
  /// Names the run of the emulator that numbered the event; nil if the client gave only a number.
  var boot: String?
  var number: UInt64

  /// Reads `boot-number` or a number; nil for anything else.
  init?(_ text: String) {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let last = parts.last, let number = UInt64(last), number < UInt64(Int64.max) else { return nil }
    self.number = number
    boot = parts.count == 2 ? String(parts[0]) : nil
  }
}
