import CNghttp2
import Platform

/// Counts the bytes that nghttp2 allocates for one session.
///
/// Each piece is preceded by its length. nghttp2 copies the table of functions and keeps the pointer to the count, so this
/// object must outlive the session.
final class HTTP2Memory {
  /// Room for the length, and as much as keeps the rest aligned.
  private static let prefix = 16

  private let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)

  init() { count.initialize(to: 0) }
  deinit { count.deallocate() }

  /// Bytes allocated now.
  var bytes: Int { count.pointee }

  /// Lends the table of functions.
  func withFunctions(_ body: (UnsafeMutablePointer<nghttp2_mem>) -> Void) {
    var functions = nghttp2_mem()
    functions.mem_user_data = UnsafeMutableRawPointer(count)
    functions.malloc = { size, count in HTTP2Memory.allocate(size, count) }
    functions.calloc = { items, size, count in
      let (total, overflows) = items.multipliedReportingOverflow(by: size)
      guard !overflows, let piece = HTTP2Memory.allocate(total, count) else { return nil }
      memset(piece, 0, total)
      return piece
    }
    functions.realloc = { piece, size, count in HTTP2Memory.reallocate(piece, size, count) }
    functions.free = { piece, count in HTTP2Memory.release(piece, count) }
    body(&functions)
  }

  private static func allocate(_ size: Int, _ count: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let whole = malloc(size &+ prefix) else { return nil }
    whole.storeBytes(of: size, as: Int.self)
    change(count, by: size)
    return whole + prefix
  }

  private static func reallocate(
    _ piece: UnsafeMutableRawPointer?, _ size: Int, _ count: UnsafeMutableRawPointer?
  ) -> UnsafeMutableRawPointer? {
    guard let piece else { return allocate(size, count) }
    let before = (piece - prefix).load(as: Int.self)
    guard let whole = realloc(piece - prefix, size &+ prefix) else { return nil }
    whole.storeBytes(of: size, as: Int.self)
    change(count, by: size - before)
    return whole + prefix
  }

  private static func release(_ piece: UnsafeMutableRawPointer?, _ count: UnsafeMutableRawPointer?) {
    guard let piece else { return }
    change(count, by: -(piece - prefix).load(as: Int.self))
    free(piece - prefix)
  }

  @inline(__always)
  private static func change(_ count: UnsafeMutableRawPointer?, by size: Int) {
    count?.assumingMemoryBound(to: Int.self).pointee += size
  }
}
