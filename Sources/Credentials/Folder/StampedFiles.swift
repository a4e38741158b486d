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
