import Basics
import Capture
import PushModel

/// Records one after the other: a head, then its bytes. Grows by doubling, and is used again.
///
/// Frames that are accepted make one record as long as nothing comes between them. Its head is written when it ends,
/// which `endRun` sees to.
struct CaptureMemory: ~Copyable {
  private static let firstCapacity = 1 << 18
  /// After so many fillings that used less than an eighth of it, memory is given back: while traffic is heavy, getting it
  /// again each time would cost more than all the copying.
  private static let fillingsBeforeShrinking = 256

  private var buffer = ByteBuffer(capacity: firstCapacity)
  private var slightFillings = 0
  /// The head of the frames that are being added, and where it will lie; nothing is being added while it has none.
  private var run = CaptureHead(kind: .frames, nanoseconds: 0)
  private var runStart = 0

  var count: Int { buffer.count }
  var bytes: UnsafeRawBufferPointer { buffer.bytes }

  mutating func removeAll() {
    slightFillings = count < buffer.capacity / 8 ? slightFillings + 1 : 0
    buffer.removeAll()
    guard slightFillings > Self.fillingsBeforeShrinking, buffer.capacity > Self.firstCapacity else { return }
    slightFillings = 0
    buffer.resize(to: Self.firstCapacity)
  }

  /// Takes out what was added since the count was this; not within a run.
  mutating func removeAll(from end: Int) {
    run.frames = 0
    run.firstCount = 0
    buffer.removeAll(from: end)
  }

  /// Adds a frame that was accepted.
  @inline(__always)
  mutating func append(_ frame: UnsafeRawBufferPointer, connection: UInt32, nanoseconds: Int64) {
    if run.frames > 0,
      run.connection != connection || run.nanoseconds != nanoseconds
        || Int(run.firstCount) + frame.count > CaptureFormat.sharedLimit
    {
      endRun()
    }
    if run.frames == 0 {
      (run.connection, run.nanoseconds, runStart) = (connection, nanoseconds, count)
      put(run)
    }
    buffer.append(frame)
    run.frames &+= 1
    run.firstCount &+= UInt32(truncatingIfNeeded: frame.count)
  }

  /// Adds whole records of another.
  mutating func append(_ records: UnsafeRawBufferPointer) { buffer.append(records) }

  /// Makes a record of the frames that were added.
  mutating func endRun() {
    guard run.frames > 0 else { return }
    buffer.mutableBytes.storeBytes(of: run, toByteOffset: runStart, as: CaptureHead.self)
    (run.frames, run.firstCount) = (0, 0)
    align()
  }

  /// Adds a record; both parts together are as long as its head says.
  @inline(__always)
  mutating func append(_ head: CaptureHead, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer)
  {
    endRun()
    put(head)
    buffer.append(first)
    buffer.append(second)
    align()
  }

  @inline(__always)
  private mutating func put(_ head: CaptureHead) {
    buffer.append(atMost: CaptureHead.size) { output in
      output.append { end in
        end.storeBytes(of: head, as: CaptureHead.self)
        return CaptureHead.size
      }
    }
  }

  /// Heads lie where their words can be loaded.
  @inline(__always)
  private mutating func align() {
    let gap = -count & 15
    buffer.append(atMost: 15) { $0.append(repeating: 0, count: gap) }
  }
}

/// What the writer must know of one record besides its bytes.
struct CaptureHead: BitwiseCopyable {
  static let size = (MemoryLayout<CaptureHead>.size + 15) & ~15

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
  var firstCount: UInt32 = 0
  var secondCount: UInt32 = 0
  /// Since the capture began.
  var nanoseconds: Int64
  var apnsID: APNSID?
}
