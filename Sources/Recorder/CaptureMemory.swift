import Basics
import Capture
import PushModel

/// Records one after the other: their heads, and their bytes in one piece. Grows by doubling, and is used again.
///
/// Frames that are accepted make one record as long as nothing comes between them. Its head is added when it ends,
/// which `endRun` sees to.
struct CaptureMemory: ~Copyable {
  /// So many records and bytes from the beginning.
  struct Place: Equatable {
    fileprivate(set) var heads = 0
    fileprivate(set) var bytes = 0

    /// What they take, in bytes.
    var size: Int { heads &* MemoryLayout<CaptureHead>.stride &+ bytes }

    static func - (place: Place, start: Place) -> Place {
      Place(heads: place.heads - start.heads, bytes: place.bytes - start.bytes)
    }
  }

  private static let firstCapacity = 1 << 18
  /// After so many fillings that used less than an eighth of it, memory is given back: while traffic is heavy, getting it
  /// again each time would cost more than all the copying.
  private static let fillingsBeforeShrinking = 256

  private var heads: [CaptureHead] = []
  private var buffer = ByteBuffer(capacity: firstCapacity)
  private var slightFillings = 0
  /// The head of the frames that are being added; of no frames while none are.
  private var run = CaptureHead(kind: .frames, nanoseconds: 0)

  /// Where the last record ends; not within a run.
  var end: Place { Place(heads: heads.count, bytes: buffer.count) }
  /// What all of it takes, in bytes.
  var size: Int { end.size }

  mutating func removeAll() {
    slightFillings = buffer.count < buffer.capacity / 8 ? slightFillings + 1 : 0
    removeAll(from: Place())
    guard slightFillings > Self.fillingsBeforeShrinking, buffer.capacity > Self.firstCapacity else { return }
    slightFillings = 0
    heads = []
    buffer.resize(to: Self.firstCapacity)
  }

  /// Takes out what was added since this was the end; not within a run.
  mutating func removeAll(from end: Place) {
    run.frames = 0
    run.firstCount = 0
    heads.removeLast(heads.count - end.heads)
    buffer.removeAll(from: end.bytes)
  }

  /// Adds a frame that was accepted.
  @inline(__always)
  mutating func append(_ frame: Span<UInt8>, connection: UInt32, nanoseconds: Int64) {
    if run.frames > 0,
      run.connection != connection || run.nanoseconds != nanoseconds
        || Int(run.firstCount) + frame.count > CaptureFormat.sharedLimit
    {
      endRun()
    }
    if run.frames == 0 { (run.connection, run.nanoseconds) = (connection, nanoseconds) }
    buffer.append(frame)
    run.frames &+= 1
    run.firstCount &+= UInt32(truncatingIfNeeded: frame.count)
  }

  /// Adds the records of another from there on.
  mutating func append(_ other: borrowing CaptureMemory, from start: Place) {
    heads += other.heads[start.heads...]
    buffer.append(other.buffer.span.dropping(start.bytes))
  }

  /// Makes a record of the frames that were added.
  mutating func endRun() {
    guard run.frames > 0 else { return }
    heads.append(run)
    (run.frames, run.firstCount) = (0, 0)
  }

  /// Adds a record.
  @inline(__always)
  mutating func append(_ head: CaptureHead, _ first: Span<UInt8>, _ second: Span<UInt8>) {
    endRun()
    var head = head
    head.firstCount = UInt32(truncatingIfNeeded: first.count)
    head.secondCount = UInt32(truncatingIfNeeded: second.count)
    heads.append(head)
    buffer.append(first)
    buffer.append(second)
  }

  /// Lends each record.
  func forEach(_ body: (CaptureHead, _ first: Span<UInt8>, _ second: Span<UInt8>) -> Void) {
    var rest = buffer.span
    for head in heads {
      let second = rest.dropping(Int(head.firstCount))
      body(head, rest.prefix(Int(head.firstCount)), second.prefix(Int(head.secondCount)))
      rest = second.dropping(Int(head.secondCount))
    }
  }
}

/// What the writer must know of one record besides its bytes.
struct CaptureHead: BitwiseCopyable {
  enum Kind: UInt8, BitwiseCopyable {
    /// First: the frame.
    case frame
    /// First: frames that were accepted, one behind the other.
    case frames
    /// First: the header fields as a `FieldBlock`; second: the body.
    case request
    /// First: the topic of its certificate, empty for none.
    case opened
    case closed
    /// First: what stands for the authorization numbered `credential`.
    case credential

    /// Whether it is one push.
    var isPush: Bool { self == .frame || self == .request }
  }

  var kind: Kind
  var interface = Interface.gateway
  var environment = Environment.sandbox
  var rejection: Rejection?
  /// Command of a frame; after command 0 no packet is sent.
  var command: UInt8 = 0
  var connection: UInt32 = 0
  /// As the error packet says it.
  var identifier: UInt32 = 0
  var credential: UInt32 = 0
  var frames: UInt32 = 0
  fileprivate(set) var firstCount: UInt32 = 0
  fileprivate(set) var secondCount: UInt32 = 0
  /// Since the capture began.
  var nanoseconds: Int64
  var apnsID: APNSID?

  init(kind: Kind, nanoseconds: Int64) { (self.kind, self.nanoseconds) = (kind, nanoseconds) }
}
