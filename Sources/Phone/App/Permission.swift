import PushModel

/// What the user allows an app, in Settings.
public struct Permission: Sendable, Equatable {
  public enum Status: String, Sendable, CaseIterable {
    case notDetermined = "not-determined"
    case denied, authorized, provisional, ephemeral
  }

  public var status: Status
  /// Each can be switched off alone.
  public var (alert, sound, badge): (Bool, Bool, Bool) = (true, true, true)
  public var (banner, lockScreen, list): (Bool, Bool, Bool) = (true, true, true)
  public var timeSensitive = true
  public var critical = true
  /// In a car, and read out.
  public var (carPlay, announcement): (Bool, Bool) = (true, true)
  /// Whether it may have Live Activities, and update them more often if it is built for that (iOS 16).
  public var (liveActivities, moreFrequentUpdates): (Bool, Bool) = (true, true)
  /// When its notifications show what they say; nil for as the phone has it.
  public var previews: Previews?

  public init(_ status: Status = .authorized) { self.status = status }

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
  public static let form = JSONForm<Permission>([
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
