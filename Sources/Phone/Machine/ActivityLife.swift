import Basics
import PushModel

/// What becomes of a Live Activity by time, by the user and by the system
/// (`Documentation/device-behaviour.md#tokens-and-push-types`).
extension SimulatedPhone {
  /// One runs from now on; answers its id.
  mutating func begin(
    _ topic: Topic, _ type: String, _ attributes: JSONValue, _ contentState: JSONValue
  ) -> String {
    let id = activities.start(topic, type, attributes, contentState, at: now)
    agenda.forget(nil, activitiesBut: activities.ids)
    agenda.add(.activity(.expired, id), at: now.adding(nanoseconds: LiveActivities.longestRun))
    return id
  }

  // MARK: Time

  mutating func markStale(_ id: String) {
    guard let activity = activities[id], activity.state == .active, let stale = activity.staleDate,
      stale <= now
    else { return }
    activities[id]?.state = .stale
    tell(activity.topic, .activity(.stale), .activityStale, id)
  }

  /// The system ends what has run as long as it may.
  mutating func expireActivity(_ id: String) {
    guard let activity = activities[id], activity.state != .ended else { return }
    endActivity(id, dismissal: nil)
    tell(activity.topic, .activity(.ended), .activityExpired, id)
  }

  /// It stays on the lock screen to its dismissal date, and 4 hours at most.
  mutating func endActivity(_ id: String, dismissal: Timestamp?) {
    let latest = now.adding(nanoseconds: LiveActivities.afterEnd)
    let moment = min(dismissal ?? latest, latest)
    activities[id]?.state = .ended
    activities[id]?.dismissalDate = moment
    agenda.add(.activity(.dismissed, id), at: max(moment, now))
  }

  mutating func removeActivity(_ id: String) {
    guard let activity = activities[id], activity.state == .ended else { return }
    takeAway(activity, .activityDismissed)
  }

  // MARK: The user

  mutating func takeAway(_ activity: LiveActivity, _ rule: PhoneRule) {
    activities[activity.id] = nil
    agenda.forget(nil, activitiesBut: activities.ids)
    tell(activity.topic, .activity(.dismissed), rule, activity.id)
  }

  /// Those of an app, whose switch in Settings the user has turned off.
  mutating func takeActivitiesAway(of topic: Topic) {
    for activity in activities.activities where activity.topic == topic {
      takeAway(activity, .activityDenied)
    }
  }

  // MARK: The system

  /// Whether there is a token that can be another; it comes from the service.
  mutating func renewToken(of activity: LiveActivity) -> Bool {
    guard let need = need(of: activity), tokens[need] != nil else { return false }
    renewals.insert(need)
    renewals.formIntersection(wantedTokens)
    tell(activity.topic, .tokenAsked, .activityTokenChanged, "for \(activity.id)")
    return true
  }
}
