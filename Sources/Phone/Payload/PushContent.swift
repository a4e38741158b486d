import Basics

/// What the phone reads in a payload. A member of another kind than the documented one counts as absent; `PayloadLint` says so.
package struct PushContent: Sendable {
  package enum Kind: Sendable, Equatable {
    /// Something to see or hear.
    case visible
    /// `content-available`, and nothing to see or hear.
    case silent
    case nothing
  }

  package enum Sound: Sendable, Equatable {
    case standard
    case file(String)
    /// Through mute and Focus, if the app may.
    case critical(String?, volume: Double)

    /// The file, or `default`.
    package var name: String {
      switch self {
      case .standard, .critical(nil, _): "default"
      case .file(let name), .critical(let name?, _): name
      }
    }

    /// nil for the default sound.
    var fileName: String? { name == "default" ? nil : name }

    /// What plays of it where it may not be critical.
    var ordinary: Self { fileName.map { .file($0) } ?? .standard }

    /// The default sound in its place.
    var withoutFile: Self {
      if case .critical(_, let volume) = self { .critical(nil, volume: volume) } else { .standard }
    }
  }

  package enum InterruptionLevel: String, Sendable, CaseIterable {
    case passive, active
    case timeSensitive = "time-sensitive"
    case critical
  }

  package var title: String?
  package var subtitle: String?
  package var body: String?
  package var badge: Int?
  package var sound: Sound?
  package var threadId: String?
  package var category: String?
  package var interruptionLevel: InterruptionLevel
  /// From 0 to 1; which one a summary shows first.
  package let relevance: Double?
  /// Words of a group's summary, from iOS 12 to 14, and for how many it counts.
  package let summaryArgument: String?
  package let summaryCount: Int
  /// What a filter of the Focus decides by.
  package let filterCriteria: String?
  /// The scene that is brought forward.
  package let targetContentId: String?
  /// Shown when it launches the app.
  package let launchImage: String?
  /// Words of the alert's button before iOS 10.
  package let actionKey: String?
  package let isContentAvailable: Bool
  package let isMutable: Bool
  /// What a service extension attached.
  package var attachment: Attachment?
  /// Texts that the app's Localizable strings have, by where they show.
  private let keys: [LocalizedText]

  /// A text of the alert that stands in the app's Localizable strings.
  private struct LocalizedText: Sendable {
    let field: WritableKeyPath<PushContent, String?> & Sendable
    let key: String
    let arguments: [String]
  }

  package init(_ payload: [UInt8]) {
    self.init(aps: JSONReader.read(payload, maximumDepth: JSONText.maximumDepth)?.member("aps") ?? .null)
  }

  /// - Parameter ofActivity: of a Live Activity, whose texts may be named inside `title` and `body`.
  init(aps: JSONValue, ofActivity: Bool = false) {
    let alert = aps.member("alert")
    keys = Self.keys(of: alert, ofActivity)
    if case .string(let text)? = alert {
      (title, subtitle, body) = (nil, nil, text.isEmpty ? nil : text)
    } else {
      title = Self.text("title", of: alert)
      subtitle = Self.text("subtitle", of: alert)
      body = Self.text("body", of: alert)
    }
    badge = Self.whole(aps.member("badge"))
    sound = Self.sound(aps.member("sound"))
    threadId = aps.string("thread-id")
    category = aps.string("category")
    interruptionLevel = aps.string("interruption-level").flatMap(InterruptionLevel.init) ?? .active
    isContentAvailable = Self.whole(aps.member("content-available")) == 1
    isMutable = Self.whole(aps.member("mutable-content")) == 1
    relevance = aps.member("relevance-score")?.double
    (filterCriteria, targetContentId) = (aps.string("filter-criteria"), aps.string("target-content-id"))
    summaryArgument = alert?.string("summary-arg")
    summaryCount = min(max(0, Self.whole(alert?.member("summary-arg-count")) ?? 1), 1_000_000)
    (launchImage, actionKey) = (alert?.string("launch-image"), alert?.string("action-loc-key"))
    localize { $0 }
  }

  /// Takes the texts that are given by a key; without the app's strings a key stands for itself.
  package mutating func localize(_ format: (String) -> String) {
    for text in keys {
      self[keyPath: text.field] = LocalizedFormat.fill(format(text.key), with: text.arguments)
    }
  }

  /// Takes the title away that stands in the app's Localizable strings.
  mutating func forgetTitleKey() {
    if keys.contains(where: { $0.field == \PushContent.title }) { title = nil }
  }

  /// Whether there is a text to show.
  package var hasText: Bool { title != nil || subtitle != nil || body != nil }

  package var kind: Kind {
    if hasText || sound != nil || badge != nil { return .visible }
    return isContentAvailable ? .silent : .nothing
  }

  /// The texts in a line.
  package var line: String {
    [title, subtitle, body].compactMap { $0 }.joined(separator: " – ")
  }

  private static func text(_ name: String, of alert: JSONValue?) -> String? {
    alert?.string(name).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The keys of texts that the alert does not spell out.
  private static func keys(of alert: JSONValue?, _ ofActivity: Bool) -> [LocalizedText] {
    let fields: [(WritableKeyPath<PushContent, String?> & Sendable, String, String)] = [
      (\.title, "title", "title-"), (\.subtitle, "subtitle", "subtitle-"), (\.body, "body", ""),
    ]
    return fields.compactMap { field, name, prefix in
      if ofActivity, let inner = alert?.member(name), let key = text("loc-key", of: inner) {
        return LocalizedText(field: field, key: key, arguments: inner.strings("loc-args") ?? [])
      }
      guard text(name, of: alert) == nil, let key = text("\(prefix)loc-key", of: alert) else { return nil }
      return LocalizedText(field: field, key: key, arguments: alert?.strings("\(prefix)loc-args") ?? [])
    }
  }

  private static func whole(_ value: JSONValue?) -> Int? {
    switch value {
    case .integer(let number): Int(exactly: number)
    case .number(let number): Int(exactly: number)
    default: nil
    }
  }

  static func sound(_ value: JSONValue?) -> Sound? {
    if case .string(let name)? = value {
      return name.isEmpty ? nil : name == "default" ? .standard : .file(name)
    }
    guard let value, case .object = value else { return nil }
    let name = value.string("name")
    guard whole(value.member("critical")) == 1 else {
      return name.map { $0 == "default" ? .standard : .file($0) }
    }
    return .critical(name, volume: min(max(value.member("volume")?.double ?? 1, 0), 1))
  }
}
