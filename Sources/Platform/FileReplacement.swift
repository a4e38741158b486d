import CLibrary

/// Puts a whole content under a path, as far as what is there allows it: a plain file is replaced in one step, so that
/// nobody ever reads half of one; a link keeps pointing where it points, and its target is replaced; devices, pipes and
/// descriptors (`/dev/stdout`) get the bytes written into them.
///
///     try FileReplacement("state.json").write(bytes, permissions: 0o644)
public struct FileReplacement {
  /// Links in a row that are followed (Linux, path_resolution(7): 40).
  private static let longestChain = 40
  /// What is below these is a descriptor of this process, whatever it looks like.
  private static let descriptors = ["/proc/", "/dev/fd/"]

  /// As it was given.
  private let name: String
  /// What the path leads to, links followed.
  public let path: String
  /// What is there; nil for nothing.
  private let existing: FileStatus?

  /// Looks at what is there now. Throws for a folder, and for links that lead nowhere in particular.
  public init(_ path: String) throws(SocketError) {
    (name, self.path) = (path, try Self.follow(path))
    existing = FileStatus(self.path)
    guard existing?.kind != .folder else { throw Self.failure(EISDIR, path) }
  }

  /// Whether what is there, if anything, is a file that can be replaced by another.
  public var isReplaceable: Bool { existing == nil || isPlain }

  /// Whether a plain file is there.
  public var isPlain: Bool { existing?.kind == .plain && !Self.isDescriptor(path) }

  /// Writes all of it. A new file gets `permissions` less the umask; one that is replaced passes its own on, unless
  /// `isSecret`. `isDurable` waits for the disk. `beforeVisible` gets the descriptor of what is written while nobody can
  /// have read any of it. What fails leaves everything as it was, but for what a device or pipe has taken.
  public func write(
    _ bytes: [UInt8], permissions: FileMode, isSecret: Bool = false, isDurable: Bool = false,
    beforeVisible: (Int32) -> Void = { _ in }
  ) throws(SocketError) {
    guard isReplaceable else { return try writeInto(bytes, beforeVisible) }
    let temporary = "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max)).tmp"
    let descriptor = DescriptorCalls.open(temporary, O_CREAT | O_EXCL | O_WRONLY, permissions)
    guard descriptor >= 0 else { throw Self.failure(errno, name) }
    if let existing, !isSecret { fchmod(descriptor, existing.permissions) }
    var code = Self.writeAll(bytes, descriptor)
    if code == 0, isDurable, fsync(descriptor) != 0 { code = errno }
    if code == 0 { beforeVisible(descriptor) }
    if close(descriptor) != 0, code == 0 { code = errno }
    if code == 0, !PathCalls.move(temporary, to: path) { code = errno }
    guard code != 0 else { return }
    PathCalls.remove(temporary)
    throw Self.failure(code, name)
  }

  /// Into what is no plain file. Opening a pipe waits for its reader.
  private func writeInto(_ bytes: [UInt8], _ beforeVisible: (Int32) -> Void) throws(SocketError) {
    let descriptor = DescriptorCalls.open(path, O_WRONLY | O_APPEND | O_NOCTTY)
    guard descriptor >= 0 else { throw Self.failure(errno, name) }
    beforeVisible(descriptor)
    var code = Self.writeAll(bytes, descriptor)
    if close(descriptor) != 0, code == 0 { code = errno }
    if code != 0 { throw Self.failure(code, name) }
  }

  /// Answers the error number of what went wrong, 0 for nothing.
  private static func writeAll(_ bytes: [UInt8], _ descriptor: Int32) -> Int32 {
    WholeOutput.write(bytes.span, to: descriptor).error
  }

  // MARK: Links

  private static func follow(_ name: String) throws(SocketError) -> String {
    var path = name
    for _ in 0..<longestChain {
      // Where a descriptor's link points to is not what it stands for.
      guard !isDescriptor(path), let target = String(linkAt: path) else { return path }
      let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
      path = target.hasPrefix("/") ? target : folder + target
    }
    throw failure(ELOOP, name)
  }

  private static func isDescriptor(_ path: String) -> Bool { descriptors.contains { path.hasPrefix($0) } }

  private static func failure(_ code: Int32, _ path: String) -> SocketError {
    SocketError(operation: "write", address: path, sentence: SocketCalls.sentence(code), code: code)
  }
}
