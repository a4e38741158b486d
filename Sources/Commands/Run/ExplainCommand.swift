import Phone
import PushModel

/// `explain`: what is wrong with a payload, and what a phone would do with it; nothing is sent. Exit 1 if there is an error.
enum ExplainCommand {
  static let payload = Argument(
    ValueKind<PayloadSource>.payload, "the payload, or an .apns file; @- is standard input")
  private static let pushType = Flag(
    "push-type", ValueKind<PushType>.pushType, "apns-push-type, as the provider would send it")
  private static let priority = Flag(
    "priority", ValueKind<UInt8>.number("N", 0...UInt8.max), "apns-priority: 10, 5 or 1 (default: 10)"
  )
  static let appState = Flag(
    "app-state", ValueKind<AppState>.word, default: AppState.suspended.rawValue, "what the app is doing")
  static let version = Flag(
    "ios", ValueKind<IOSVersion>.iosVersion, default: IOSVersion.standard.description, "version of iOS")

  static let flags: [any FlagDescription] = [
    pushType, priority, appState, version, CommonFlags.strictPushType, CommonFlags.jsonObject,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    let source = try SendCommand.bytes(of: settings.arguments.first.flatMap(PayloadSource.init))
    // An .apns file names its app beside what the app sees.
    let payload = (try? SimulatorPayload(source, topic: "com.example.app"))?.payload ?? source
    let explanation = PushExplanation(
      payload: payload, type: settings[pushType], priority: try priority(settings),
      state: settings[appState] ?? .suspended, version: settings[version] ?? .standard,
      isStrict: settings.isOn(CommonFlags.strictPushType))
    let text = settings.isOn(CommonFlags.jsonObject) ? IndentedJSON.text(explanation.json) : explanation.text
    try Output.line(text)
    return explanation.lint.worst == .error ? .failure : .success
  }

  private static func priority(_ settings: Settings) throws -> Priority? {
    guard let number = settings[priority] else { return nil }
    guard let priority = Priority(rawValue: number) else {
      throw UsageError("--priority expects 10, 5 or 1, got \"\(number)\"", command: "explain")
    }
    return priority
  }
}

extension ValueKind where Value == PushType {
  static let pushType = words(PushType.allCases.map(\.name), "TYPE") { PushType(name: $0) }
}

extension ValueKind where Value == IOSVersion {
  static let iosVersion = ValueKind("N", expects: IOSVersion.expected) { IOSVersion($0) }
}

// MARK: - For people

extension PushExplanation {
  var text: String {
    let findings = lint.findings.map { finding in
      let place = finding.place.isEmpty ? "" : "\(finding.place): "
      let sentence = (place + finding.sentence).visible
      return [finding.rule.severity.rawValue, "\(sentence) (\(finding.rule.name))"]
    }
    var lines = TextTable.lines(findings)
    if lines.isEmpty { lines = ["no problem found"] }
    guard !onArrival.isEmpty else { return lines.joined(separator: "\n") }
    lines += ["", "\(setting):"] + Self.rows(onArrival)
    if !onTap.isEmpty { lines += ["when it is tapped:"] + Self.rows(onTap) }
    return lines.joined(separator: "\n")
  }

  private var setting: String {
    let remark = version.remark.map { " (\($0))" } ?? ""
    return "on iOS \(version)\(remark), app \(state == .foreground ? "in the foreground" : state.rawValue)"
  }

  private static func rows(_ events: [PhoneEvent]) -> [String] {
    events.flatMap { event in
      let what = [event.what.name, event.detail].filter { !$0.isEmpty }.joined(separator: " ")
      return [
        "  \(what.visible)", "      \(event.evidence): \(event.rule.sentence) (\(event.rule.name))",
      ]
    }
  }
}
