import Platform

/// Tells at the price of one `stat` whether a folder is worth reading again.
struct FolderWatch {
  /// A file that was new when the folder was read may have been read half written, and the time stamps of two changes
  /// may be equal. So a folder counts as changed until it was read this long after its last change, in nanoseconds.
  private static let settlingNanoseconds: Int64 = 2_000_000_000

  let path: String
  private var seen: FileStamp?
  private var readAt: Int64 = .min

  init(_ path: String) { self.path = path }

  /// Whether the folder may hold something that the last reading has missed.
  var hasChanged: Bool {
    guard let present = FileStamp(path) else { return seen != nil }
    guard let seen, seen == present else { return true }
    return readAt &- seen.modifiedNanoseconds < Self.settlingNanoseconds
  }

  /// Call it before reading the folder: what comes in meanwhile is then seen as a change.
  mutating func willRead() {
    seen = FileStamp(path)
    readAt = SystemClock.wallNanoseconds()
  }
}

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

/// Files as they were when something was read from them.
struct StampedFiles: Sendable {
  private let paths: [String]
  private let stamps: [FileStamp?]

  /// Takes the stamps now: before the files are read.
  init(_ paths: [String]) {
    self.paths = paths
    stamps = paths.map(FileStamp.init)
  }

  /// Whether one of them has changed, come or gone.
  var haveChanged: Bool {
    for (path, stamp) in zip(paths, stamps) where FileStamp(path) != stamp { return true }
    return false
  }
}
