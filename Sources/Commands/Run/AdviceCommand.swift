import Advice
import Basics

/// `advice`: what the providers of a running emulator were seen to do wrong (`Documentation/advice.md`).
enum AdviceCommand {
  private static let failOn = Flag(
    "fail-on", ValueKind<Severity>.leastSeverity, "end with 1 if there is a finding of this severity or worse"
  )
  static let flags: [any FlagDescription] = [
    CommonFlags.jsonObject, failOn, CommonFlags.access, CommonFlags.portsFile,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    let document = try RunningEmulator(settings).document("/api/v1/advice", with: "findings")
    let advice = AdviceList(document)
    let lines = settings.isOn(CommonFlags.jsonObject) ? [document.text] : advice.lines
    for line in lines { try Output.line(line) }
    guard let least = settings[failOn], advice.has(least) else { return .success }
    return .failure
  }
}

extension ValueKind where Value == Severity {
  /// From which one on something fails; a note never does.
  static let leastSeverity = words(severitiesToFail) {
    severitiesToFail.contains($0) ? Severity(rawValue: $0) : nil
  }
}

/// What `exec --advice` asks for.
package enum AdviceRequest: Equatable, Sendable {
  case list
  /// The list, and a failure if there is a finding of this severity or worse.
  case failure(on: Severity)
}

extension ValueKind where Value == AdviceRequest {
  package static let adviceRequest = ValueKind(
    severitiesToFail.joined(separator: "|"), expects: "error or warning, or nothing",
    completion: .optional(severitiesToFail)
  ) { text in
    guard !text.isEmpty else { return .list }
    return ValueKind<Severity>.leastSeverity.parse(text).map { .failure(on: $0) }
  }
}

private let severitiesToFail = [Severity.error, .warning].map(\.rawValue)
