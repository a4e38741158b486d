import Basics
import PushModel

/// What an app is doing when a push comes.
package enum AppState: String, Sendable, CaseIterable, Hashable {
  case foreground, background, suspended
  /// Ended by the system, which may launch it again.
  case terminated
  /// Ended by the user, and not launched again before the user does.
  case forceQuit = "force-quit"
  /// Installed, or restored from a backup, and not opened since.
  case neverLaunched = "never-launched"

  /// Whether there is a process of it.
  package var isRunning: Bool { self == .foreground || self == .background || self == .suspended }
}

/// An app on the phone: what its developer built, what the user allows, and what it is doing.
package struct PhoneApp: Sendable {
  package let topic: Topic
  package var build = AppBuild()
  package var permission = Permission()
  /// Background App Refresh, as the user has it for this app.
  package var mayRefresh = true
  package var state: AppState
  /// The number on the icon; 0 for none.
  package internal(set) var badge = 0
  /// Of silent pushes, and of whatever else has been spent.
  var budget = PushBudget(.silent)
  var budgets: [PushBudget.Use: PushBudget] = [:]
  /// Wake-ups of a day, by silent pushes and by complication pushes.
  var (silentPushes, complicationPushes) = (DayCount(), DayCount())
  /// A silent push that waits for budget, or for the end of Low Power Mode.
  var held: PhonePush?
  /// When the user had it in the foreground last; nil before the phone's first moment.
  var lastUsed: Timestamp?
  /// Whether it asked to be registered while there was no connection.
  var isRegistering = false
  /// How often it did not report a VoIP call.
  var unreportedCalls = 0

  package init(_ topic: Topic, state: AppState = .suspended) { (self.topic, self.state) = (topic, state) }

  /// Silent pushes that may wake it now, as a count.
  package var silentBudget: Int { budget.left }

  /// By its entitlement and the user's leave; what is delivered quietly is never critical (our choice).
  var mayBeCritical: Bool { build.mayBeCritical && permission.critical && !permission.isQuiet }

  func implements(_ callback: AppCallback, on version: IOSVersion) -> Bool {
    build.callbacks.contains(callback) && version >= callback.since
  }

  /// The text of a key: in the phone's language, in its base language, in the app's own; else the key itself (the order is
  /// our choice).
  func text(_ key: String, in language: String) -> String {
    let base = language.split(separator: "-").first.map(String.init) ?? language
    let tables = [language, base, build.developmentLanguage].compactMap { build.strings[$0] }
    return tables.lazy.compactMap { $0[key] }.first ?? key
  }
}

/// What the developer of an app built.
package struct AppBuild: Sendable {
  /// `aps-environment`.
  package enum Entitlement: String, Sendable, CaseIterable {
    case development, production, none

    /// Where its token is good; nil for nowhere.
    package var environment: Environment? {
      switch self {
      case .development: .sandbox
      case .production: .production
      case .none: nil
      }
    }
  }

  package var callbacks: Set<AppCallback> = [.fetch, .willPresent, .response]
  /// What `willPresent` answers with; nil if its handler is not called in time.
  package var options: PresentationOptions? = .all
  /// Whether the notification centre's delegate is set before `didFinishLaunching` returns.
  package var setsDelegateInTime = true
  /// Whether it has scenes, which since iOS 13 are told instead of launch options.
  package var hasScenes = false
  /// Background mode `remote-notification`.
  package var hasBackgroundMode = true
  /// How long its handler for silent pushes takes, in seconds; 30 are the most.
  package var fetchSeconds = 0.0
  /// Whether Xcode runs it: silent pushes have no budget then.
  package var isFromXcode = false
  package var serviceExtension: ServiceExtension?
  package var contentExtension: ContentExtension?
  package var categories: [String: NotificationCategory] = [:]
  /// Localizable strings, by language and key.
  package var strings: [String: [String: String]] = [:]
  package var developmentLanguage = "en"
  /// Its sound files with their lengths in seconds; nil if every name is taken to be one.
  package var sounds: [String: Double]?
  package var entitlement = Entitlement.development
  /// Types that it has tokens of their own for.
  package var tokens: [PushType] = []
  /// Types of attributes that its Live Activities have; each has a token that starts one.
  package var activityTypes: [String] = []
  /// `NSSupportsLiveActivitiesFrequentUpdates`.
  package var hasFrequentUpdates = false
  /// Further entitlements.
  package var (mayBeTimeSensitive, mayBeCritical): (Bool, Bool) = (false, false)
  package var mayFilter = false
  /// `providesAppNotificationSettings`.
  package var providesSettings = false
  /// Whether it reports VoIP calls to CallKit before the handler ends.
  package var reportsCalls = true
  /// `mustReport` of the metadata that VoIP pushes have since iOS 26.4. Apple does not say when it is false.
  package var mustReportCalls = true
  package var isOnWatchFace = true
  package var mayLocateAlways = true
  package var isInChannel = true

  package init() {}
}
