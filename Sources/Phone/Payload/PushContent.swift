import PushModel

/// A push as the phone gets it.
public struct PhonePush: Sendable {
  public let id: UInt64
  public let topic: Topic
  public let content: PushContent
  /// nil where the provider said none.
  public var type: PushType?
  public var priority: Priority
  public var collapseId: String?

  public init(
    id: UInt64, topic: Topic, payload: [UInt8], type: PushType? = nil, priority: Priority = .immediate,
    collapseId: String? = nil
  ) {
    (self.id, self.topic, self.type, self.priority, self.collapseId) = (id, topic, type, priority, collapseId)
    content = PushContent(payload)
  }
}

/// What the phone reads in a payload. A member of another kind than the documented one counts as absent; `PayloadLint` says so.
public struct PushContent: Sendable {
  public enum Kind: Sendable, Equatable {
    /// Something to see or hear.
    case visible
    /// `content-available`, and nothing to see or hear.
    case silent
    case nothing
  }

  public enum Sound: Sendable, Equatable {
    case standard
    case file(String)
    /// Through mute and Focus, if the app may.
    case critical(String?, volume: Double)

    /// The file, or `default`.
    public var name: String {
      switch self {
      case .standard, .critical(nil, _): "default"
      case .file(let name), .critical(let name?, _): name
      }
    }
  }

  public enum InterruptionLevel: String, Sendable, CaseIterable {
    case passive, active
    case timeSensitive = "time-sensitive"
    case critical
  }

  public let title: String?
  public let subtitle: String?
  public let body: String?
  public let badge: Int?
  public let sound: Sound?
  public let threadId: String?
  public let category: String?
  public let interruptionLevel: InterruptionLevel
  public let isContentAvailable: Bool
  public let isMutable: Bool

  public init(_ payload: [UInt8]) {
    self.init(aps: JSONReader.read(payload, maximumDepth: JSONText.maximumDepth)?.member("aps") ?? .null)
  }

  init(aps: JSONValue) {
    let alert = aps.member("alert")
    if case .string(let text)? = alert {
      (title, subtitle, body) = (nil, nil, text.isEmpty ? nil : text)
    } else {
      title = Self.text("title", keys: "title-", of: alert)
      subtitle = Self.text("subtitle", keys: "subtitle-", of: alert)
      body = Self.text("body", keys: "", of: alert)
    }
    badge = Self.whole(aps.member("badge"))
    sound = Self.sound(aps.member("sound"))
    threadId = aps.string("thread-id")
    category = aps.string("category")
    interruptionLevel = aps.string("interruption-level").flatMap(InterruptionLevel.init) ?? .active
    isContentAvailable = Self.whole(aps.member("content-available")) == 1
    isMutable = Self.whole(aps.member("mutable-content")) == 1
  }

  /// Whether there is a text to show.
  public var hasText: Bool { title != nil || subtitle != nil || body != nil }

  public var kind: Kind {
    if hasText || sound != nil || badge != nil { return .visible }
    return isContentAvailable ? .silent : .nothing
  }

  /// The texts in a line.
  public var line: String {
    [title, subtitle, body].compactMap { $0 }.joined(separator: " – ")
  }

  /// A text of the alert, else what its key stands for: without the app's Localizable strings that is the key itself.
  private static func text(_ name: String, keys prefix: String, of alert: JSONValue?) -> String? {
    if let text = alert?.string(name), !text.isEmpty { return text }
    guard let key = alert?.string("\(prefix)loc-key"), !key.isEmpty else { return nil }
    return LocalizedFormat.fill(key, with: alert?.strings("\(prefix)loc-args") ?? [])
  }

  private static func whole(_ value: JSONValue?) -> Int? {
    switch value {
    case .integer(let number): Int(exactly: number)
    case .number(let number): Int(exactly: number)
    default: nil
    }
  }

  private static func sound(_ value: JSONValue?) -> Sound? {
    if case .string(let name)? = value {
      return name.isEmpty ? nil : name == "default" ? .standard : .file(name)
    }
    guard let value, case .object = value else { return nil }
    let name = value.string("name")
    guard whole(value.member("critical")) == 1 else {
      return name.map { $0 == "default" ? .standard : .file($0) }
    }
    let volume: Double =
      switch value.member("volume") {
      case .integer(let whole): Double(whole)
      case .number(let number): number
      default: 1
      }
    return .critical(name, volume: min(max(volume, 0), 1))
  }
}
