import Basics
import Platform

/// The file of a capture: whole lines are appended each time, and a line that an earlier run left torn is
/// cut off before anything is added.
public final class CaptureFile {
  /// Its path is where a link points to, so that files rotate there and the link stays.
  private let options: CaptureOptions
  private let openUncached: (String) -> UncachedOutput?
  /// Nil after a new one could not be made.
  private var file: OpenFile?
  /// Nil where the file system has none, or has refused a write.
  private var uncached: UncachedOutput?
  /// Whole lines end here, in bytes.
  public private(set) var size = 0

  /// Opens or makes it, for this user alone.
  public init(
    _ options: CaptureOptions, openUncached: @escaping (String) -> UncachedOutput? = { UncachedOutput($0) }
  ) throws(SocketError) {
    var options = options
    // What leads nowhere is refused when it is opened.
    if let file = try? FileReplacement(options.path) { options.path = file.path }
    (self.options, self.openUncached) = (options, openUncached)
    try begin()
  }

  /// Whether it is time for the next file.
  public var isFull: Bool { options.rotatesAt.map { size >= $0 } ?? false }

  /// Adds whole lines. After a failure the file ends where it did before.
  public func append(_ lines: Span<UInt8>) throws(SocketError) {
    let (before, middle) = UncachedOutput.split(lines.count, at: size)
    if uncached == nil || middle.isEmpty {
      try add(lines)
    } else {
      try add(lines.prefix(before))
      try addUncached(lines.extracting(middle), at: size + before)
      try add(lines.dropping(middle.upperBound))
    }
    size += lines.count
  }

  private func addUncached(_ blocks: Span<UInt8>, at offset: Int) throws(SocketError) {
    if uncached?.write(blocks, at: offset) == true { return }
    uncached = nil
    file?.cut(to: offset)
    try add(blocks)
  }

  private func add(_ bytes: Span<UInt8>) throws(SocketError) {
    guard let code = file?.write(bytes).error else { throw failure("write", "it could not be made") }
    guard code != 0 else { return }
    file?.cut(to: size)
    throw failure("write", SocketCalls.sentence(code))
  }

  /// FILE becomes FILE.1, FILE.1 becomes FILE.2 and so on; the oldest goes; a new FILE is begun.
  func rotate() throws(SocketError) {
    let path = options.path
    if options.kept == 0 { PathCalls.remove(path) }
    // After a new FILE could not be made there is nothing to move; trying again must not push old ones out.
    let isThere = PathCalls.exists(path)
    for number in stride(from: isThere ? options.kept : 0, to: 0, by: -1) {
      PathCalls.move(number == 1 ? path : "\(path).\(number - 1)", to: "\(path).\(number)")
    }
    file = nil
    uncached = nil
    try begin()
  }

  /// Goes on with the file that has the name now, if the present one was moved away or emptied; answers whether it did. After
  /// a failure the present one goes on.
  func reopen() throws(SocketError) -> Bool {
    guard !isInPlace else { return false }
    try begin()
    return true
  }

  /// Whether the file that is written still has the name, and is as long as it should be.
  private var isInPlace: Bool {
    guard let own = file?.status, let named = FileStatus(options.path) else { return false }
    return own.identity == named.identity && named.size == size
  }

  /// Opens what has the name now, and cuts off a torn line.
  private func begin() throws(SocketError) {
    let fresh = try open()
    guard let status = fresh.status, status.kind == .plain else {
      throw failure("open", "expected a plain file, got something else")
    }
    let end = Self.wholeLines(fresh, status.size)
    guard end == status.size || fresh.cut(to: end) else {
      throw failure("cut an incomplete line off", SocketCalls.sentence(SocketCalls.lastError))
    }
    file = consume fresh
    size = end
    uncached = openUncached(options.path)
  }

  private func open() throws(SocketError) -> OpenFile {
    do { return try OpenFile(appendingTo: options.path) } catch { throw failure("open", error.sentence) }
  }

  private func failure(_ operation: String, _ sentence: String) -> SocketError {
    SocketError(operation: operation, address: "the capture file \(options.path)", sentence: sentence)
  }

  /// Where the last whole line ends.
  private static func wholeLines(_ file: borrowing OpenFile, _ size: Int) -> Int {
    var end = size
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while end > 0 {
      let start = max(0, end - piece.count)
      if end < piece.count { piece.removeLast(piece.count - end) }
      var room = piece.mutableSpan
      let count = file.read(at: start, into: &room)
      guard count > 0 else { return size }
      if let newline = piece[..<count].lastIndex(of: UInt8(ascii: "\n")) { return start + newline + 1 }
      end = start
    }
    return 0
  }
}
