import Transport

/// `health`: whether an emulator is ready, at once or after some time.
enum HealthCommand {
  private static let wait = Waiting.flag("wait until it is ready")
  static let flags: [any FlagDescription] = [wait, Waiting.timeout, CommonFlags.portsFile]

  static func run(_ settings: Settings) throws -> ExitStatus {
    var problem: String?
    let isReady = Waiting.until(settings, wait) {
      problem = tryOnce(settings)
      return problem == nil
    }
    guard isReady else { throw CommandFailure(problem ?? "not ready") }
    try Output.line("ready")
    return .success
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
