import PushModel

/// A button below a notification.
package struct NotificationAction: Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable { case plain, text }

  package var id = ""
  package var title = ""
  package var kind = Kind.plain
  package var (foreground, destructive, authentication): (Bool, Bool, Bool) = (false, false, false)
  /// Of a text input.
  package var button: String?
  package var placeholder: String?
}

extension NotificationAction: JSONDocument {
  package static let form = JSONForm<NotificationAction>([
    JSONField("id", .text, \.id).needed, JSONField("title", .text, \.title).needed,
    JSONField("kind", .word, \.kind), JSONField("foreground", .flag, \.foreground),
    JSONField("destructive", .flag, \.destructive), JSONField("authentication", .flag, \.authentication),
    JSONField("button", .text, \.button), JSONField("placeholder", .text, \.placeholder),
  ])
}

/// What an app says about notifications of one kind (`UNNotificationCategory`).
package struct NotificationCategory: Sendable, Equatable {
  /// Most actions that show, as counts; in a banner space is short.
  package static let (actionLimit, bannerActions) = (10, 2)
  package var actions: [NotificationAction] = []
  /// Whether the app hears of a dismissal.
  package var customDismiss = false
}

extension NotificationCategory: JSONDocument {
  package static let form = JSONForm<NotificationCategory>([
    JSONField("actions", .list(of: NotificationAction.form.kind(NotificationAction()), "actions"), \.actions),
    JSONField(flag: "customDismiss", \.customDismiss),
  ])
}

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
  /// Whether the header and its own content are all that shows.
  package var hidesDefaultContent = false
  /// `UNNotificationExtensionUserInteractionEnabled`.
  package var takesTouches = false
  /// `UNNotificationExtensionInitialContentSizeRatio`: its first height, by its width.
  package var sizeRatio: Double?

  /// How an expanded notification looks.
  func view(on version: IOSVersion) -> JSONValue {
    [
      "name": .string(name), "defaultContent": .bool(!hidesDefaultContent),
      "touches": .bool(takesTouches && version >= IOSVersion(12)),
      "sizeRatio": sizeRatio.map { .number($0) } ?? .null,
    ]
  }
}

extension ContentExtension: JSONDocument {
  package static let form = JSONForm<ContentExtension>([
    JSONField("name", .text, \.name).needed, JSONField("categories", .list(of: .text), \.categories).needed,
    JSONField("answer", .word, \.answer), JSONField(flag: "hidesDefaultContent", \.hidesDefaultContent),
    JSONField(flag: "takesTouches", \.takesTouches), JSONField("sizeRatio", .number(0...10), \.sizeRatio),
  ])
}
