import Basics
import Platform

/// Tells at the price of one `stat` whether a folder is worth reading again: once for each change, and a few times more while
/// that is new. Never more than ten times a second, however often strangers make us ask.
public struct FolderWatch {
  /// A file that was new when the folder was read may have been read half written, and the time stamps of two changes
  /// may be equal. So a folder counts as changed until it was read this long after its last change, in nanoseconds.
  public static let settlingNanoseconds: Int64 = 2_000_000_000
  /// Most readings within a second, as a count.
  public static let readingsPerSecond = 10
  /// Readings for a change that has been seen, as a count: at once whenever they are asked for, as many in a second; the others are
  /// for a new one. After those one at a time, so many nanoseconds apart.
  public static let readingsOfOneChange = 5
  public static let againNanoseconds: Int64 = 250_000_000
  private static let second: Int64 = 1_000_000_000

  public let path: String
  private let clock: () -> Instant
  private var seen: FileStamp?
  /// When a reading first had this stamp. Its own time may lie in the future.
  private var seenSince = Instant.distantPast
  private var isSettled = false
  /// When it was read, the oldest first; no more than matter.
  private var readings: [Instant] = []

  public init(_ path: String, clock: @escaping () -> Instant = SystemClock.now) {
    (self.path, self.clock) = (path, clock)
  }

  /// Whether the folder may hold something that the last reading has missed, and may be read.
  public var hasChanged: Bool {
    guard let present = FileStamp(path) else { return seen != nil }
    guard present == seen else { return hasRoom(Self.readingsPerSecond) }
    guard !isSettled, let last = readings.last else { return false }
    let isLongAgo = clock().nanoseconds(since: last) >= Self.againNanoseconds
    return hasRoom(isLongAgo ? Self.readingsPerSecond : Self.readingsOfOneChange)
  }

  /// Whether it may be read once more.
  var mayBeRead: Bool { hasRoom(Self.readingsPerSecond) }

  private func hasRoom(_ limit: Int) -> Bool {
    let now = clock()
    return readings.count { now.nanoseconds(since: $0) < Self.second } < limit
  }

  /// Call it when a change is known to have been made: it is read at the next look, however often the folder was read just now.
  public mutating func expectChange() { (seen, readings) = (nil, []) }

  /// Call it before reading the folder: what comes in meanwhile is then seen as a change.
  public mutating func willRead() {
    let (now, present) = (clock(), FileStamp(path))
    if present != seen || readings.isEmpty { seenSince = now }
    seen = present
    isSettled =
      present?.isOld == true || now.nanoseconds(since: seenSince) >= Self.settlingNanoseconds
    if readings.count >= Self.readingsPerSecond { readings.removeFirst() }
    readings.append(now)
  }
}

/// What tells a changed file or folder from an unchanged one.
struct FileStamp: Equatable {
  var modifiedNanoseconds: Int64
  var size: Int
  var identity: FileStatus.Identity

  /// The stamp of what lies at `path`, or nil if nothing does.
  init?(_ path: String) {
    guard let status = FileStatus(path) else { return nil }
    modifiedNanoseconds = status.modifiedNanoseconds
    (size, identity) = (status.size, status.identity)
  }

  /// Whether a change since would show.
  var isOld: Bool {
    SystemClock.wallNanoseconds() &- modifiedNanoseconds >= FolderWatch.settlingNanoseconds
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

  /// Whether all were there and old enough that a change since would show.
  var wereOld: Bool { stamps.allSatisfy { $0?.isOld == true } }

  /// Whether one of them has changed, come or gone.
  var haveChanged: Bool {
    for (path, stamp) in zip(paths, stamps) where FileStamp(path) != stamp { return true }
    return false
  }
}
