/// Small files, read and written whole.
package enum TextFile {
  /// Largest file read, in bytes.
  package static let limit = 16 << 20

  /// Reads a file of at most `limit` bytes; `-` is standard input.
  package static func read(_ path: String, limit: Int = limit) throws(SocketError) -> [UInt8] {
    let descriptor =
      path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0, let file = fdopen(descriptor, "r") else {
      throw SocketError.last("read", path)
    }
    return try contents(of: file, path, limit: limit)
  }

  /// Reads a plain file of at most `limit` bytes. Never waits for somebody, as opening or reading a pipe would. A secret one is
  /// refused if others may read it.
  package static func readPlain(
    _ path: String, limit: Int, isSecret: Bool = false
  ) throws(SocketError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0, let file = fdopen(descriptor, "r") else { throw SocketError.last("read", path) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      fclose(file)
      let sentence = "a plain file was expected, got \(kind(status.st_mode))"
      throw SocketError(operation: "read", address: path, sentence: sentence)
    }
    guard !isSecret || isPrivate(status) else {
      fclose(file)
      let mode = String(status.st_mode & 0o777, radix: 8)
      throw SocketError(
        operation: "use", address: path,
        sentence: "expected a file that nobody else may read (mode 600), got mode \(mode)")
    }
    return try contents(of: file, path, limit: limit)
  }

  /// Whether nobody else may read or write it. Of another owner's file the group may read: this is how container engines hand a
  /// secret to who is not root, who could not read it otherwise.
  private static func isPrivate(_ status: stat) -> Bool {
    status.st_mode & (status.st_uid == geteuid() ? 0o077 : 0o037) == 0
  }

  private static func contents(
    of file: UnsafeMutablePointer<FILE>, _ path: String, limit: Int
  ) throws(SocketError) -> [UInt8] {
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= limit {
      let count = fread(&chunk, 1, chunk.count, file)
      guard count > 0 else { break }
      bytes += chunk[..<count]
    }
    guard ferror(file) == 0 else { throw SocketError.last("read", path) }
    guard bytes.count <= limit else {
      throw SocketError(operation: "read", address: path, sentence: "it is larger than \(limit) bytes")
    }
    return bytes
  }

  /// What a file is, for error sentences.
  package static func kind(_ mode: FileMode) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "a folder"
    case S_IFREG: "a file"
    case S_IFIFO: "a named pipe"
    case S_IFSOCK: "a socket"
    default: "a device"
    }
  }

  /// Throws what `read` would throw for a file that can't be opened.
  package static func checkReadable(_ path: String) throws {
    guard access(path, R_OK) == 0 else { throw SocketError.last("read", path) }
  }

  /// Writes a file whole, for this user alone if it is secret (`FileReplacement`).
  package static func write(_ path: String, _ bytes: [UInt8], isSecret: Bool = false) throws {
    try FileReplacement(path).write(bytes, permissions: isSecret ? 0o600 : 0o644, isSecret: isSecret)
  }
}
