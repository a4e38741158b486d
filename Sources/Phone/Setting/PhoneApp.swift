import PushModel

/// What an app is doing when a push comes.
public enum AppState: String, Sendable, CaseIterable, Hashable {
  case foreground, background, suspended
  /// Ended by the system, which may launch it again.
  case terminated
  /// Ended by the user, and not launched again before the user does.
  case forceQuit = "force-quit"

  /// Whether there is a process of it.
  public var isRunning: Bool { self == .foreground || self == .background || self == .suspended }
}

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

  public init(_ status: Status = .authorized) { self.status = status }

  /// Whether anything may be seen or heard.
  var isGiven: Bool { status != .denied && status != .notDetermined }
  var isQuiet: Bool { status == .provisional }
}

/// An app on the phone: what its developer built, what the user allows, and what it is doing.
public struct PhoneApp: Sendable {
  /// What its developer built.
  public struct Build: Sendable {
    public var callbacks: Set<AppCallback> = [.fetch, .willPresent, .response]
    /// What `willPresent` answers with; nil if its handler is not called in time.
    public var options: PresentationOptions? = .all
    /// Whether the notification centre's delegate is set before `didFinishLaunching` returns.
    public var setsDelegateInTime = true
    /// Background mode `remote-notification`.
    public var hasBackgroundMode = true
    public var hasServiceExtension = false
    /// Entitlements.
    public var (mayBeTimeSensitive, mayBeCritical): (Bool, Bool) = (false, false)

    public init() {}
  }

  public let topic: Topic
  public var build = Build()
  public var permission = Permission()
  public var state: AppState
  /// The number on the icon; 0 for none.
  public internal(set) var badge = 0
  var budget = SilentBudget()
  /// A silent push that waits for budget.
  var held: PhonePush?

  public init(_ topic: Topic, state: AppState = .suspended) { (self.topic, self.state) = (topic, state) }

  /// Silent pushes that may wake it now, as a count.
  public var silentBudget: Int { budget.left }

  func implements(_ callback: AppCallback, on version: IOSVersion) -> Bool {
    build.callbacks.contains(callback) && version >= callback.since
  }
}

/// How many silent pushes may wake an app: Apple says "two or three an hour", the bucket is our choice.
struct SilentBudget: Sendable {
  static let most = 3
  /// From one to the next, in nanoseconds.
  static let interval: Int64 = 20 * 60 * 1_000_000_000

  private(set) var left = most
  /// When there will be one more; nil while it is full.
  private(set) var nextMoment: Timestamp?

  /// Takes one; false if there is none.
  mutating func take(at now: Timestamp, isHalved: Bool) -> Bool {
    guard left > 0 else { return false }
    left -= 1
    if nextMoment == nil { nextMoment = Self.next(after: now, isHalved) }
    return true
  }

  mutating func refill(until now: Timestamp, isHalved: Bool) {
    while let moment = nextMoment, moment <= now {
      left += 1
      nextMoment = left < Self.most ? Self.next(after: moment, isHalved) : nil
    }
  }

  private static func next(after moment: Timestamp, _ isHalved: Bool) -> Timestamp {
    moment.adding(nanoseconds: isHalved ? 2 * interval : interval)
  }
}
