/// A token that a phone wants.
public struct TokenNeed: Hashable, Sendable {
  /// With the suffix of the push type, if that has a token of its own.
  public let topic: Topic
  /// nil for that of the topic.
  public let context: TokenContext?

  public init(_ topic: Topic, _ context: TokenContext? = nil) {
    (self.topic, self.context) = (topic, context)
  }
}

/// A broadcast channel that a phone listens to.
public struct ChannelNeed: Hashable, Sendable {
  /// The bundle id.
  public let topic: Topic
  /// The channel's id, decoded.
  public let channel: [UInt8]

  public init(_ topic: Topic, _ channel: [UInt8]) { (self.topic, self.channel) = (topic, channel) }
}

/// What a token was made for, where one topic of an app has several: Live Activities have a token for each type of attributes
/// that a push may start one with, and one for each activity that runs
/// (`Documentation/device-behaviour.md#tokens-and-push-types`).
public enum TokenContext: Hashable, Sendable, CustomStringConvertible {
  /// Starts Live Activities with attributes of this type.
  case start(attributesType: String)
  /// Updates and ends the Live Activity that the phone calls so.
  case activity(id: String)

  /// Longest name of either, in bytes of UTF-8.
  public static let maximumNameByteCount = 100

  /// Starting activities with attributes of a type; nil for what can't be told on one line.
  public static func starting(_ attributesType: String) -> TokenContext? {
    isName(attributesType) ? .start(attributesType: attributesType) : nil
  }

  /// Updating an activity; nil for what can't be told on one line.
  public static func updating(_ id: String) -> TokenContext? { isName(id) ? .activity(id: id) : nil }

  /// Reads what `text` writes.
  public init?(_ text: String) {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let name = String(text[text.index(after: colon)...])
    let context: TokenContext? =
      switch text[..<colon] {
      case Self.startWord: .starting(name)
      case Self.activityWord: .updating(name)
      default: nil
      }
    guard let context else { return nil }
    self = context
  }

  /// As it stands in documents, on the wire and in what tokens are derived from: `start:` or `activity:`, and the name.
  public var text: String {
    switch self {
    case .start(let type): "\(Self.startWord):\(type)"
    case .activity(let id): "\(Self.activityWord):\(id)"
    }
  }

  public var description: String { text }

  /// Whether an app that is installed again, or put onto another phone, asks for such a token again. What ran does not run
  /// there.
  public var isAskedForAgain: Bool {
    if case .start = self { true } else { false }
  }

  private static let startWord = "start"
  private static let activityWord = "activity"

  private static func isName(_ text: String) -> Bool {
    (1...maximumNameByteCount).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy {
        $0.properties.generalCategory != .control && !$0.properties.isWhitespace
      }
  }
}
