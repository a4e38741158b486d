import Basics

/// Lines that have been read, with their bytes in one piece of memory. Used again and again, so that a capture of any
/// length takes the same memory.
public struct CaptureBatch {
  public internal(set) var entries: [CaptureEntry] = []
  /// What entries name by number: outcomes that are not silence, connections, when recording began.
  public internal(set) var outcomes: [CapturedOutcome] = []
  public internal(set) var connections: [CapturedConnection] = []
  public internal(set) var starts: [String] = []
  var text = CaptureText()

  public init() {}

  /// Forgets everything.
  public mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    outcomes.removeAll(keepingCapacity: true)
    connections.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    text.removeAll()
  }

  /// The frame, or the request's body.
  @_lifetime(borrow self)
  public func content(_ entry: CaptureEntry) -> Span<UInt8> { text.bytes(entry.content) }
  /// The request's method; empty for a frame.
  @_lifetime(borrow self)
  public func method(_ entry: CaptureEntry) -> Span<UInt8> { text.bytes(entry.method) }
  /// The request's path.
  @_lifetime(borrow self)
  public func path(_ entry: CaptureEntry) -> Span<UInt8> { text.bytes(entry.path) }
  /// The request's header fields, but for method and path, as a `FieldBlock`.
  @_lifetime(borrow self)
  public func fields(_ entry: CaptureEntry) -> Span<UInt8> { text.bytes(entry.fields) }

  /// What became of a push when it was recorded.
  public func outcome(_ entry: CaptureEntry) -> CapturedOutcome {
    entry.detail < 0 ? .silence : outcomes[Int(entry.detail)]
  }

  /// Adds frames that share a line, each as an entry of its own.
  mutating func addParted(_ entry: CaptureEntry) {
    var one = entry
    one.frames = 1
    let (start, count) = (Int(entry.content.start), Int(entry.content.count))
    let lines = text
    FrameExtent.forEach(in: lines.span, start..<start + count) { frame, start in
      one.content = CaptureEntry.Piece(
        start: UInt32(truncatingIfNeeded: start), count: UInt32(truncatingIfNeeded: frame.count))
      entries.append(one)
      one.place += 1
    }
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
  /// How many frames `content` holds, one behind the other; more than one only where the reader leaves them together.
  public var frames: Int32 = 1
  /// Which frame of its line it is, from 0.
  public var place: Int32 = 0
  var content = Piece()
  var method = Piece()
  var path = Piece()
  var fields = Piece()
}
