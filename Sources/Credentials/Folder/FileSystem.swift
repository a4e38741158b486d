import Platform

/// Files of key material: small, read whole, written so that nobody ever sees half of one.
enum FileSystem {
  /// Permissions of files that hold a private key, and of folders with such files.
  static let secretFile: mode_t = 0o600
  static let secretFolder: mode_t = 0o700
  /// Permissions of everything else, before the umask.
  static let openFile: mode_t = 0o644
  static let openFolder: mode_t = 0o755

  /// Largest file read, in bytes: a bundle of several hundred certificates.
  static let maximumFileByteCount = 1 << 20
  /// Most names read from one folder, so that a wrong folder does not stall the start.
  static let maximumNames = 10_000

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// The whole of a file that lies where we look for it. Never waits for somebody, as opening a pipe would.
  static func read(_ path: String) throws(CredentialsError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(.unreadable, path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(.unreadable, path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CredentialsError(.unreadable, "\(path): a plain file was expected, got \(kind(status))")
    }
    return try contents(descriptor, path)
  }

  /// The whole of a file that a person names, which may be a pipe: `--key <(vault read …)`.
  static func readNamed(_ path: String) throws(CredentialsError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(.unreadable, path) }
    defer { close(descriptor) }
    return try contents(descriptor, path)
  }

  private static func contents(_ descriptor: Int32, _ path: String) throws(CredentialsError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = Platform.read(descriptor, &chunk, chunk.count)
      if count == 0 { return bytes }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(.unreadable, path) }
      bytes.append(contentsOf: chunk.prefix(count))
      guard bytes.count <= maximumFileByteCount else {
        throw CredentialsError(.malformed, "\(path) is larger than \(maximumFileByteCount) bytes")
      }
    }
  }

  /// Puts `bytes` under `path` in one step. The temporary file is new, has its permissions from the first moment and is
  /// on disk before it takes the name; a file already there is replaced (`FileReplacement`).
  static func write(_ bytes: [UInt8], to path: String, permissions: mode_t) throws(CredentialsError) {
    do {
      try FileReplacement(path).write(bytes, permissions: permissions, isSecret: true, isDurable: true)
    } catch {
      throw CredentialsError(.unwritable, "\(path): \(error.sentence)")
    }
  }

  /// Makes the folder if it is absent; one already there keeps its permissions, and must be ours to trust.
  static func makeFolder(_ path: String, permissions: mode_t) throws(CredentialsError) {
    guard mkdir(path, permissions) != 0 else { return }
    guard errno == EEXIST else { throw failure(.unwritable, path) }
    var status = stat()
    guard stat(path, &status) == 0 else { throw failure(.unwritable, path) }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw CredentialsError(.unwritable, "\(path): a folder was expected, got \(kind(status))")
    }
    try requireTrust(status, path)
    guard access(path, R_OK | X_OK) == 0 else { throw failure(.unwritable, path) }
  }

  /// Whoever can write to a folder of CAs and keys decides who is believed.
  private static func requireTrust(_ status: stat, _ path: String) throws(CredentialsError) {
    guard isOurs(status.st_uid) else {
      throw CredentialsError(
        .unsuitable,
        "\(path) belongs to user \(status.st_uid), who decides then who is believed, and this is user \(geteuid()): "
          + "run as its owner, change its owner, or name another folder with --certs")
    }
    guard status.st_mode & S_IWOTH == 0 else {
      throw CredentialsError(
        .unsuitable,
        "\(path) can be written by everybody, who decides then who is believed: chmod o-w it, or name another folder with --certs"
      )
    }
  }

  /// Ours, the system's, or of whom `sudo` has made the system.
  private static func isOurs(_ owner: uid_t) -> Bool {
    let own = geteuid()
    let behindSudo = own == 0 ? getenv("SUDO_UID").flatMap { uid_t(String(cString: $0)) } : nil
    return owner == own || owner == 0 || owner == behindSudo
  }

  private static func kind(_ status: stat) -> String {
    switch status.st_mode & S_IFMT {
    case S_IFDIR: "a folder"
    case S_IFREG: "a file"
    case S_IFIFO: "a named pipe"
    case S_IFSOCK: "a socket"
    default: "a device"
    }
  }

  /// The names in a folder that end in `suffix` and don't begin with a dot, sorted; empty when there is no folder.
  static func names(in folder: String, suffix: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while names.count < maximumNames, let entry = readdir(stream) {
      let name = name(of: entry)
      if name.hasSuffix(suffix), !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  /// What the operating system said last about `path`.
  static func failure(_ code: CredentialsError.Code, _ path: String) -> CredentialsError {
    CredentialsError(code, "\(path): \(String(cString: strerror(errno)))")
  }

  /// Reads the name in place: an entry is shorter in memory than the type says, so it must not be copied.
  private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return "" }
    let start = UnsafeRawPointer(entry).advanced(by: offset)
    return String(cString: start.assumingMemoryBound(to: CChar.self))
  }
}

/// Keeps other processes from filling the same folder at the same time: of two emulators started at once, the second
/// finds what the first has made.
struct FolderLock {
  private let descriptor: Int32

  /// Waits for the folder. A file system without locks is used without one.
  init(_ folder: String) throws(CredentialsError) {
    descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileSystem.failure(.unreadable, folder) }
    while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
  }

  /// Lets others in. Call it once.
  func release() { close(descriptor) }
}
