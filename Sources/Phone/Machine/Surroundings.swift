import PushModel

/// Where else a notification is seen and heard: in a car, and by headphones
/// (`Documentation/device-behaviour.md#content-extension-and-actions`).
extension PhoneState {
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
