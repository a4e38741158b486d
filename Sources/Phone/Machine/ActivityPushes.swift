import Basics
import PushModel

/// What pushes and time do to Live Activities.
extension SimulatedPhone {
  mutating func changeActivity(_ push: PhonePush) {
    guard let activity = push.activity else { return }
    guard apps[push.topic]?.permission.liveActivities != false else {
      return tell(push, .dropped, .activityDenied)
    }
    tell(push, .handedOver(.liveactivity), .liveActivity)
    guard activity.event == nil || mayChangeActivity(push) else {
      return tell(push, .dropped, .activityBudget)
    }
    switch activity.event {
    case .start: startActivity(activity, push)
    case .update, .end: change(activity, push)
    case nil: tell(push, .dropped, .activityUnknown)
    }
  }

  /// Those of priority 5 cost nothing.
  private mutating func mayChangeActivity(_ push: PhonePush) -> Bool {
    guard push.isUrgent, let app = apps[push.topic] else { return true }
    let isFrequent = app.build.hasFrequentUpdates && app.permission.moreFrequentUpdates
    return apps[push.topic]?.spend(isFrequent ? .frequentActivities : .activities, at: now) ?? true
  }

  /// The app starts one itself; `byIntent` while it performs a `LiveActivityIntent`, for which it need not be seen.
  mutating func startActivity(
    _ topic: Topic, _ type: String, _ attributes: JSONValue, _ state: JSONValue, byIntent: Bool
  ) {
    guard version >= IOSVersion(16, 1) else { return tell(topic, .dropped, .tooOld) }
    guard apps[topic]?.permission.liveActivities != false else {
      return tell(topic, .dropped, .activityDenied)
    }
    guard isInForeground(topic) || byIntent && version >= IOSVersion(17) else {
      return tell(topic, .dropped, .activityNotSeen)
    }
    let id = begin(topic, type, attributes, state)
    tell(topic, .activity(.active), .activityByApp, id)
    askForToken(of: id, nil)
  }

  private mutating func startActivity(_ activity: ActivityPush, _ push: PhonePush) {
    guard version >= IOSVersion(17, 2), activity.isCompleteStart, let type = activity.attributesType,
      activity.channel == nil || version >= IOSVersion(18)
    else { return tell(push, .dropped, .activityNoStart) }
    switch push.token {
    case .app: break
    case .context(.start(type)): break
    case .context, .channel: return tell(push, .dropped, .activityNoStart, push.token.words)
    }
    let id = begin(push.topic, type, activity.attributes ?? [:], activity.contentState ?? [:])
    tell(push, .activity(.active), .activityStarted, id)
    applyContent(activity, push, id)
    alert(push)
    wakeForStart(push)
    if let channel = activity.channel {
      activities[id]?.channel = channel
      tell(push, .activity(.active), .activityChannel, channel)
    } else if version < IOSVersion(18) || activity.asksForToken {
      askForToken(of: id, push)
    }
  }

  /// So that the app can send the new token to its server, and load what the activity shows.
  private mutating func wakeForStart(_ push: PhonePush) {
    guard let app = apps[push.topic], app.state != .neverLaunched else { return }
    guard app.state != .forceQuit else { return tell(push, .noCallback, .activityForceQuit) }
    launch(push, app, .activityWakes)
  }

  /// The token comes from the service, later or never.
  private mutating func askForToken(of id: String, _ push: PhonePush?) {
    activities[id]?.hasToken = true
    guard let topic = activities[id]?.topic, let app = apps[topic] else { return }
    let obstacle = tokenObstacle(app)
    let what: PhoneEvent.What = obstacle == nil ? .tokenAsked : .noCallback
    tell(topic, what, obstacle ?? .activityToken, "for \(id)", of: push)
  }

  private mutating func change(_ activity: ActivityPush, _ push: PhonePush) {
    let targets = activities.targets(of: push)
    guard !targets.isEmpty else { return tell(push, .dropped, .activityUnknown, push.token.words) }
    for target in targets { change(target, activity, push) }
  }

  private mutating func change(_ target: LiveActivity, _ activity: ActivityPush, _ push: PhonePush) {
    if let own = activity.timestamp, let last = target.timestamp, own < last {
      return tell(push, .dropped, .activityOld, target.id)
    }
    applyContent(activity, push, target.id)
    let isEnd = activity.event == .end
    if isEnd { endActivity(target.id, dismissal: activity.dismissalDate) }
    tell(push, .activity(isEnd ? .ended : .active), isEnd ? .activityEnded : .activityUpdated, target.id)
    if activity.hasAlert { alert(push) }
  }

  /// Takes over what a push says of the content and its dates.
  private mutating func applyContent(_ activity: ActivityPush, _ push: PhonePush, _ id: String) {
    guard var target = activities[id] else { return }
    (target.updatedAt, target.state) = (now, .active)
    target.timestamp = activity.timestamp ?? target.timestamp
    target.contentState = activity.contentState ?? target.contentState
    (target.staleDate, target.relevance) = (activity.staleDate, activity.relevance)
    if activity.hasAlert { target.alert = (push.content.title, push.content.body) }
    activities[id] = target
    if let stale = activity.staleDate { agenda.add(.activity(.stale, id), at: max(stale, now)) }
  }

  /// The sound stands inside the alert; on the lock screen it lights up.
  private mutating func alert(_ push: PhonePush) {
    guard apps[push.topic]?.permission.isGiven == true, let sound = push.activity?.sound else { return }
    tell(push, .sound(sound), .sound)
  }
}

extension TokenUse {
  /// For people; empty where there is nothing to say.
  fileprivate var words: String {
    switch self {
    case .app: ""
    case .context(.start(let type)): "the token starts \(type)"
    case .context(.activity(let id)): "the token updates \(id)"
    case .channel(let name): "a broadcast, to \(name)"
    }
  }
}
