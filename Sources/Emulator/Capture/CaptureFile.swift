import Capture
import Platform

/// The file of a capture: whole lines are appended each time, and a line that an earlier run left torn is
/// cut off before anything is added.
final class CaptureFile {
  /// Its path is where a link points to, so that files rotate there and the link stays.
  private let options: CaptureOptions
  private let openUncached: (String) -> UncachedOutput?
  private var descriptor: Int32
  /// Nil where the file system has none, or has refused a write.
  private var uncached: UncachedOutput?
  /// Whole lines end here, in bytes.
  private(set) var size: Int

  /// Opens or makes it, for this user alone.
  init(
    _ options: CaptureOptions, openUncached: @escaping (String) -> UncachedOutput? = { UncachedOutput($0) }
  ) throws(CaptureFileError) {
    var options = options
    // What leads nowhere is refused when it is opened.
    if let file = try? FileReplacement(options.path) { options.path = file.path }
    (self.options, self.openUncached) = (options, openUncached)
    (descriptor, size) = try Self.open(options.path)
    uncached = openUncached(options.path)
  }

  deinit { close(descriptor) }

  /// Whether it is time for the next file.
  var isFull: Bool { options.rotatesAt.map { size >= $0 } ?? false }

  /// Adds whole lines. After a failure the file ends where it did before.
  func append(_ lines: UnsafeRawBufferPointer) throws(CaptureFileError) {
    let (before, middle) = UncachedOutput.split(lines.count, at: size)
    if uncached == nil || middle.isEmpty {
      try add(lines)
    } else {
      try add(UnsafeRawBufferPointer(rebasing: lines[..<before]))
      try addUncached(UnsafeRawBufferPointer(rebasing: lines[middle]), at: size + before)
      try add(UnsafeRawBufferPointer(rebasing: lines[middle.upperBound...]))
    }
    size += lines.count
  }

  private func addUncached(_ blocks: UnsafeRawBufferPointer, at offset: Int) throws(CaptureFileError) {
    if uncached?.write(blocks, at: offset) == true { return }
    uncached = nil
    ftruncate(descriptor, off_t(offset))
    try add(blocks)
  }

  private func add(_ bytes: UnsafeRawBufferPointer) throws(CaptureFileError) {
    let code = WholeOutput.write(bytes, to: descriptor).error
    guard code != 0 else { return }
    ftruncate(descriptor, off_t(size))
    throw CaptureFileError("write", options.path, code)
  }

  /// FILE becomes FILE.1, FILE.1 becomes FILE.2 and so on; the oldest goes; a new FILE is begun.
  func rotate() throws(CaptureFileError) {
    let path = options.path
    if options.kept == 0 { unlink(path) }
    // After a new FILE could not be made there is nothing to move; trying again must not push old ones out.
    let isThere = access(path, F_OK) == 0
    for number in stride(from: isThere ? options.kept : 0, to: 0, by: -1) {
      rename(number == 1 ? path : "\(path).\(number - 1)", "\(path).\(number)")
    }
    close(descriptor)
    descriptor = -1
    uncached = nil
    (descriptor, size) = try Self.open(path)
    uncached = openUncached(path)
  }

  /// Goes on with the file that has the name now, if the present one was moved away or emptied; answers whether it did. After
  /// a failure the present one goes on.
  func reopen() throws(CaptureFileError) -> Bool {
    guard descriptor < 0 || !isInPlace else { return false }
    let fresh = try Self.open(options.path)
    if descriptor >= 0 { close(descriptor) }
    (descriptor, size) = fresh
    uncached = openUncached(options.path)
    return true
  }

  /// Whether the file that is written still has the name, and is as long as it should be.
  private var isInPlace: Bool {
    var (own, named) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && stat(options.path, &named) == 0 && own.st_dev == named.st_dev
      && own.st_ino == named.st_ino && Int(named.st_size) == size
  }

  private static func open(_ path: String) throws(CaptureFileError) -> (Int32, Int) {
    let descriptor = Platform.open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CaptureFileError("open", path, errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw CaptureFileError("open", path, EINVAL)
    }
    let end = wholeLines(descriptor, Int(status.st_size))
    if end < Int(status.st_size), ftruncate(descriptor, off_t(end)) != 0 {
      defer { close(descriptor) }
      throw CaptureFileError("cut a torn line of", path, errno)
    }
    return (descriptor, end)
  }

  /// Where the last whole line ends.
  private static func wholeLines(_ descriptor: Int32, _ size: Int) -> Int {
    var end = size
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while end > 0 {
      let start = max(0, end - piece.count)
      let count = pread(descriptor, &piece, end - start, off_t(start))
      guard count > 0 else { return size }
      if let newline = piece[..<count].lastIndex(of: UInt8(ascii: "\n")) { return start + newline + 1 }
      end = start
    }
    return 0
  }
}

/// The capture's file can't be used.
struct CaptureFileError: Error {
  let sentence: String

  init(_ operation: String, _ path: String, _ code: Int32) {
    let why = code == EINVAL ? "it is not a plain file" : SocketCalls.sentence(code)
    sentence = "can't \(operation) the capture file \(path): \(why)"
  }
}

/// Where provider traffic is recorded, and how much of it is kept.
public struct CaptureOptions: Sendable, Equatable {
  /// Default of `--capture-keep`, as a count.
  public static let defaultKept = 8

  public var path: String
  /// Size at which FILE becomes FILE.1 and a new one is begun, in bytes; nil for never.
  public var rotatesAt: Int?
  /// How many rotated files are kept.
  public var kept = defaultKept

  public init(path: String) { self.path = path }
}
