import Platform

/// What tells a changed file or folder from an unchanged one.
struct FileStamp: Equatable {
  var modifiedNanoseconds: Int64
  var byteCount: Int64
  var inode: UInt64

  /// The stamp of what lies at `path`, or nil if nothing does.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    modifiedNanoseconds = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    byteCount = Int64(status.st_size)
    inode = UInt64(status.st_ino)
  }
}
