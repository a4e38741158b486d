import Basics

/// Lines that have been read, with their bytes in one piece of memory. Used again and again, so that a capture of any
/// length takes the same memory.
package final class CaptureBatch {
  package internal(set) var entries: [CaptureEntry] = []
  /// What entries name by number: outcomes that are not silence, connections, when recording began.
  package internal(set) var outcomes: [CapturedOutcome] = []
  package internal(set) var connections: [CapturedConnection] = []
  package internal(set) var starts: [String] = []
  let text = CaptureText()

  package init() {}

  /// Forgets everything.
  package func removeAll() {
    entries.removeAll(keepingCapacity: true)
    outcomes.removeAll(keepingCapacity: true)
    connections.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    text.removeAll()
  }

  /// The frame, or the request's body. Lent until `removeAll`.
  package func content(_ entry: CaptureEntry) -> UnsafeRawBufferPointer { bytes(entry.content) }
  /// The request's method; empty for a frame.
  package func method(_ entry: CaptureEntry) -> UnsafeRawBufferPointer { bytes(entry.method) }
  /// The request's path.
  package func path(_ entry: CaptureEntry) -> UnsafeRawBufferPointer { bytes(entry.path) }
  /// The request's header fields, but for method and path, as a `FieldBlock`.
  package func fields(_ entry: CaptureEntry) -> UnsafeRawBufferPointer { bytes(entry.fields) }

  /// What became of a push when it was recorded.
  package func outcome(_ entry: CaptureEntry) -> CapturedOutcome {
    entry.detail < 0 ? .silence : outcomes[Int(entry.detail)]
  }

  /// Adds frames that share a line, each as an entry of its own.
  func addParted(_ entry: CaptureEntry) {
    var one = entry
    one.frames = 1
    let (start, count) = (Int(entry.content.start), Int(entry.content.count))
    FrameExtent.forEach(in: text.bytes, start..<start + count) { frame, start in
      one.content = CaptureEntry.Piece(
        start: UInt32(truncatingIfNeeded: start), count: UInt32(truncatingIfNeeded: frame.count))
      entries.append(one)
      one.place += 1
    }
  }

  private func bytes(_ range: CaptureEntry.Piece) -> UnsafeRawBufferPointer {
    let start = Int(range.start)
    return UnsafeRawBufferPointer(rebasing: text.bytes[start..<start + Int(range.count)])
  }
}

/// One line of a capture. Its bytes lie in its batch.
package struct CaptureEntry: BitwiseCopyable {
  /// What the line is about.
  package enum Kind: UInt8, BitwiseCopyable {
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

  package var kind: Kind
  /// Number of the line in its file, from 1.
  package var line: Int
  /// Nanoseconds since recording began.
  package var nanoseconds: Int64 = 0
  package var connection: UInt32 = 0
  /// Says which, as its kind has it; of a push, which outcome, -1 for silence.
  package var detail: Int32 = -1
  /// How many frames `content` holds, one behind the other; more than one only where the reader leaves them together.
  package var frames: Int32 = 1
  /// Which frame of its line it is, from 0.
  package var place: Int32 = 0
  var content = Piece()
  var method = Piece()
  var path = Piece()
  var fields = Piece()
}
