import PushModel

/// What pushes and time do to Live Activities.
extension PhoneState {
  mutating func changeActivity(_ push: PhonePush) {
    guard let activity = push.activity else { return }
    tell(push, .handedOver(.liveactivity), .liveActivity)
    guard activity.event == nil || mayChangeActivity(push) else {
      return tell(push, .dropped, .activityBudget)
    }
    switch activity.event {
    case .start: start(activity, push)
    case .update, .end: change(activity, push)
    case nil: tell(push, .dropped, .activityUnknown)
    }
  }

  /// Those of priority 5 cost nothing.
  private mutating func mayChangeActivity(_ push: PhonePush) -> Bool {
    guard push.isUrgent, let build = apps[push.topic]?.build else { return true }
    return apps[push.topic]?.spend(build.hasFrequentUpdates ? .frequentActivities : .activities, at: now)
      ?? true
  }

  /// The app starts one itself.
  mutating func startActivity(_ topic: Topic, _ type: String, _ attributes: JSONValue, _ state: JSONValue) {
    guard version >= IOSVersion(16, 1) else { return tell(topic, .dropped, .tooOld) }
    let id = activities.start(topic, type, attributes, state, at: now)
    agenda.forget(nil, activitiesBut: activities.ids)
    tell(topic, .activity(.active), .activityByApp, id)
    askForToken(of: id, nil)
  }

  private mutating func start(_ activity: ActivityPush, _ push: PhonePush) {
    guard version >= IOSVersion(17, 2), activity.isCompleteStart, let type = activity.attributesType,
      activity.channel == nil || version >= IOSVersion(18)
    else { return tell(push, .dropped, .activityNoStart) }
    switch push.token {
    case .app: break
    case .context(.start(type)): break
    case .context, .channel: return tell(push, .dropped, .activityNoStart, push.token.words)
    }
    let id = activities.start(
      push.topic, type, activity.attributes ?? [:], activity.contentState ?? [:], at: now)
    agenda.forget(nil, activitiesBut: activities.ids)
    tell(push, .activity(.active), .activityStarted, id)
    take(activity, push, id)
    alert(push)
    if let channel = activity.channel {
      activities[id]?.channel = channel
      tell(push, .activity(.active), .activityChannel, channel)
    } else if version < IOSVersion(18) || activity.asksForToken {
      askForToken(of: id, push)
    }
  }

  /// The token comes from the service, later or never.
  private mutating func askForToken(of id: String, _ push: PhonePush?) {
    activities[id]?.hasToken = true
    guard let topic = activities[id]?.topic, let app = apps[topic] else { return }
    let obstacle = tokenObstacle(app)
    let what: PhoneEvent.What = obstacle == nil ? .tokenAsked : .noCallback
    let (rule, argument) = (obstacle ?? .activityToken, "for \(id)")
    if let push { tell(push, what, rule, argument) } else { tell(topic, what, rule, argument) }
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
    take(activity, push, target.id)
    let isEnd = activity.event == .end
    if isEnd { end(target.id, activity) }
    tell(push, .activity(isEnd ? .ended : .active), isEnd ? .activityEnded : .activityUpdated, target.id)
    if activity.hasAlert { alert(push) }
  }

  /// Takes over what a push says of the content and its dates.
  private mutating func take(_ activity: ActivityPush, _ push: PhonePush, _ id: String) {
    guard var target = activities[id] else { return }
    (target.updatedAt, target.state) = (now, .active)
    target.timestamp = activity.timestamp ?? target.timestamp
    target.contentState = activity.contentState ?? target.contentState
    target.staleDate = activity.staleDate
    if activity.hasAlert { target.alert = (push.content.title, push.content.body) }
    activities[id] = target
    if let stale = activity.staleDate { agenda.add(.activityStale(id), at: max(stale, now)) }
  }

  private mutating func end(_ id: String, _ activity: ActivityPush) {
    let latest = now.adding(nanoseconds: LiveActivities.afterEnd)
    let moment = min(activity.dismissalDate ?? latest, latest)
    activities[id]?.state = .ended
    activities[id]?.dismissalDate = moment
    agenda.add(.activityDismissed(id), at: max(moment, now))
  }

  /// The sound stands inside the alert; on the lock screen it lights up.
  private mutating func alert(_ push: PhonePush) {
    guard apps[push.topic]?.permission.isGiven == true, let sound = push.activity?.sound else { return }
    tell(push, .sound(sound), .sound)
  }

  mutating func markStale(_ id: String) {
    guard let activity = activities[id], activity.state == .active, let stale = activity.staleDate,
      stale <= now
    else { return }
    activities[id]?.state = .stale
    tell(activity.topic, .activity(.stale), .activityStale, id)
  }

  mutating func removeActivity(_ id: String) {
    guard let activity = activities[id], activity.state == .ended else { return }
    activities[id] = nil
    tell(activity.topic, .activity(.ended), .activityDismissed, id)
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
