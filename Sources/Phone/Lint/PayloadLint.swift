import Basics
import PushModel

/// Looks for what is wrong with a push before it is sent: what Apple would refuse, and what a phone would not do.
///
///     let findings = PayloadLint(payload: bytes, type: .alert, priority: .immediate).findings
package struct PayloadLint: Sendable {
  /// In the order of the payload; those of the push as a whole come first.
  package private(set) var findings: [LintFinding] = []

  /// - Parameters:
  ///   - type: nil where the provider says none; likewise `priority`.
  package init(payload: [UInt8], type: PushType?, priority: Priority?) {
    checkSize(payload.count, type ?? .alert)
    if type == nil {
      add(
        .missingType, "",
        "apns-push-type is missing: watchOS 6 requires it, and Apple recommends it for all others")
    }
    if type == .background, priority == .immediate {
      add(.backgroundPriority, "", "a background push needs priority 5, got 10")
    }
    if type == .background, priority == nil {
      add(.backgroundWithoutPriority, "", "a background push needs priority 5; without a priority it has 10")
    }
    if !payload.isEmpty { checkContent(payload, type ?? .alert) }
  }

  /// The worst there is; nil if all is well.
  package var worst: LintRule.Severity? {
    LintRule.Severity.allCases.first { severity in findings.contains { $0.rule.severity == severity } }
  }

  private mutating func add(_ rule: LintRule, _ place: String, _ sentence: String) {
    findings.append(LintFinding(rule: rule, place: place, sentence: sentence))
  }

  // MARK: The push as a whole

  private mutating func checkContent(_ payload: [UInt8], _ type: PushType) {
    guard let document = JSONReader.read(payload, maximumDepth: JSONText.maximumDepth) else {
      let problem = JSONReader.problem(of: payload, maximumDepth: JSONText.maximumDepth)
      let why = problem.map { "\($0)" } ?? "expected JSON, got something else"
      return add(
        .notJson, "", "the payload is not JSON: \(why); Apple accepts the push, but the app gets nothing")
    }
    guard case .object(let members) = document else {
      return add(.notAnObject, "", "expected a JSON object, got \(document.shortText)")
    }
    check(document, members, type)
  }

  private mutating func checkSize(_ count: Int, _ type: PushType) {
    if count == 0 { add(.empty, "", "the payload is empty: 400 PayloadEmpty") }
    guard count > type.maximumPayload else { return }
    add(
      .tooLarge, "",
      "a payload of type \(type.name) may have \(type.maximumPayload) bytes, this has \(count): 413 PayloadTooLarge"
    )
  }

  private mutating func check(_ document: JSONValue, _ members: [(String, JSONValue)], _ type: PushType) {
    for (name, value) in members where name != "aps" {
      checkSecret(name, value)
      guard ApsKey.aps.contains(where: { $0.name == name }), name != "event" else { continue }
      add(.misplacedKey, name, "belongs inside aps; outside, the phone takes it for the app's own data")
    }
    guard let aps = document.member("aps") else {
      if type != .mdm, type != .voip {
        add(.missingAps, "aps", "expected an object, got nothing: the phone does nothing with it")
      }
      return
    }
    guard case .object(let keys) = aps else { return wrong("aps", "an object", aps) }
    check(keys, "aps", ApsKey.aps, type)
    checkMeaning(aps, PushContent(aps: aps, ofActivity: type == .liveactivity), type)
  }

  // MARK: Members

  private mutating func check(
    _ members: [(String, JSONValue)], _ place: String, _ known: [ApsKey], _ type: PushType
  ) {
    for (name, value) in members {
      let path = "\(place).\(name)"
      guard let key = known.first(where: { $0.name == name }) else {
        add(.unknownKey, path, "iOS knows no such key and ignores it\(Self.meant(name, known))")
        continue
      }
      guard key.kind.takes(value) else {
        wrong(path, key.kind.rawValue, value)
        continue
      }
      guard case .object(let inner) = value else { continue }
      switch name {
      case "alert": check(inner, path, type == .liveactivity ? ApsKey.activityAlert : ApsKey.alert, type)
      case "sound": check(inner, path, ApsKey.sound, type)
      case "title", "body": checkLocalized(value, inner, path, type)
      default: break
      }
    }
  }

  /// A text of a Live Activity that the app's strings have.
  private mutating func checkLocalized(
    _ text: JSONValue, _ members: [(String, JSONValue)], _ path: String, _ type: PushType
  ) {
    check(members, path, ApsKey.localized, type)
    if text.member("loc-key") == nil { wrong("\(path).loc-key", "a string", nil) }
    checkArguments(text, "", path)
  }

  private mutating func wrong(_ place: String, _ expected: String, _ value: JSONValue?) {
    add(
      .wrongType, place, "expected \(expected), got \(value?.shortText ?? "nothing"): the phone ignores it")
  }

  /// The key that differs in case or in what stands between its words.
  private static func meant(_ name: String, _ known: [ApsKey]) -> String {
    let letters = { (text: String) in text.lowercased().filter { $0.isLetter } }
    return known.first { letters($0.name) == letters(name) }.map { "; \($0.name) is meant?" } ?? ""
  }

  // MARK: What they mean together

  private mutating func checkMeaning(_ aps: JSONValue, _ content: PushContent, _ type: PushType) {
    switch type {
    case .alert: checkAlert(content)
    case .background: checkBackground(content)
    case .liveactivity: checkActivity(aps)
    case .controls, .widgets:
      if aps.member("content-changed") == nil {
        add(.contentNotChanged, "aps.content-changed", "expected true, got nothing: the phone loads nothing")
      }
    default: break
    }
    if content.isMutable, !content.hasText {
      add(
        .mutableWithoutText, "aps.mutable-content",
        "without title, subtitle or body the service extension does not run")
    }
    for prefix in ["title-", "subtitle-", ""] { checkArguments(aps.member("alert"), prefix, "aps.alert") }
    checkRanges(aps, type)
    checkEntitlements(content)
    checkAge(aps)
    if let body = content.body, body.count > Self.longBody {
      add(.longBody, "aps.alert", "\(body.count) characters; a banner shows some \(Self.longBody)")
    }
  }

  /// What four lines hold, in characters: our choice.
  private static let longBody = 178

  private mutating func checkAlert(_ content: PushContent) {
    guard content.kind != .visible else { return }
    let more = content.kind == .silent ? "; a silent push is of type background" : ""
    add(.alertInvisible, "aps", "a push of type alert has an alert, badge or sound, this has none\(more)")
  }

  private mutating func checkBackground(_ content: PushContent) {
    if !content.isContentAvailable {
      add(
        .backgroundNotAvailable, "aps.content-available",
        "a background push needs 1 here: without it no app is woken")
    }
    guard content.kind == .visible else { return }
    let seen = [("alert", content.hasText), ("badge", content.badge != nil), ("sound", content.sound != nil)]
    let names = seen.filter(\.1).map(\.0).joined(separator: ", ")
    add(
      content.isContentAvailable ? .notSilent : .backgroundVisible, "aps",
      "a push of type background must not have \(names), with which it is not silent")
  }

  private mutating func checkActivity(_ aps: JSONValue) {
    let event = aps.string("event")
    guard let event, ["start", "update", "end"].contains(event) else {
      return add(
        .activityIncomplete, "aps.event",
        "expected start, update or end, got \(aps.member("event")?.shortText ?? "nothing")")
    }
    var needed = ["timestamp"]
    if event != "end" { needed.append("content-state") }
    if event == "start" { needed += ["attributes-type", "attributes", "alert"] }
    for name in needed where aps.member(name) == nil {
      add(.activityIncomplete, "aps.\(name)", "\(event) of a Live Activity needs it")
    }
  }

  private mutating func checkArguments(_ alert: JSONValue?, _ prefix: String, _ place: String) {
    let arguments = alert?.strings("\(prefix)loc-args") ?? []
    guard let key = alert?.string("\(prefix)loc-key") else {
      guard !arguments.isEmpty else { return }
      return add(
        .argumentsWithoutKey, "\(place).\(prefix)loc-args",
        "\(prefix)loc-key is missing: the arguments are not used")
    }
    let wanted = LocalizedFormat.count(in: key)
    guard wanted > arguments.count else { return }
    add(
      .argumentsWithoutKey, "\(place).\(prefix)loc-key",
      "asks for \(wanted) arguments, there are \(arguments.count)")
  }

  private mutating func checkRanges(_ aps: JSONValue, _ type: PushType) {
    if let number = aps.member("badge")?.double, number < 0 { range("aps.badge", "0 or more", number) }
    if type != .liveactivity, let score = aps.member("relevance-score")?.double, !(0...1).contains(score) {
      range("aps.relevance-score", "a number from 0 to 1", score)
    }
    if let volume = aps.member("sound")?.member("volume")?.double, !(0...1).contains(volume) {
      range("aps.sound.volume", "a number from 0 to 1", volume)
    }
    let levels = PushContent.InterruptionLevel.allCases.map(\.rawValue)
    if let level = aps.string("interruption-level"), !levels.contains(level) {
      add(
        .outOfRange, "aps.interruption-level",
        "expected one of \(levels.joined(separator: ", ")), got \"\(level)\"")
    }
  }

  private mutating func range(_ place: String, _ expected: String, _ number: Double) {
    add(.outOfRange, place, "expected \(expected), got \(JSONValue.number(number).text)")
  }

  private mutating func checkEntitlements(_ content: PushContent) {
    if content.interruptionLevel == .timeSensitive {
      add(
        .needsEntitlement, "aps.interruption-level", "time-sensitive needs its entitlement, else it is active"
      )
    }
    var isCritical = content.interruptionLevel == .critical
    if case .critical? = content.sound { isCritical = true }
    if isCritical {
      add(
        .needsEntitlement, "aps",
        "critical alerts need their entitlement and permission, else they play as ordinary ones")
    }
  }

  private mutating func checkAge(_ aps: JSONValue) {
    for name in ["summary-arg", "summary-arg-count"] {
      for (value, place) in [(aps, "aps"), (aps.member("alert") ?? .null, "aps.alert")]
      where value.member(name) != nil {
        add(.noLongerRead, "\(place).\(name)", "is ignored since iOS 15")
      }
    }
  }

  // MARK: Secrets

  private static let secretWords = [
    "password", "passwd", "secret", "apikey", "authorization", "privatekey", "creditcard", "ssn",
  ]

  private mutating func checkSecret(_ name: String, _ value: JSONValue) {
    let letters = name.lowercased().filter { $0.isLetter }
    var isSecret = Self.secretWords.contains { letters.contains($0) }
    if case .string(let text) = value {
      isSecret =
        isSecret || text.hasPrefix("eyJ") && text.count(where: { $0 == "." }) == 2
        || text.contains("-----BEGIN ")
    }
    guard isSecret else { return }
    add(
      .secret, name,
      "looks like a secret; payloads are shown on lock screens and in logs: send an id that the app looks up"
    )
  }
}

extension JSONValue {
  /// For a sentence.
  fileprivate var shortText: String {
    switch self {
    case .object: "an object"
    case .array: "an array"
    case .string(let text): DocumentError.quoted(text)
    default: text
    }
  }
}
