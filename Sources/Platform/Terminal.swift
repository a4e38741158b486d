/// The terminal that this process was started from, if it was.
public enum Terminal {
  /// Whether this process belongs to the group that the terminal's signals go to. Asks the terminal itself: standard input
  /// may be a pipe.
  public static var isInForeground: Bool {
    let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp()
  }
}
