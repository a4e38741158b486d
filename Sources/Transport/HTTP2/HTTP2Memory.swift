import CNghttp2
import Platform

/// Counts the bytes that nghttp2 allocates for one session, and takes them from what sessions have given back.
///
/// Each piece is preceded by its length. nghttp2 copies the table of functions and keeps the pointer to the books, so this
/// object must outlive the session.
final class HTTP2Memory {
  /// Room for the length, and as much as keeps the rest aligned.
  private static let prefix = 16
  /// More than this is not to be had, in bytes.
  private static let largest = 1 << 30

  private struct Books {
    /// Bytes allocated now.
    var bytes = 0
    let spare: Unmanaged<HTTP2SpareMemory>
  }

  private let books = UnsafeMutablePointer<Books>.allocate(capacity: 1)
  private let spare: HTTP2SpareMemory

  init(spare: HTTP2SpareMemory = HTTP2SpareMemory()) {
    self.spare = spare
    books.initialize(to: Books(spare: .passUnretained(spare)))
  }

  deinit { books.deallocate() }

  /// Bytes allocated now.
  var bytes: Int { books.pointee.bytes }

  /// Lends the table of functions.
  func withFunctions(_ body: (UnsafeMutablePointer<nghttp2_mem>) -> Void) {
    var functions = nghttp2_mem()
    functions.mem_user_data = UnsafeMutableRawPointer(books)
    functions.malloc = { size, books in HTTP2Memory.allocate(size, books) }
    functions.calloc = { items, size, books in
      let (total, overflows) = items.multipliedReportingOverflow(by: size)
      guard !overflows, let piece = HTTP2Memory.allocate(total, books) else { return nil }
      piece.initializeMemory(as: UInt8.self, repeating: 0, count: total)
      return piece
    }
    functions.realloc = { piece, size, books in HTTP2Memory.reallocate(piece, size, books) }
    functions.free = { piece, books in HTTP2Memory.release(piece, books) }
    body(&functions)
  }

  @inline(__always)
  private static func allocate(_ size: Int, _ user: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard size <= largest, let books = user?.assumingMemoryBound(to: Books.self),
      let whole = books.pointee.spare._withUnsafeGuaranteedRef({ $0.take(size &+ prefix) })
    else { return nil }
    whole.storeBytes(of: size, as: Int.self)
    books.pointee.bytes += size
    return whole + prefix
  }

  private static func reallocate(
    _ piece: UnsafeMutableRawPointer?, _ size: Int, _ user: UnsafeMutableRawPointer?
  ) -> UnsafeMutableRawPointer? {
    guard let piece else { return allocate(size, user) }
    guard let larger = allocate(size, user) else { return nil }
    larger.copyMemory(from: piece, byteCount: min(size, (piece - prefix).load(as: Int.self)))
    release(piece, user)
    return larger
  }

  @inline(__always)
  private static func release(_ piece: UnsafeMutableRawPointer?, _ user: UnsafeMutableRawPointer?) {
    guard let piece, let books = user?.assumingMemoryBound(to: Books.self) else { return }
    let size = (piece - prefix).load(as: Int.self)
    books.pointee.bytes -= size
    books.pointee.spare._withUnsafeGuaranteedRef { $0.give(piece - prefix, size &+ prefix) }
  }
}

/// Memory that nghttp2 has given back, for what it asks for next: the same few sizes, stream after stream. For the sessions of
/// one thread.
///
/// A push takes six pieces. As those of many streams are there at once, the C library's quick lists are too short for
/// them, and each piece cost 240 instructions; from here it takes 40.
public final class HTTP2SpareMemory {
  /// Pieces are multiples of this, in bytes.
  private static let step = 64
  /// Larger ones are not kept, in bytes.
  private static let largest = 1024
  /// Most that is kept, in bytes: what a few hundred streams take.
  public static let limit = 256 << 10

  /// For each size the piece that was given back last; a piece begins with the address of the one before it.
  private let newest = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: largest / step + 1)
  /// Bytes kept now.
  public private(set) var bytes = 0

  public init() { newest.initialize(repeating: nil, count: Self.largest / Self.step + 1) }

  deinit {
    for index in 0...Self.largest / Self.step {
      while let piece = newest[index] {
        newest[index] = piece.load(as: UnsafeMutableRawPointer?.self)
        HeapMemory.give(piece)
      }
    }
    newest.deallocate()
  }

  /// A piece of at least `size` bytes; nil only when memory is exhausted.
  @inline(__always)
  public func take(_ size: Int) -> UnsafeMutableRawPointer? {
    let steps = Self.steps(size)
    guard size <= Self.largest, let piece = newest[steps] else { return HeapMemory.take(steps &* Self.step) }
    newest[steps] = piece.load(as: UnsafeMutableRawPointer?.self)
    bytes &-= steps &* Self.step
    return piece
  }

  /// Takes back a piece that was asked for with this size.
  @inline(__always)
  public func give(_ piece: UnsafeMutableRawPointer, _ size: Int) {
    let steps = Self.steps(size)
    guard size <= Self.largest, bytes < Self.limit else { return HeapMemory.give(piece) }
    piece.storeBytes(of: newest[steps], as: UnsafeMutableRawPointer?.self)
    newest[steps] = piece
    bytes &+= steps &* Self.step
  }

  @inline(__always)
  private static func steps(_ size: Int) -> Int { (size &+ step &- 1) / step }
}
