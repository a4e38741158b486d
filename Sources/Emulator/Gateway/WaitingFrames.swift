import Basics
import LegacyWire

/// What has been read on a gateway connection and not begun, in order: whole frames, and the piece of one that has not come whole.
struct WaitingFrames {
  enum Entry {
    /// With what it is kept under by the bridge; 0 for nothing.
    case frame([UInt8], kept: Int64)
    /// The last: nothing behind it can be read.
    case failure(LegacyParseFailure)

    var kept: Int64 { if case .frame(_, let kept) = self { kept } else { 0 } }

    /// Of memory: its own, and an array of bytes with its head.
    fileprivate var bytes: Int {
      if case .frame(let bytes, _) = self { MemoryLayout<Self>.stride + 32 + bytes.count } else { 0 }
    }
  }

  private var entries = FIFO<Entry>()
  private var wholeBytes = 0
  /// What the decoder holds of a frame, in bytes.
  var partialBytes = 0

  var isEmpty: Bool { entries.isEmpty }
  var first: Entry? { entries.first }
  /// What all of it takes.
  var bytes: Int { partialBytes + wholeBytes }

  mutating func append(_ entry: Entry) {
    entries.append(entry)
    wholeBytes += entry.bytes
  }

  /// Calls `body` with those that are whole, but for the first if that is being dealt with.
  func forEach(isFirstBegun: Bool, _ body: (Span<UInt8>) -> Void) {
    for entry in entries.dropFirst(isFirstBegun ? 1 : 0) {
      if case .frame(let bytes, _) = entry { body(bytes.span) }
    }
  }

  /// The first was begun, or nothing waits any more.
  mutating func removeFirst() {
    guard let first else { return }
    wholeBytes -= first.bytes
    entries.removeFirst()
    if isEmpty { entries = FIFO() }
  }

  /// Throws all of it away but the piece; answers what was kept.
  mutating func removeAll() -> [Int64] {
    defer { (entries, wholeBytes) = (FIFO(), 0) }
    return entries.map(\.kept).filter { $0 != 0 }
  }
}
