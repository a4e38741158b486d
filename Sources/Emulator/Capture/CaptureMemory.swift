import Capture

/// Records one after the other: a head, then its bytes. Grows by doubling, and is used again.
///
/// Frames that are accepted make one record as long as nothing comes between them. Its head is written when it ends,
/// which `endRun` sees to.
final class CaptureMemory {
  private static let firstCapacity = 1 << 18
  /// After so many fillings that used less than an eighth of it, memory is given back: while traffic is heavy, getting it
  /// anew each time would cost more than all the copying.
  private static let patience = 256

  private var base: UnsafeMutableRawPointer
  private var capacity = firstCapacity
  private var slightFillings = 0
  private(set) var count = 0
  /// The head of the frames that are being added, and where it will lie; nothing is being added while it has none.
  private var run = CaptureHead(kind: .frames, nanoseconds: 0)
  private var runStart = 0

  init() { base = .allocate(byteCount: capacity, alignment: 16) }
  deinit { base.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  func removeAll() {
    slightFillings = count < capacity / 8 ? slightFillings + 1 : 0
    count = 0
    guard slightFillings > Self.patience, capacity > Self.firstCapacity else { return }
    base.deallocate()
    (capacity, slightFillings) = (Self.firstCapacity, 0)
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  /// Takes out what was added since the count was this; not within a run.
  func removeAll(from end: Int) {
    run.frames = 0
    run.firstCount = 0
    count = min(count, end)
  }

  /// Adds a frame that was accepted.
  @inline(__always)
  func append(_ frame: UnsafeRawBufferPointer, connection: UInt32, nanoseconds: Int64) {
    if run.frames > 0,
      run.connection != connection || run.nanoseconds != nanoseconds
        || Int(run.firstCount) + frame.count > CaptureFormat.sharedLimit
    {
      endRun()
    }
    reserve(CaptureHead.size + frame.count + 15)
    if run.frames == 0 {
      (run.connection, run.nanoseconds, runStart) = (connection, nanoseconds, count)
      count += CaptureHead.size
    }
    put(frame)
    run.frames &+= 1
    run.firstCount &+= UInt32(truncatingIfNeeded: frame.count)
  }

  /// Makes a record of the frames that were added.
  func endRun() {
    guard run.frames > 0 else { return }
    (base + runStart).storeBytes(of: run, as: CaptureHead.self)
    (run.frames, run.firstCount) = (0, 0)
    // Heads lie where their words can be loaded.
    count = (count + 15) & ~15
  }

  /// Adds a record; both parts together are as long as its head says.
  @inline(__always)
  func append(_ head: CaptureHead, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) {
    endRun()
    reserve(CaptureHead.size + first.count + second.count + 15)
    (base + count).storeBytes(of: head, as: CaptureHead.self)
    count += CaptureHead.size
    put(first)
    put(second)
    count = (count + 15) & ~15
  }

  @inline(__always)
  private func put(_ part: UnsafeRawBufferPointer) {
    guard let source = part.baseAddress else { return }
    (base + count).copyMemory(from: source, byteCount: part.count)
    count += part.count
  }

  @inline(__always)
  private func reserve(_ needed: Int) {
    if capacity - count < needed { grow(needed) }
  }

  private func grow(_ needed: Int) {
    while capacity - count < needed { capacity *= 2 }
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    fresh.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = fresh
  }
}
