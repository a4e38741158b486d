import Basics
import CLibrary

/// A file or folder that is open, closed with this value.
public struct OpenFile: ~Copyable {
  let descriptor: Int32

  private init(_ path: String, _ flags: Int32, _ permissions: FileMode, _ operation: String)
    throws(SocketError)
  {
    descriptor = DescriptorCalls.open(path, flags, permissions)
    guard descriptor >= 0 else { throw SocketError.last(operation, path) }
  }

  /// To be read; `-` is standard input. What is no plain file may be waited for, unless `waits` is false: then `-` is a name, too.
  public init(reading path: String, waits: Bool = true) throws(SocketError) {
    guard waits, path == "-" else {
      self = try OpenFile(path, waits ? O_RDONLY : O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, "read")
      return
    }
    guard let input = OpenFile(sharing: STDIN_FILENO) else { throw SocketError.last("read", path) }
    self = input
  }

  /// To be read, and written at its end; made for this user alone where it is not there.
  public init(appendingTo path: String) throws(SocketError) {
    self = try OpenFile(path, O_RDWR | O_CREAT | O_APPEND, 0o600, "open")
  }

  /// A new one for this user alone; fails where something is there.
  public init(making path: String) throws(SocketError) {
    self = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL, 0o600, "make")
  }

  public init(folder path: String) throws(SocketError) {
    self = try OpenFile(path, O_RDONLY | O_DIRECTORY, 0, "open")
  }

  /// The same open file under a descriptor of its own: both have one position and one lock. nil if there are no descriptors left.
  public init?(sharing descriptor: Int32) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { return nil }
    self.descriptor = copy
  }

  /// One that is there, to be written without the system's cache; nil where the file system has no such way. Offsets, counts and
  /// memory must be multiples of its block.
  public init?(uncached path: String) {
    #if canImport(Darwin)
      // There the cache is only advised against (`F_NOCACHE`), and the writer keeps to the ordinary way.
      return nil
    #else
      descriptor = DescriptorCalls.open(path, O_WRONLY | Self.direct)
      if descriptor < 0 { return nil }
    #endif
  }

  /// `O_DIRECT` of `fcntl.h`, which Swift does not import.
  #if arch(arm64) || arch(arm) || arch(powerpc64le)
    private static let direct: Int32 = 0o200000
  #else
    private static let direct: Int32 = 0o40000
  #endif

  deinit { close(descriptor) }

  public var status: FileStatus? { FileStatus(descriptor: descriptor) }

  /// From where the next `read` reads, in bytes; 0 for what has no such place.
  public var position: Int { max(0, Int(lseek(descriptor, 0, SEEK_CUR))) }

  /// Reads on; answers how many bytes there were, 0 at the end, -1 for a failure (`SocketError.last`).
  public func read(into room: inout MutableSpan<UInt8>) -> Int {
    while true {
      let count = DescriptorCalls.read(descriptor, into: &room)
      if count >= 0 || errno != EINTR { return count }
    }
  }

  /// Reads what is at an offset; answers as `read(into:)`.
  public func read(at offset: Int, into room: inout MutableSpan<UInt8>) -> Int {
    unsafe room.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
  }

  /// Writes all of it (`WholeOutput`).
  public func write(_ bytes: Span<UInt8>) -> (count: Int, error: Int32) {
    WholeOutput.write(bytes, to: descriptor)
  }

  /// Writes at an offset as much as is taken; answers how many bytes that is, -1 for a failure.
  public func write(_ bytes: Span<UInt8>, at offset: Int) -> Int {
    while true {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset))
      }
      if count >= 0 || errno != EINTR { return count }
    }
  }

  /// Forgets what is behind the first `size` bytes; answers whether the system did.
  @discardableResult
  public func cut(to size: Int) -> Bool { ftruncate(descriptor, off_t(size)) == 0 }

  // MARK: Locks

  /// Waits until nobody else has locked it. A file system without locks is used without.
  public func lock() { while flock(descriptor, LOCK_EX) != 0, errno == EINTR {} }

  public func unlock() { flock(descriptor, LOCK_UN) }

  /// Locks it unless somebody else has, for as long as it is open.
  public func lockAtOnce() { flock(descriptor, LOCK_EX | LOCK_NB) }

  /// Whether somebody else has locked it; false where the file system has no locks.
  public var isLocked: Bool { flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK }
}

/// What the system says of a file.
public struct FileStatus {
  /// Tells a file from all others of this machine, whatever it is called.
  public struct Identity: Hashable, Sendable {
    let device, inode: UInt64
  }

  public enum Kind { case plain, folder, other }

  private let status: stat

  /// What is at `path`, links followed; nil if there is nothing, or it may not be known.
  public init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    self.status = status
  }

  public static var ofStandardInput: FileStatus? { FileStatus(descriptor: STDIN_FILENO) }

  init?(descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    self.status = status
  }

  public var kind: Kind {
    switch status.st_mode & S_IFMT {
    case S_IFREG: .plain
    case S_IFDIR: .folder
    default: .other
    }
  }

  /// For error sentences.
  public var description: String {
    switch status.st_mode & S_IFMT {
    case S_IFDIR: "a folder"
    case S_IFREG: "a file"
    case S_IFIFO: "a named pipe"
    case S_IFSOCK: "a socket"
    default: "a device"
    }
  }

  public var identity: Identity {
    Identity(
      device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
  }

  /// In bytes.
  public var size: Int { Int(status.st_size) }
  /// Who may do what, as `chmod(1)` counts.
  public var permissions: FileMode { status.st_mode & 0o777 }
  /// Number of the user whose it is.
  public var owner: UInt32 { status.st_uid }

  /// When its content was last written, in nanoseconds since 1970-01-01T00:00:00Z.
  public var modifiedNanoseconds: Int64 {
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}

/// What is done to files and folders by their names.
public enum PathCalls {
  public static func exists(_ path: String) -> Bool { allows(path, F_OK) }

  /// The whole path to what is there, links followed; nil if there is nothing.
  public static func absolute(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// Whether this user may read it.
  public static func isReadable(_ path: String) -> Bool { allows(path, R_OK) }

  /// Whether this user may list a folder and reach what is in it.
  public static func isOpenFolder(_ path: String) -> Bool { allows(path, R_OK | X_OK) }

  /// Whether this user may run it.
  static func isProgram(_ path: String) -> Bool { allows(path, X_OK) }

  private static func allows(_ path: String, _ use: Int32) -> Bool { unsafe access(path, use) == 0 }

  /// Removes a file's name; answers whether it did.
  @discardableResult
  public static func remove(_ path: String) -> Bool { unsafe unlink(path) == 0 }

  /// Removes a folder that is empty; answers whether it did.
  @discardableResult
  public static func removeFolder(_ path: String) -> Bool { unsafe rmdir(path) == 0 }

  /// Gives a file another name, in the place of what has that name; answers whether it did.
  @discardableResult
  public static func move(_ path: String, to other: String) -> Bool { unsafe rename(path, other) == 0 }

  /// Makes a folder.
  public static func makeFolder(_ path: String, _ permissions: FileMode) -> FolderOutcome {
    if unsafe mkdir(path, permissions) == 0 { return .made }
    return errno == EEXIST ? .isThere : errno == ENOENT ? .noParent : .refused
  }

  /// What came of that; `SocketCalls.lastError` says why not.
  public enum FolderOutcome { case made, isThere, noParent, refused }
}
