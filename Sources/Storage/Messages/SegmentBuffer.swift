import Broker
import PushModel

/// Memory in which a segment is put together; kept from turn to turn.
final class SegmentBuffer {
  private var base: UnsafeMutableRawPointer
  private var capacity = MessageLog.segmentByteCount
  /// Bytes written so far.
  private(set) var count = 0

  init() { base = .allocate(byteCount: capacity, alignment: 16) }

  deinit { base.deallocate() }

  /// Lent until the next change.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  func append(_ message: KeptMessage) {
    let added = MessageEntry.count(message)
    reserve(added)
    MessageEntry.write(message, to: base + count)
    count += added
  }

  func appendRemoval(of registration: RegistrationID) {
    reserve(MessageEntry.headerCount)
    MessageEntry.writeRemoval(of: registration, to: base + count)
    count += MessageEntry.headerCount
  }

  func removeAll() { count = 0 }

  /// Only one message larger than a whole segment makes it grow.
  private func reserve(_ added: Int) {
    guard count + added > capacity else { return }
    let larger = UnsafeMutableRawPointer.allocate(byteCount: count + added, alignment: 16)
    larger.copyMemory(from: base, byteCount: count)
    base.deallocate()
    (base, capacity) = (larger, count + added)
  }
}
