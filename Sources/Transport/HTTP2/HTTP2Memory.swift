import CNghttp2
import Platform

/// Counts the bytes that nghttp2 has for one session. It keeps this object's address without retaining it, so this must outlive the
/// session.
final class HTTP2Memory {
  /// Bytes allocated now.
  private(set) var bytes = 0

  /// Lends the table of functions, which nghttp2 copies.
  func withFunctions(_ body: (UnsafeMutablePointer<nghttp2_mem>) -> Void) {
    var functions = nghttp2_mem()
    functions.mem_user_data = Unmanaged.passUnretained(self).toOpaque()
    functions.malloc = { size, user in HTTP2Memory.count(HeapMemory.take(size), user) }
    functions.calloc = { items, size, user in HTTP2Memory.count(HeapMemory.takeZeros(items, size), user) }
    functions.realloc = { piece, size, user in
      let before = HeapMemory.size(piece)
      guard let moved = HeapMemory.retake(piece, size) else { return nil }
      HTTP2Memory.add(-before, user)
      return HTTP2Memory.count(moved, user)
    }
    functions.free = { piece, user in
      HTTP2Memory.add(-HeapMemory.size(piece), user)
      HeapMemory.give(piece)
    }
    body(&functions)
  }

  @inline(__always)
  private static func count(
    _ piece: UnsafeMutableRawPointer?, _ user: UnsafeMutableRawPointer?
  ) -> UnsafeMutableRawPointer? {
    add(HeapMemory.size(piece), user)
    return piece
  }

  @inline(__always)
  private static func add(_ size: Int, _ user: UnsafeMutableRawPointer?) {
    guard let user else { return }
    Unmanaged<HTTP2Memory>.fromOpaque(user).takeUnretainedValue().bytes += size
  }
}
