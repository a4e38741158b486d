import Basics

/// A button below a notification.
package struct NotificationAction: Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable { case plain, text }

  package var id = ""
  package var title = ""
  package var kind = Kind.plain
  package var (foreground, destructive, authentication): (Bool, Bool, Bool) = (false, false, false)
  /// Name of an image, which shows beside the title since iOS 15.
  package var icon: String?
  /// Of a text input.
  package var button: String?
  package var placeholder: String?
}

extension NotificationAction: JSONDocument {
  package static let form = JSONForm<NotificationAction>([
    JSONField("id", .text, \.id).needed, JSONField("title", .text, \.title).needed,
    JSONField("kind", .word, \.kind), JSONField("foreground", .flag, \.foreground),
    JSONField("destructive", .flag, \.destructive), JSONField("authentication", .flag, \.authentication),
    JSONField("icon", .text, \.icon), JSONField("button", .text, \.button),
    JSONField("placeholder", .text, \.placeholder),
  ])
}

/// What an app says about notifications of one kind (`UNNotificationCategory`).
package struct NotificationCategory: Sendable, Equatable {
  /// Most actions that show, as counts; in a banner space is short.
  package static let (actionLimit, bannerActions) = (10, 2)
  package var actions: [NotificationAction] = []
  /// Whether the app hears of a dismissal.
  package var customDismiss = false
  /// Whether its notifications may be in a car, and (iOS 13 and 14) be read out.
  package var (allowInCarPlay, allowAnnouncement): (Bool, Bool) = (false, false)
  /// What shows where previews are hidden (since iOS 11).
  package var (hiddenPreviewsShowTitle, hiddenPreviewsShowSubtitle): (Bool, Bool) = (false, false)
  package var hiddenPreviewsBodyPlaceholder: String?
}

extension NotificationCategory: JSONDocument {
  package static let form = JSONForm<NotificationCategory>([
    JSONField("actions", .list(of: NotificationAction.form.kind(NotificationAction()), "actions"), \.actions),
    JSONField(flag: "customDismiss", \.customDismiss),
    JSONField(flag: "allowInCarPlay", \.allowInCarPlay),
    JSONField(flag: "allowAnnouncement", \.allowAnnouncement),
    JSONField(flag: "hiddenPreviewsShowTitle", \.hiddenPreviewsShowTitle),
    JSONField(flag: "hiddenPreviewsShowSubtitle", \.hiddenPreviewsShowSubtitle),
    JSONField("hiddenPreviewsBodyPlaceholder", .text, \.hiddenPreviewsBodyPlaceholder),
  ])
}
