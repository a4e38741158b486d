import Platform

/// `--wait`: a command asks again until something is so, for as long as `--timeout` says.
enum Waiting {
  static let timeout = CommonFlags.timeout.defaulting(to: "30s")
  /// Between two tries, in microseconds: an emulator that is not there yet can't be waited for otherwise.
  private static let pause: UInt32 = 50_000

  /// `about` says what is waited for.
  static func flag(_ about: String) -> Flag<Bool> { Flag("wait", .toggle, about) }

  /// Looks whether it is so, with `--wait` until it is; answers whether it was in the end.
  static func until(_ settings: Settings, _ wait: Flag<Bool>, _ isSo: () throws -> Bool) rethrows -> Bool {
    let limit = settings.isOn(wait) ? settings[timeout]?.nanoseconds ?? 0 : 0
    let deadline = SystemClock.monotonicNanoseconds() + limit
    while try !isSo() {
      guard SystemClock.monotonicNanoseconds() < deadline else { return false }
      usleep(pause)
    }
    return true
  }
}
