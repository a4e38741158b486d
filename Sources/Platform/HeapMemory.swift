import CArguments
import CLibrary

/// Memory that the process has from the system for what it allocates.
public enum HeapMemory {
  /// Gives pages back on which nothing lies any more. The GNU C library does so on its own only at the end of its heap, where one
  /// small piece that is in use holds all that is free before it. Other libraries give pages back sooner, and there this does
  /// nothing.
  public static func trim() { trim_heap() }

  /// So many bytes, for `give`; nil if there is no memory.
  @inline(__always)
  public static func take(_ size: Int) -> UnsafeMutableRawPointer? { unsafe malloc(size) }

  /// So many items of so many bytes, all zero; nil if there is no memory.
  @inline(__always)
  public static func takeZeros(_ items: Int, _ size: Int) -> UnsafeMutableRawPointer? {
    unsafe calloc(items, size)
  }

  /// A piece with the contents of another, which is given back; nil, and nothing done, if there is no memory.
  @inline(__always)
  public static func retake(_ piece: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
    unsafe realloc(piece, size)
  }

  @inline(__always)
  public static func give(_ piece: UnsafeMutableRawPointer?) { unsafe free(piece) }

  /// What a piece takes, in bytes: at least what was asked for. None takes nothing.
  @inline(__always)
  public static func size(_ piece: UnsafeMutableRawPointer?) -> Int { unsafe Int(heap_size(piece)) }
}
