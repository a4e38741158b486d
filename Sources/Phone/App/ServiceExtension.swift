import Basics

/// What a service extension does with a notification: a script instead of code.
package struct ServiceExtension: Sendable {
  /// Members of `aps` that it sets, as a payload has them; `alert` may be an object of texts.
  package var changes: JSONValue?
  package var attachment: Attachment?
  /// What it fetches and attaches, instead of `attachment`.
  package var download: ExtensionDownload?
  /// How long it takes besides, in seconds; 30 are the most.
  package var seconds = 0.0
  /// Whether `serviceExtensionTimeWillExpire` hands over what there is.
  package var handsOver = false
  package var crashes = false
  package var suppresses = false

  package init() {}

  /// Most time that it has, in seconds.
  static let timeout = 30.0

  /// How long it takes with this push, in seconds.
  func duration(_ push: PhonePush) -> Double {
    guard let download, push.addresses[download.from] != nil else { return seconds }
    return seconds + download.duration
  }

  /// What it attaches to this push, if there is time for it; it may be something that iOS does not take.
  func attachment(_ push: PhonePush) -> Attachment? {
    guard let download else { return attachment }
    return duration(push) > Self.timeout ? nil : download.attachment(push.addresses)
  }

  /// What shows after it has run, or nil for nothing, and the rule by which.
  func run(on push: PhonePush, mayFilter: Bool) -> (content: PushContent?, rule: PhoneRule) {
    let (content, isLate) = (push.content, duration(push) > Self.timeout)
    if crashes { return (content, .extensionCrashed) }
    if isLate, !handsOver { return (content, .extensionTimeOut) }
    if suppresses { return mayFilter ? (nil, .extensionSuppresses) : (content, .extensionMayNotSuppress) }
    let changed = changed(push)
    guard changed.hasText else { return (content, .extensionRemovedText) }
    return (changed, isLate ? .extensionHandsOver : .extensionChanged)
  }

  private func changed(_ push: PhonePush) -> PushContent {
    var result = push.content
    if let changes { result.take(PushContent(aps: changes), where: { changes.member($0) != nil }) }
    if let attachment = attachment(push), attachment.isValid { result.attachment = attachment }
    return result
  }
}

extension PushContent {
  /// Takes over what `isNamed` says that the other one has, by the name of the member.
  fileprivate mutating func take(_ other: PushContent, where isNamed: (String) -> Bool) {
    if isNamed("alert") { (title, subtitle, body) = (other.title, other.subtitle, other.body) }
    if isNamed("badge") { badge = other.badge }
    if isNamed("sound") { sound = other.sound }
    if isNamed("thread-id") { threadId = other.threadId }
    if isNamed("category") { category = other.category }
    if isNamed("interruption-level") { interruptionLevel = other.interruptionLevel }
  }
}

extension ServiceExtension: JSONDocument {
  package static let form = JSONForm<ServiceExtension>([
    JSONField("changes", .any, \.changes),
    JSONField("attachment", Attachment.form.kind(Attachment()), \.attachment),
    JSONField("download", ExtensionDownload.form.kind(ExtensionDownload()), \.download),
    JSONField(
      "seconds", .number(0...3600), get: { $0.seconds == 0 ? nil : $0.seconds }, set: { $0.seconds = $1 }),
    JSONField(flag: "handsOver", \.handsOver), JSONField(flag: "crashes", \.crashes),
    JSONField(flag: "suppresses", \.suppresses),
  ])
}
