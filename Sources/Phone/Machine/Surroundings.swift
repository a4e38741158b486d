import Basics

/// Where else a notification is seen and heard: in a car, and by headphones
/// (`Documentation/device-behaviour.md#content-extension-and-actions`).
extension SimulatedPhone {
  /// Whatever shows quietly is for neither.
  private func isAloud(_ wanted: Presentation) -> Bool { !wanted.isDisjoint(with: [.banner, .lockScreen]) }

  // MARK: A car

  /// Whether somebody may wait for it there.
  private func isForCar(_ wanted: Presentation) -> Bool {
    settings.isInCar && version >= IOSVersion(10) && isAloud(wanted)
  }

  private func carObstacle(_ push: PhonePush, _ app: PhoneApp) -> PhoneRule? {
    if category(of: push)?.allowInCarPlay != true { return .carPlayCategory }
    return app.permission.carPlay ? nil : .carPlayPermission
  }

  /// The places where it is to show, with the car's screen if it may be there.
  func withCar(_ wanted: Presentation, _ push: PhonePush, _ app: PhoneApp) -> Presentation {
    isForCar(wanted) && carObstacle(push, app) == nil ? wanted.union(.carPlay) : wanted
  }

  mutating func tellCar(_ push: PhonePush, _ app: PhoneApp, _ wanted: Presentation) {
    guard isForCar(wanted), let obstacle = carObstacle(push, app) else { return }
    tell(push, .noCarPlay, obstacle)
  }

  // MARK: Headphones

  private func announcementObstacle(
    _ push: PhonePush, _ app: PhoneApp, _ wanted: Presentation
  ) -> PhoneRule? {
    if !wanted.contains(.lockScreen) { return .announcementInUse }
    if version < IOSVersion(15), category(of: push)?.allowAnnouncement != true {
      return .announcementCategory
    }
    return app.permission.announcement ? nil : .announcementPermission
  }

  /// Siri reads it out, or does not.
  mutating func announce(_ push: PhonePush, _ app: PhoneApp, _ wanted: Presentation) {
    guard settings.hasHeadphones, version >= IOSVersion(13), isAloud(wanted) else { return }
    let obstacle = announcementObstacle(push, app, wanted)
    tell(push, obstacle == nil ? .announced : .noAnnouncement, obstacle ?? .announced)
  }
}

/// When notifications show what they say, as the user wants it.
package enum Previews: String, Sendable, CaseIterable {
  case always
  case whenUnlocked = "when-unlocked"
  case never
}

/// What is to be read of a notification where previews are hidden
/// (`Documentation/device-behaviour.md#content-extension-and-actions`).
extension SimulatedPhone {
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
