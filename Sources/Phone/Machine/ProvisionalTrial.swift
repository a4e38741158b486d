import PushModel

/// What the user may choose below a notification of an app that has provisional permission
/// (`Documentation/device-behaviour.md#registration-and-permission`). The buttons have other names since iOS 15.
package enum TrialChoice: String, Sendable, CaseIterable {
  case deliverProminently = "deliver-prominently"
  case deliverQuietly = "deliver-quietly"
  case deliverImmediately = "deliver-immediately"
  case deliverInSummary = "deliver-in-summary"
  case turnOff = "turn-off"

  /// Those that a version has: two behind Keep…, one behind Turn Off….
  static func all(on version: IOSVersion) -> [TrialChoice] {
    version < IOSVersion(15)
      ? [.deliverProminently, .deliverQuietly, .turnOff]
      : [.deliverImmediately, .deliverInSummary, .turnOff]
  }
}

extension Permission {
  /// To the list only, without a sound and without a badge.
  fileprivate mutating func makeQuiet() {
    (banner, lockScreen, carPlay, announcement) = (false, false, false, false)
    (sound, badge, critical) = (false, false, false)
  }
}

extension SimulatedPhone {
  /// What the user may choose now; nothing once there is no trial.
  func trialChoices(_ topic: Topic) -> [TrialChoice] {
    apps[topic]?.permission.isQuiet == true ? TrialChoice.all(on: version) : []
  }

  /// The user ends the trial.
  mutating func endTrial(_ topic: Topic, _ choice: TrialChoice) {
    guard var permission = apps[topic]?.permission else { return }
    permission.status = choice == .turnOff ? .denied : .authorized
    if permission.status == .authorized, choice != .deliverProminently { permission.makeQuiet() }
    apps[topic]?.permission = permission
    if choice == .deliverInSummary {
      var summary = settings.summary ?? SummarySetting()
      summary.apps.insert(topic)
      settings.summary = summary
    }
    tell(
      topic, .permission(permission.status), choice == .turnOff ? .trialEnded : .trialKept, choice.rawValue)
  }
}
