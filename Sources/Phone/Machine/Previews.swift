import PushModel

/// When notifications show what they say, as the user wants it.
public enum Previews: String, Sendable, CaseIterable {
  case always
  case whenUnlocked = "when-unlocked"
  case never
}

/// What is to be read of a notification where previews are hidden
/// (`Documentation/device-behaviour.md#content-extension-and-actions`).
extension PhoneState {
  /// What stands for a text where the category has no placeholder of its own.
  private static let placeholder = "Notification"

  /// Whether there is a placeholder instead, as the phone is now.
  func hidesPreview(of push: PhonePush) -> Bool {
    guard version >= IOSVersion(11) else { return false }
    switch apps[push.topic]?.permission.previews ?? settings.previews {
    case .always: return false
    case .whenUnlocked: return settings.isLocked
    case .never: return true
    }
  }

  /// What shows of it now.
  func visibleContent(of push: PhonePush) -> PushContent {
    var content = push.content
    guard hidesPreview(of: push) else { return content }
    let category = category(of: push)
    if category?.hiddenPreviewsShowTitle != true { content.title = nil }
    if category?.hiddenPreviewsShowSubtitle != true { content.subtitle = nil }
    content.body = category?.hiddenPreviewsBodyPlaceholder ?? Self.placeholder
    content.attachment = nil
    return content
  }
}
