import CLibrary

/// Small files, read and written whole.
public enum TextFile {
  /// Largest file read, in bytes.
  public static let limit = 16 << 20

  /// Reads a file of at most `limit` bytes; `-` is standard input.
  public static func read(_ path: String, limit: Int = limit) throws(SocketError) -> [UInt8] {
    try contents(of: try OpenFile(reading: path), path, limit: limit)
  }

  /// Reads a plain file of at most `limit` bytes. Never waits for somebody, as opening or reading a pipe would. A secret one is
  /// refused if others may read it.
  public static func readPlain(
    _ path: String, limit: Int, isSecret: Bool = false
  ) throws(SocketError) -> [UInt8] {
    let file = try OpenFile(reading: path, waits: false)
    guard let status = file.status else { throw SocketError.last("read", path) }
    guard status.kind == .plain else {
      let sentence = "expected a plain file, got \(status.description)"
      throw SocketError(operation: "read", address: path, sentence: sentence)
    }
    guard !isSecret || isPrivate(status) else {
      let mode = String(status.permissions, radix: 8)
      throw SocketError(
        operation: "use", address: path,
        sentence: "expected a file that only its owner may read (mode 600), got mode \(mode)")
    }
    return try contents(of: file, path, limit: limit)
  }

  /// Whether nobody else may read or write it. Of another owner's file the group may read: this is how container engines hand a
  /// secret to who is not root, who could not read it otherwise.
  private static func isPrivate(_ status: FileStatus) -> Bool {
    status.permissions & (status.owner == ProcessStatus.user ? 0o077 : 0o037) == 0
  }

  private static func contents(
    of file: borrowing OpenFile, _ path: String, limit: Int
  ) throws(SocketError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= limit {
      var room = chunk.mutableSpan
      let count = file.read(into: &room)
      guard count >= 0 else { throw SocketError.last("read", path) }
      guard count > 0 else { break }
      bytes += chunk[..<count]
    }
    guard bytes.count <= limit else {
      throw SocketError(operation: "read", address: path, sentence: "it is larger than \(limit) bytes")
    }
    return bytes
  }

  /// Throws what `read` would throw for a file that can't be opened.
  public static func checkReadable(_ path: String) throws {
    guard PathCalls.isReadable(path) else { throw SocketError.last("read", path) }
  }

  /// Writes a file whole, for this user alone if it is secret (`FileReplacement`).
  public static func write(_ path: String, _ bytes: [UInt8], isSecret: Bool = false) throws {
    try FileReplacement(path).write(bytes, permissions: isSecret ? 0o600 : 0o644, isSecret: isSecret)
  }
}
