import CLibrary

/// Files that are written without the system's cache.
package enum UncachedFile {
  #if canImport(Darwin)
    /// None: there the cache is only advised against (`F_NOCACHE`), and the writer keeps to the ordinary way.
    package static func open(_ path: String) -> Int32? { nil }
  #else
    /// Opens a file that is there for writing; nil where the file system has no such way. Offsets, counts and memory must be
    /// multiples of its block.
    package static func open(_ path: String) -> Int32? {
      let descriptor = CLibrary.open(path, O_WRONLY | direct | O_CLOEXEC)
      return descriptor >= 0 ? descriptor : nil
    }

    /// `O_DIRECT` of `fcntl.h`, which Swift does not import.
    #if arch(arm64) || arch(arm) || arch(powerpc64le)
      private static let direct: Int32 = 0o200000
    #else
      private static let direct: Int32 = 0o40000
    #endif
  #endif
}
