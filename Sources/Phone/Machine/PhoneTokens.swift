import Basics
import PushModel

/// The tokens that the service has given a phone: of each app a family, by topic and by what else they were made for.
struct PhoneTokens: Sendable {
  private struct Entry: Sendable {
    let token: DeviceToken
    /// One that is not is remembered to know another one by.
    var isValid = true
  }

  private var families: [Topic: [TokenNeed: Entry]] = [:]
  private var count = 0
  /// Those of contexts that there are valid ones for.
  private(set) var needs: Set<TokenNeed> = []

  /// Most tokens that are remembered, as a count (our choice).
  private static let limit = 1000

  /// Answers the one before; nil for none.
  mutating func take(_ token: DeviceToken, as name: TokenNeed) -> DeviceToken? {
    if count >= Self.limit { forgetEnded() }
    let app = name.topic.app.topic
    let old = families[app]?[name]?.token
    guard old != nil || count < Self.limit else { return nil }
    families[app, default: [:]][name] = Entry(token: token)
    if old == nil { count += 1 }
    if name.context != nil { needs.insert(name) }
    return old
  }

  /// nil for none that is valid.
  subscript(need: TokenNeed) -> DeviceToken? {
    families[need.topic.app.topic]?[need].flatMap { $0.isValid ? $0.token : nil }
  }

  /// The valid ones of an app, in an order that is the same in each run.
  func family(of app: Topic) -> [(name: TokenNeed, token: DeviceToken)] {
    let valid = families[app, default: [:]].filter(\.value.isValid).map {
      (name: $0.key, token: $0.value.token)
    }
    return valid.sorted { ($0.name.topic.name, $0.name.text) < ($1.name.topic.name, $1.name.text) }
  }

  // MARK: They end

  /// With their app.
  mutating func end(_ app: Topic) {
    for name in families[app, default: [:]].keys { families[app]?[name]?.isValid = false }
    needs = needs.filter { $0.topic.app.topic != app }
  }

  mutating func endAll() { for app in families.keys { end(app) } }

  /// Those that are not wanted any more.
  mutating func end(allBut wanted: [TokenNeed]) {
    for need in needs.subtracting(wanted) {
      needs.remove(need)
      families[need.topic.app.topic]?[need]?.isValid = false
    }
  }

  private mutating func forgetEnded() {
    families = families.mapValues { $0.filter(\.value.isValid) }.filter { !$0.value.isEmpty }
    count = families.values.reduce(0) { $0 + $1.count }
  }
}

extension TokenNeed {
  fileprivate var text: String { context?.text ?? "" }
}

extension SimulatedPhone {
  /// What a phone asks the service for besides its topics, each once: for each type of attributes a token to start Live Activities,
  /// and one for each activity that runs (`Documentation/device-behaviour.md#tokens-and-push-types`). Those that are not wanted any
  /// more end.
  package var wantedTokens: [TokenNeed] {
    let starting = version >= IOSVersion(17, 2) ? apps.values.filter { !$0.build.activityTypes.isEmpty } : []
    let starts = starting.sorted { $0.topic.name < $1.topic.name }
      .filter { tokenObstacle($0) == nil }.flatMap { app in
        app.build.activityTypes.compactMap {
          TokenNeed(liveActivitiesOf: app.topic, .start(attributesType: $0))
        }
      }
    return starts + activities.activities.compactMap(need)
  }

  /// The channels that the phone is to listen to, each once: of Live Activities that have joined one. One whose id is none is not
  /// listened to.
  package var wantedChannels: [ChannelNeed] {
    var needs: [ChannelNeed] = []
    for activity in activities.activities where activity.state != .ended {
      guard let id = activity.channel.flatMap({ Base64.decode($0.utf8) }) else { continue }
      let need = ChannelNeed(activity.topic, id)
      if !needs.contains(need) { needs.append(need) }
    }
    return needs
  }

  /// The push types that an app gets tokens for besides that of its topic: of those that it wants, what its iOS has.
  package func tokenTypes(of topic: Topic) -> [PushType] {
    apps[topic]?.build.tokens.filter { $0.ownRule.map { $0.since <= version } ?? true } ?? []
  }

  /// The topics of those push types, of all apps.
  package var wantedTopics: [Topic] {
    sortedApps.flatMap { app in tokenTypes(of: app.topic).compactMap(app.topic.topic(for:)) }
  }

  /// No token outlives what it was for.
  mutating func endUnwantedTokens() {
    guard !tokens.needs.isEmpty else { return }
    let wanted = wantedTokens
    tokens.end(allBut: wanted)
  }

  /// Of a Live Activity; nil for one that has none, any more or at all.
  func need(of activity: LiveActivity) -> TokenNeed? {
    guard activity.hasToken, activity.state != .ended, let app = apps[activity.topic],
      tokenObstacle(app) == nil
    else { return nil }
    return TokenNeed(liveActivitiesOf: activity.topic, .activity(id: activity.id))
  }

  /// Why an app gets no token at all.
  func tokenObstacle(_ app: PhoneApp) -> PhoneRule? {
    if app.build.entitlement.environment == nil { return .noEntitlement }
    if settings.isSimulator { return .simulator }
    if !isEntitled(app) { return .otherEnvironment }
    return app.state == .neverLaunched ? .restoredUnlaunched : nil
  }

  /// Whether `aps-environment` names an environment that the phone has a connection to.
  func isEntitled(_ app: PhoneApp) -> Bool {
    guard let environment = app.build.entitlement.environment else { return false }
    return environments.isEmpty || environments.contains(environment)
  }
}

extension TokenNeed {
  /// A token of an app's Live Activities.
  fileprivate init?(liveActivitiesOf app: Topic, _ context: TokenContext) {
    guard let topic = app.topic(for: .liveactivity) else { return nil }
    self.init(topic, context)
  }
}
