import CLibrary

/// Starts a program: with this one's variables, and with the signals that this one ignores or blocks as they are by default.
///
/// What this process ignores is its own affair: with SIGPIPE ignored, `yes | head -1` would complain.
public struct Spawn: ~Copyable {
  #if canImport(Darwin)
    private var attributes: posix_spawnattr_t?
    private var actions: posix_spawn_file_actions_t?
  #else
    private var attributes = posix_spawnattr_t()
    private var actions = posix_spawn_file_actions_t()
  #endif

  /// With a process group of its own it gets no signals from the terminal; and it inherits no descriptors but those that it is
  /// handed, where the system can promise that.
  init(ownGroup: Bool = false) {
    posix_spawnattr_init(&attributes)
    posix_spawn_file_actions_init(&actions)
    var ignored = SignalMask.set(SignalMask.ofWriting)
    // Who has started this process may have had it block more than the signals of writing, and SIGTERM has to arrive.
    var blocked = SignalMask.set([])
    posix_spawnattr_setsigdefault(&attributes, &ignored)
    posix_spawnattr_setsigmask(&attributes, &blocked)
    var flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
    if ownGroup {
      flags |= POSIX_SPAWN_SETPGROUP
      posix_spawnattr_setpgroup(&attributes, 0)
      #if canImport(Darwin)
        flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
      #endif
    }
    posix_spawnattr_setflags(&attributes, Int16(flags))
  }

  deinit {
    var (attributes, actions) = (attributes, actions)
    posix_spawnattr_destroy(&attributes)
    posix_spawn_file_actions_destroy(&actions)
  }

  /// The program gets `descriptor` under another number.
  mutating func give(_ descriptor: Int32, as number: Int32) {
    posix_spawn_file_actions_adddup2(&actions, descriptor, number)
  }

  /// The program gets nothing to read under this number: of a group that is not in the foreground, it would be stopped at the terminal's
  /// first line.
  mutating func giveNothing(as number: Int32) {
    posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDONLY, 0)
  }

  /// Starts `words`, looking for the program in PATH if it is named without a folder. `variables` come on top of this process's
  /// own. `operation` is what an error calls it.
  mutating func start(
    _ words: [String], variables: [String: String] = [:], operation: String = "start"
  ) throws(SocketError) -> pid_t {
    let program = words.first ?? ""
    var arguments = Self.pointers(words)
    let added = Self.pointers(variables.map { "\($0.key)=\($0.value)" })
    defer { for pointer in arguments + added { free(pointer) } }
    var settings = Self.entries(of: environ, without: variables.keys.map { "\($0)=" }) + added
    var child = pid_t()
    let status = posix_spawnp(&child, program, &actions, &attributes, &arguments, &settings)
    guard status == 0 else {
      throw SocketError(
        operation: operation, address: program, sentence: SocketCalls.sentence(status), code: status)
    }
    return child
  }

  /// Those that begin with none of `prefixes`, as they are: their values may be no UTF-8.
  public static func entries(
    of environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, without prefixes: [String]
  ) -> [UnsafeMutablePointer<CChar>?] {
    var (result, entry): ([UnsafeMutablePointer<CChar>?], _) = ([], environment)
    while let text = entry.pointee {
      if !prefixes.contains(where: { strncmp(text, $0, $0.utf8.count) == 0 }) { result.append(text) }
      entry += 1
    }
    return result
  }

  /// Copies for a call of the system, which its caller frees.
  static func pointers(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
    texts.map { strdup($0) } + [nil]
  }

  /// How a child ended, as a shell tells it: its exit status, or 128 and the signal; nil while it runs.
  static func exitStatus(of child: pid_t) -> Int32? {
    var status: Int32 = 0
    guard waitpid(child, &status, WNOHANG) == child else { return nil }
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : 128 + signal
  }
}
