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
  public static func take(_ size: Int) -> UnsafeMutableRawPointer? { malloc(size) }

  @inline(__always)
  public static func give(_ piece: UnsafeMutableRawPointer) { free(piece) }
}
