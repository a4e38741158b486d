import CLibrary

/// Starts a program: with this one's variables, and with the signals that this one ignores or blocks as they are by default.
///
/// What this process ignores is its own affair: with SIGPIPE ignored, `yes | head -1` would complain.
@safe public struct Spawn: ~Copyable {
  #if canImport(Darwin)
    private var attributes: posix_spawnattr_t?
    private var actions: posix_spawn_file_actions_t?
  #else
    private var attributes = posix_spawnattr_t()
    private var actions = unsafe posix_spawn_file_actions_t()
  #endif

  /// With a process group of its own it gets no signals from the terminal; and it inherits no descriptors but those that it is
  /// handed, where the system can promise that.
  init(ownGroup: Bool = false) {
    unsafe posix_spawnattr_init(&attributes)
    unsafe posix_spawn_file_actions_init(&actions)
    var ignored = SignalMask.set(SignalMask.ofWriting)
    // Who has started this process may have had it block more than the signals of writing, and SIGTERM has to arrive.
    var blocked = SignalMask.set([])
    unsafe posix_spawnattr_setsigdefault(&attributes, &ignored)
    unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
    var flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
    if ownGroup {
      flags |= POSIX_SPAWN_SETPGROUP
      unsafe posix_spawnattr_setpgroup(&attributes, 0)
      #if canImport(Darwin)
        flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
      #endif
    }
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
  }

  deinit {
    var (attributes, actions) = unsafe (attributes, actions)
    unsafe posix_spawnattr_destroy(&attributes)
    unsafe posix_spawn_file_actions_destroy(&actions)
  }

  /// The program gets `descriptor` under another number.
  mutating func give(_ descriptor: Int32, as number: Int32) {
    unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, number)
  }

  /// The program gets nothing to read under this number: of a group that is not in the foreground, it would be stopped at the terminal's
  /// first line.
  mutating func giveNothing(as number: Int32) {
    unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDONLY, 0)
  }

  /// Starts `words`, looking for the program in PATH if it is named without a folder. `variables` come on top of this process's
  /// own. `operation` is what an error calls it.
  mutating func start(
    _ words: [String], variables: [String: String] = [:], operation: String = "start"
  ) throws(SocketError) -> pid_t {
    let program = words.first ?? ""
    let kept = Self.entries(of: ProcessEnvironment.entries, without: variables.keys.map { "\($0)=" })
    var arguments = SystemWords(words.map { Array($0.utf8CString) })
    var settings = SystemWords(kept + variables.map { Array("\($0.key)=\($0.value)".utf8CString) })
    var child = pid_t()
    let status = unsafe arguments.lend { arguments in
      unsafe settings.lend { unsafe posix_spawnp(&child, program, &actions, &attributes, arguments, $0) }
    }
    guard status == 0 else {
      throw SocketError(
        operation: operation, address: program, sentence: SocketCalls.sentence(status), code: status)
    }
    return child
  }

  /// Those that begin with none of `prefixes`, as they are: their values may be no UTF-8.
  public static func entries(of environment: [[CChar]], without prefixes: [String]) -> [[CChar]] {
    let prefixes = prefixes.map { $0.utf8CString.dropLast() }
    return environment.filter { entry in !prefixes.contains { entry.starts(with: $0) } }
  }

  /// How a child ended, as a shell tells it: its exit status, or 128 and the signal; nil while it runs.
  static func exitStatus(of child: pid_t) -> Int32? {
    guard let status = status(of: child, WNOHANG) else { return nil }
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : 128 + signal
  }

  /// Waits for a child's end, if it is one.
  static func awaitEnd(of child: pid_t) {
    while status(of: child, 0) == nil, errno == EINTR {}
  }

  private static func status(of child: pid_t, _ options: Int32) -> Int32? {
    var status: Int32 = 0
    return unsafe waitpid(child, &status, options) == child ? status : nil
  }
}

/// Words for a call of the system, each with a zero at its end: copies that are freed with this value.
@safe struct SystemWords: ~Copyable {
  private var pointers: [UnsafeMutablePointer<CChar>?]

  init(_ words: [[CChar]]) { unsafe pointers = words.map { unsafe strdup($0) } + [nil] }

  deinit { unsafe pointers.forEach { unsafe free($0) } }

  /// Lends them, behind the last of which is nothing, for one call.
  mutating func lend<Result>(_ call: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result) -> Result
  {
    unsafe call(&pointers)
  }
}
