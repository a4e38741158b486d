import Platform

/// The signals that this process holds back.
enum SignalMask {
  /// Holds back none. A parent's worker thread may pass on a mask with nearly all of them, and then no SIGTERM would end
  /// the emulator and no SIGCHLD would tell of a command that ended.
  static func clear() {
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
  }
}
