import Platform
import Transport

/// `health`: whether an emulator is ready, at once or with some patience.
enum HealthCommand {
  private static let wait = Flag("wait", .toggle, "wait until it is ready")
  private static let timeout = CommonFlags.timeout.defaulting(to: "30s")
  static let flags: [any FlagDescription] = [wait, timeout, CommonFlags.portsFile]
  /// Between two tries, in microseconds: an emulator that is not there yet can't be waited for otherwise.
  private static let pause: UInt32 = 50_000

  static func run(_ settings: Settings) throws -> ExitStatus {
    let patience = settings.isOn(wait) ? settings[timeout]?.nanoseconds ?? 0 : 0
    let deadline = SystemClock.monotonicNanoseconds() + patience
    while true {
      let problem = tryOnce(settings)
      guard let problem else {
        try Output.line("ready")
        return .success
      }
      guard SystemClock.monotonicNanoseconds() < deadline else { throw CommandFailure(problem) }
      usleep(pause)
    }
  }

  /// What is wrong; nil if it is ready.
  private static func tryOnce(_ settings: Settings) -> String? {
    do {
      let answer = try RunningEmulator(settings).ask("GET", "/readyz")
      return answer.status == 200 ? nil : "not ready: \(String(decoding: answer.body, as: UTF8.self))"
    } catch {
      return "not ready: \(error)"
    }
  }
}
