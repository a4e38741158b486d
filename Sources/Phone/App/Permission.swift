import Basics

/// What the user allows an app, in Settings.
package struct Permission: Sendable, Equatable {
  package enum Status: String, Sendable, CaseIterable {
    case notDetermined = "not-determined"
    case denied, authorized, provisional, ephemeral
  }

  package var status: Status
  /// Each can be switched off alone.
  package var (alert, sound, badge): (Bool, Bool, Bool) = (true, true, true)
  package var (banner, lockScreen, list): (Bool, Bool, Bool) = (true, true, true)
  package var timeSensitive = true
  package var critical = true
  /// In a car, and read out.
  package var (carPlay, announcement): (Bool, Bool) = (true, true)
  /// Whether it may have Live Activities, and update them more often if it is built for that (iOS 16).
  package var (liveActivities, moreFrequentUpdates): (Bool, Bool) = (true, true)
  /// When its notifications show what they say; nil for as the phone has it.
  package var previews: Previews?

  package init(_ status: Status = .authorized) { self.status = status }

  /// Whether anything may be seen or heard.
  var isGiven: Bool { status != .denied && status != .notDetermined }
  var isQuiet: Bool { status == .provisional }

  /// Where alerts may show.
  var places: Presentation {
    guard alert else { return [] }
    return [
      banner ? .banner : [], lockScreen ? .lockScreen : [], list ? .list : [], carPlay ? .carPlay : [],
    ]
  }
}

extension Permission: JSONDocument {
  package static let form = JSONForm<Permission>([
    JSONField("status", .word, \.status), JSONField("alert", .flag, \.alert),
    JSONField("sound", .flag, \.sound),
    JSONField("badge", .flag, \.badge), JSONField("banner", .flag, \.banner),
    JSONField("lockScreen", .flag, \.lockScreen), JSONField("list", .flag, \.list),
    JSONField("timeSensitive", .flag, \.timeSensitive), JSONField("critical", .flag, \.critical),
    JSONField("carPlay", .flag, \.carPlay), JSONField("announcement", .flag, \.announcement),
    JSONField("liveActivities", .flag, \.liveActivities),
    JSONField("moreFrequentUpdates", .flag, \.moreFrequentUpdates),
    JSONField(nullable: "previews", .word, \.previews),
  ])
}
