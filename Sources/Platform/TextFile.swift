/// Small files, read and written whole.
public enum TextFile {
  /// Largest file read, in bytes.
  public static let limit = 16 << 20

  /// Reads a file; `-` is standard input.
  public static func read(_ path: String) throws -> [UInt8] {
    guard let file = path == "-" ? fdopen(dup(STDIN_FILENO), "r") : fopen(path, "r") else {
      throw SocketError.last("read", path)
    }
    return try contents(of: file, path, limit: limit)
  }

  /// Reads a plain file of at most `limit` bytes. Never waits for somebody, as opening or reading a pipe would.
  public static func readPlain(_ path: String, limit: Int) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0, let file = fdopen(descriptor, "r") else { throw SocketError.last("read", path) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      fclose(file)
      throw SocketError(operation: "read", address: path, sentence: "it is no plain file")
    }
    return try contents(of: file, path, limit: limit)
  }

  private static func contents(
    of file: UnsafeMutablePointer<FILE>, _ path: String, limit: Int
  ) throws -> [UInt8] {
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

  /// Throws what `read` would throw for a file that can't be opened.
  public static func checkReadable(_ path: String) throws {
    guard access(path, R_OK) == 0 else { throw SocketError.last("read", path) }
  }

  /// Writes a file whole, for this user alone if it is secret (`FileReplacement`).
  public static func write(_ path: String, _ bytes: [UInt8], isSecret: Bool = false) throws {
    try FileReplacement(path).write(bytes, permissions: isSecret ? 0o600 : 0o644, isSecret: isSecret)
  }
}
