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
