import CNghttp2
import Platform

/// Counts the bytes that nghttp2 has for one session. It keeps the address of the count, so this must outlive the session.
@safe final class HTTP2Memory {
  private let count: UnsafeMutablePointer<Int>
  /// Bytes allocated now.
  var bytes: Int { unsafe count.pointee }

  init() {
    unsafe count = .allocate(capacity: 1)
    unsafe count.initialize(to: 0)
  }

  deinit { unsafe count.deallocate() }

  /// Lends the table of functions, which nghttp2 copies.
  func withFunctions(_ body: (UnsafeMutablePointer<nghttp2_mem>) -> Void) {
    var functions = unsafe nghttp2_mem()
    unsafe functions.mem_user_data = unsafe UnsafeMutableRawPointer(count)
    unsafe functions.malloc = { size, user in unsafe HTTP2Memory.count(HeapMemory.take(size), user) }
    unsafe functions.calloc = { items, size, user in
      unsafe HTTP2Memory.count(HeapMemory.takeZeros(items, size), user)
    }
    unsafe functions.realloc = { piece, size, user in
      let before = unsafe HeapMemory.size(piece)
      guard let moved = unsafe HeapMemory.retake(piece, size) else { return nil }
      unsafe HTTP2Memory.add(-before, user)
      return unsafe HTTP2Memory.count(moved, user)
    }
    unsafe functions.free = { piece, user in
      unsafe HTTP2Memory.add(-HeapMemory.size(piece), user)
      unsafe HeapMemory.give(piece)
    }
    unsafe body(&functions)
  }

  @inline(__always)
  private static func count(
    _ piece: UnsafeMutableRawPointer?, _ user: UnsafeMutableRawPointer?
  ) -> UnsafeMutableRawPointer? {
    unsafe add(HeapMemory.size(piece), user)
    return unsafe piece
  }

  @inline(__always)
  private static func add(_ size: Int, _ user: UnsafeMutableRawPointer?) {
    unsafe user?.assumingMemoryBound(to: Int.self).pointee += size
  }
}
