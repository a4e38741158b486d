import Platform

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
  static let limit = 256 << 10

  /// For each size the piece that was given back last; a piece begins with the address of the one before it.
  private let newest = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: largest / step + 1)
  /// Bytes kept now.
  private(set) var bytes = 0

  public init() { newest.initialize(repeating: nil, count: Self.largest / Self.step + 1) }

  deinit {
    for index in 0...Self.largest / Self.step {
      while let piece = newest[index] {
        newest[index] = piece.load(as: UnsafeMutableRawPointer?.self)
        free(piece)
      }
    }
    newest.deallocate()
  }

  /// A piece of at least `size` bytes; nil only when memory is exhausted.
  @inline(__always)
  func take(_ size: Int) -> UnsafeMutableRawPointer? {
    let steps = Self.steps(size)
    guard size <= Self.largest, let piece = newest[steps] else { return malloc(steps &* Self.step) }
    newest[steps] = piece.load(as: UnsafeMutableRawPointer?.self)
    bytes &-= steps &* Self.step
    return piece
  }

  /// Takes back a piece that was asked for with this size.
  @inline(__always)
  func give(_ piece: UnsafeMutableRawPointer, _ size: Int) {
    let steps = Self.steps(size)
    guard size <= Self.largest, bytes < Self.limit else { return free(piece) }
    piece.storeBytes(of: newest[steps], as: UnsafeMutableRawPointer?.self)
    newest[steps] = piece
    bytes &+= steps &* Self.step
  }

  @inline(__always)
  private static func steps(_ size: Int) -> Int { (size &+ step &- 1) / step }
}
