import Basics
import Platform
import Transport

/// `health`: whether an emulator is ready, at once or after some time.
enum HealthCommand {
  private static let wait = Waiting.flag("wait until the emulator is ready")
  static let flags: [any FlagDescription] = [wait, Waiting.timeout, CommonFlags.portsFile]

  static func run(_ settings: Settings) throws -> ExitStatus {
    var problem: String?
    let isReady = Waiting.until(settings, wait) {
      do {
        let answer = try RunningEmulator(settings).ask("GET", "/readyz")
        problem = answer.status == 200 ? nil : String(decoding: answer.body, as: UTF8.self)
      } catch {
        problem = "\(error)"
      }
      return problem == nil
    }
    guard isReady else { throw CommandFailure("the emulator is not ready\(problem.map { ": \($0)" } ?? "")") }
    try Output.line("ready")
    return .success
  }
}

/// `--wait`: a command asks again until something is so, for as long as `--timeout` says.
enum Waiting {
  static let timeout = CommonFlags.timeout.defaulting(to: "30s")
  /// Between two tries, in microseconds: an emulator that is not there yet can't be waited for otherwise.
  private static let pause: UInt32 = 50_000

  /// `about` says what is waited for.
  static func flag(_ about: String) -> Flag<Bool> { Flag("wait", .toggle, about) }

  /// Looks whether it is so, with `--wait` until it is; answers whether it was in the end.
  static func until(_ settings: Settings, _ wait: Flag<Bool>, _ isSo: () throws -> Bool) rethrows -> Bool {
    try until(nanoseconds: settings.isOn(wait) ? settings[timeout]?.nanoseconds ?? 0 : 0, isSo)
  }

  /// The same for so long.
  static func until(nanoseconds: Int64, _ isSo: () throws -> Bool) rethrows -> Bool {
    let deadline = SystemClock.now().adding(nanoseconds: nanoseconds)
    while try !isSo() {
      guard SystemClock.now() < deadline else { return false }
      WorkerThread.sleep(microseconds: pause)
    }
    return true
  }
}
