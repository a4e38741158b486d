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
    do {
      return try TextFile.readPlain(path, limit: maximumFileByteCount)
    } catch {
      throw CredentialsError(.unreadable, "\(path): \(error.sentence)")
    }
  }

  /// The whole of a file that a person names, which may be a pipe: `--key <(vault read …)`. `-` is a file of that name.
  static func readNamed(_ path: String) throws(CredentialsError) -> [UInt8] {
    do {
      return try TextFile.read(path == "-" ? "./-" : path, limit: maximumFileByteCount)
    } catch {
      throw CredentialsError(.unreadable, "\(path): \(error.sentence)")
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
      throw CredentialsError(
        .unwritable, "\(path): a folder was expected, got \(TextFile.kind(status.st_mode))")
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

  /// The names in a folder that end in `suffix` and don't begin with a dot, sorted; empty when there is no folder.
  static func names(in folder: String, suffix: String) -> [String] {
    let isWanted = { (name: String) in name.hasSuffix(suffix) && !name.hasPrefix(".") }
    return FolderNames.read(folder, atMost: maximumNames, where: isWanted).sorted()
  }

  /// What the operating system said last about `path`.
  static func failure(_ code: CredentialsError.Code, _ path: String) -> CredentialsError {
    CredentialsError(code, "\(path): \(String(cString: strerror(errno)))")
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
