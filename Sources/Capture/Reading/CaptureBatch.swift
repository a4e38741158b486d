import PushModel

/// Lines that have been read, with their bytes in one piece of memory. Used again and again, so that a capture of any
/// length takes the same memory.
public final class CaptureBatch {
  public internal(set) var entries: [CaptureEntry] = []
  /// What entries name by number: outcomes that are not silence, connections, when recording began.
  public internal(set) var outcomes: [CapturedOutcome] = []
  public internal(set) var connections: [CapturedConnection] = []
  public internal(set) var starts: [String] = []
  let text = CaptureText()

  public init() {}

  /// Forgets everything.
  public func removeAll() {
    entries.removeAll(keepingCapacity: true)
    outcomes.removeAll(keepingCapacity: true)
    connections.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    text.removeAll()
  }

  /// The frame, or the request's body. Lent until `removeAll`.
  public func content(_ entry: CaptureEntry) -> UnsafeRawBufferPointer { bytes(entry.content) }
  /// The request's method; empty for a frame.
  public func method(_ entry: CaptureEntry) -> UnsafeRawBufferPointer { bytes(entry.method) }
  /// The request's path.
  public func path(_ entry: CaptureEntry) -> UnsafeRawBufferPointer { bytes(entry.path) }
  /// The request's header fields, but for method and path, as a `FieldBlock`.
  public func fields(_ entry: CaptureEntry) -> UnsafeRawBufferPointer { bytes(entry.fields) }

  /// What became of a push when it was recorded.
  public func outcome(_ entry: CaptureEntry) -> CapturedOutcome {
    entry.detail < 0 ? .silence : outcomes[Int(entry.detail)]
  }

  /// Adds a frame to the last entry, if nothing tells them apart but their lines; otherwise answers false.
  @inline(__always)
  func join(_ entry: CaptureEntry) -> Bool {
    guard entry.isDelimited, let last = entries.indices.last, entries[last].isDelimited,
      entries[last].connection == entry.connection, entries[last].nanoseconds == entry.nanoseconds,
      entries[last].line + Int(entries[last].frames) == entry.line,
      entries[last].content.start + entries[last].content.count == entry.content.start
    else { return false }
    entries[last].content.count += entry.content.count
    entries[last].frames += 1
    return true
  }

  private func bytes(_ range: CaptureEntry.Piece) -> UnsafeRawBufferPointer {
    let start = Int(range.start)
    return UnsafeRawBufferPointer(rebasing: text.bytes[start..<start + Int(range.count)])
  }
}

/// One line of a capture. Its bytes lie in its batch.
public struct CaptureEntry: BitwiseCopyable {
  /// What the line is about.
  public enum Kind: UInt8, BitwiseCopyable {
    /// `detail` counts the batch's `starts`.
    case header
    /// `detail` counts the batch's `connections`.
    case opened
    case closed
    case frame
    case request
    /// `detail` is how many were lost.
    case lost
  }

  struct Piece: BitwiseCopyable {
    var start: UInt32 = 0
    var count: UInt32 = 0
  }

  public var kind: Kind
  /// Number of the line in its file, from 1.
  public var line: Int
  /// Nanoseconds since recording began.
  public var nanoseconds: Int64 = 0
  public var connection: UInt32 = 0
  /// Says which, as its kind has it; of a push, which outcome, -1 for silence.
  public var detail: Int32 = -1
  /// How many frames `content` holds, one behind the other, of as many lines; more than one only where the reader was
  /// asked to join them.
  public var frames: Int32 = 1
  /// Whether its frame says itself where it ends.
  var isDelimited = false
  var content = Piece()
  var method = Piece()
  var path = Piece()
  var fields = Piece()
}
