import Basics

/// An app's own view in an expanded notification.
package struct ContentExtension: Sendable, Equatable {
  /// What it answers to a chosen action; nil if it does not implement `didReceive(response)`.
  package enum Answer: String, Sendable, CaseIterable {
    case keep = "do-not-dismiss"
    case dismiss
    case forward = "dismiss-and-forward"
  }

  package var name = ""
  /// Of `UNNotificationExtensionCategory`.
  package var categories: [String] = []
  package var answer: Answer?
  /// How long it takes to answer, in seconds: until then the notification stays.
  package var answerSeconds = 0.0
  /// Whether the header and its own content are all that shows.
  package var hidesDefaultContent = false
  /// `UNNotificationExtensionUserInteractionEnabled`.
  package var takesTouches = false
  /// `UNNotificationExtensionInitialContentSizeRatio`: its first height, by its width.
  package var sizeRatio: Double?
  /// `preferredContentSize`, in points: what it asks for once it runs.
  package var preferredSize: ContentSize?
  package var mediaPlayButton: MediaPlayButton?

  /// How an expanded notification looks.
  func view(on version: IOSVersion) -> JSONValue {
    let members: [(String, JSONValue)] = [
      ("name", .string(name)), ("defaultContent", .bool(!hidesDefaultContent)),
      ("touches", .bool(takesTouches && version >= IOSVersion(12))),
      ("sizeRatio", sizeRatio.map { .number($0) } ?? .null),
    ]
    let more = [
      ("preferredContentSize", preferredSize?.document), ("mediaPlayButton", mediaPlayButton?.document),
    ]
    return .object(members + more.compactMap { name, value in value.map { (name, $0) } })
  }
}

extension ContentExtension: JSONDocument {
  package static let form = JSONForm<ContentExtension>([
    JSONField("name", .text, \.name).needed, JSONField("categories", .list(of: .text), \.categories).needed,
    JSONField("answer", .word, \.answer),
    JSONField(
      "answerSeconds", .number(0...3600), get: { $0.answerSeconds == 0 ? nil : $0.answerSeconds },
      set: { $0.answerSeconds = $1 }),
    JSONField("preferredContentSize", ContentSize.form.kind(ContentSize()), \.preferredSize),
    JSONField(flag: "hidesDefaultContent", \.hidesDefaultContent),
    JSONField(flag: "takesTouches", \.takesTouches), JSONField("sizeRatio", .number(0...10), \.sizeRatio),
    JSONField("mediaPlayButton", MediaPlayButton.form.kind(MediaPlayButton()), \.mediaPlayButton),
  ])
}

/// Width and height of a view, in points.
package struct ContentSize: JSONDocument, Equatable {
  package var (width, height) = (0.0, 0.0)

  private static let length = JSONKind<Double>.number(0...10_000)

  package static let form = JSONForm<ContentSize>([
    JSONField("width", length, \.width).needed, JSONField("height", length, \.height).needed,
  ])
}

/// The button that plays what a content extension shows (`mediaPlayPauseButtonType`, `…Frame`, `…TintColor`).
package struct MediaPlayButton: JSONDocument, Equatable {
  package enum Kind: String, Sendable, CaseIterable {
    case none, `default`
    /// Half transparent, over the film.
    case overlay
  }

  package var type = Kind.none
  /// In the extension's view, in points.
  package var frame: Area?
  /// As `#ff9500`.
  package var tint: String?

  package static let form = JSONForm<MediaPlayButton>([
    JSONField("type", .word, \.type).needed, JSONField("frame", Area.kind(upTo: 10_000), \.frame),
    JSONField("tint", .color, \.tint),
  ])
}

extension JSONKind<String> {
  fileprivate static var color: JSONKind {
    .spelled(
      "a colour as #ff9500", ["type": "string", "pattern": "^#[0-9A-Fa-f]{6}$"],
      { text in
        text.utf8.first == UInt8(ascii: "#") && Hex.decode(String(text.dropFirst()))?.count == 3 ? text : nil
      }, { $0 })
  }
}
