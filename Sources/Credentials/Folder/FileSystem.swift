import Platform

/// Files of key material: small, read whole, written so that nobody ever sees half of one.
enum FileSystem {
  /// Permissions of files that hold a private key, and of folders with such files.
  static let secretFile: FileMode = 0o600
  static let secretFolder: FileMode = 0o700
  /// Permissions of everything else, before the umask.
  static let openFile: FileMode = 0o644
  static let openFolder: FileMode = 0o755

  /// Largest file read, in bytes: a bundle of several hundred certificates.
  static let maximumFileByteCount = 1 << 20
  /// Most names read from one folder, so that a wrong folder does not stall the start.
  static let maximumNames = 10_000

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
  static func write(_ bytes: [UInt8], to path: String, permissions: FileMode) throws(CredentialsError) {
    do {
      try FileReplacement(path).write(bytes, permissions: permissions, isSecret: true, isDurable: true)
    } catch {
      throw CredentialsError(.unwritable, "\(path): \(error.sentence)")
    }
  }

  /// Makes the folder if it is absent; one already there keeps its permissions, and must be ours to trust.
  static func makeFolder(_ path: String, permissions: FileMode) throws(CredentialsError) {
    switch PathCalls.makeFolder(path, permissions) {
    case .made: return
    case .isThere: break
    case .noParent, .refused: throw failure(.unwritable, path)
    }
    guard let status = FileStatus(path) else { throw failure(.unwritable, path) }
    guard status.kind == .folder else {
      throw CredentialsError(.unwritable, "\(path): expected a folder, got \(status.description)")
    }
    try requireTrust(status, path)
    guard PathCalls.isOpenFolder(path) else { throw failure(.unwritable, path) }
  }

  /// Whoever can write to a folder of CAs and keys decides who is believed.
  private static func requireTrust(_ status: FileStatus, _ path: String) throws(CredentialsError) {
    guard isOurs(status.owner) else {
      throw CredentialsError(
        .unsuitable,
        "\(path) belongs to user \(status.owner), who decides which certificates are trusted, but this is user \(ProcessStatus.user): "
          + "run as its owner, change its owner, or name another folder with --certs")
    }
    guard status.permissions & 0o002 == 0 else {
      throw CredentialsError(
        .unsuitable,
        "\(path) is writable by every user, who could change which certificates are trusted: chmod o-w it, or name another folder with --certs"
      )
    }
  }

  /// Ours, the system's, or of whom `sudo` has made the system.
  private static func isOurs(_ owner: UInt32) -> Bool {
    let own = ProcessStatus.user
    let behindSudo = own == 0 ? ProcessEnvironment.variables["SUDO_UID"].flatMap { UInt32($0) } : nil
    return owner == own || owner == 0 || owner == behindSudo
  }

  /// The names in a folder that end in `suffix` and don't begin with a dot, sorted; empty when there is no folder.
  static func names(in folder: String, suffix: String) -> [String] {
    let isWanted = { (name: String) in name.hasSuffix(suffix) && !name.hasPrefix(".") }
    return FolderNames.read(folder, atMost: maximumNames, where: isWanted).sorted()
  }

  /// What the operating system said last about `path`.
  static func failure(_ code: CredentialsError.Code, _ path: String) -> CredentialsError {
    CredentialsError(code, "\(path): \(SocketCalls.sentence(SocketCalls.lastError))")
  }
}

/// Keeps other processes from filling the same folder at the same time: of two emulators started at once, the second
/// finds what the first has made.
struct FolderLock: ~Copyable {
  private let folder: OpenFile

  /// Waits for the folder. A file system without locks is used without one.
  init(_ path: String) throws(CredentialsError) {
    do { folder = try OpenFile(folder: path) } catch {
      throw CredentialsError(.unreadable, "\(path): \(error.sentence)")
    }
    folder.lock()
  }

  /// Lets others in.
  func release() { folder.unlock() }
}
