/// How a program is started: with the signals that this one ignores or blocks as they are by default.
///
/// What this process ignores is its own affair: with SIGPIPE ignored, `yes | head -1` would complain.
struct SpawnAttributes: ~Copyable {
  #if canImport(Darwin)
    private var attributes: posix_spawnattr_t?
  #else
    private var attributes = posix_spawnattr_t()
  #endif

  /// With a process group of its own it gets no signals from the terminal; and it inherits no descriptors but those that it is
  /// handed, where the system can promise that.
  init(ownGroup: Bool = false) {
    posix_spawnattr_init(&attributes)
    var ignored = sigset_t()
    sigemptyset(&ignored)
    // Who has started this process may have had it block more than the signals of writing, and SIGTERM has to arrive.
    var blocked = sigset_t()
    sigemptyset(&blocked)
    for number in SignalMask.ofWriting { sigaddset(&ignored, number) }
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
    var attributes = attributes
    posix_spawnattr_destroy(&attributes)
  }

  #if canImport(Darwin)
    typealias Pointer = UnsafePointer<posix_spawnattr_t?>
  #else
    typealias Pointer = UnsafePointer<posix_spawnattr_t>
  #endif

  /// Lends them for the call that starts the program.
  func lend<Result>(_ body: (Pointer) -> Result) -> Result { withUnsafePointer(to: attributes, body) }
}
