import Basics
import PushModel

/// What a push of type liveactivity says.
struct ActivityPush: Sendable {
  enum Event: String { case start, update, end }

  let event: Event?
  /// nil where it says none: such a one is never too old.
  let timestamp: Timestamp?
  let attributesType: String?
  let attributes: JSONValue?
  let contentState: JSONValue?
  let staleDate: Timestamp?
  let dismissalDate: Timestamp?
  let hasAlert: Bool
  /// It stands inside the alert.
  let sound: PushContent.Sound?
  let asksForToken: Bool
  let channel: String?
  /// Any number; 0 where it says none (our choice: a push has all of the content).
  let relevance: Double

  init(_ aps: JSONValue) {
    event = aps.string("event").flatMap(Event.init)
    (timestamp, staleDate) = (aps.timestamp("timestamp"), aps.timestamp("stale-date"))
    dismissalDate = aps.timestamp("dismissal-date")
    (attributesType, attributes) = (aps.string("attributes-type"), aps.member("attributes"))
    contentState = aps.member("content-state")
    hasAlert = aps.member("alert") != nil
    sound = PushContent.sound(aps.member("alert")?.member("sound"))
    if case .integer(1)? = aps.member("input-push-token") {
      asksForToken = true
    } else {
      asksForToken = false
    }
    relevance = (aps.member("relevance-score")?.double).flatMap { $0.isFinite ? $0 : nil } ?? 0
    channel = aps.string("input-push-channel").map { Base64.normalized($0) }
  }

  /// Whether it has all that a start needs.
  var isCompleteStart: Bool { attributesType != nil && attributes != nil && contentState != nil && hasAlert }
}

extension Base64 {
  /// A channel's id in the one spelling that ids are compared in; what is none stays as it is.
  fileprivate static func normalized(_ id: String) -> String { decode(id.utf8).map(encode) ?? id }
}

/// A Live Activity on the lock screen.
package struct LiveActivity: Sendable {
  package typealias State = LiveActivityState

  package let id: String
  package let topic: Topic
  package let attributesType: String
  package let attributes: JSONValue
  package internal(set) var contentState: JSONValue
  package internal(set) var state = State.active
  package internal(set) var alert: (title: String?, body: String?)?
  package internal(set) var updatedAt: Timestamp
  package internal(set) var staleDate: Timestamp?
  package internal(set) var dismissalDate: Timestamp?
  package internal(set) var relevance = 0.0
  var timestamp: Timestamp?
  /// It hears of what is broadcast there.
  var channel: String?
  /// Whether there is to be a token of its own.
  var hasToken = false
}

/// The Live Activities of a phone, oldest first.
struct LiveActivities: Sendable {
  private(set) var activities: [LiveActivity] = []
  private var count = 0

  /// Most that there are at a time (our choice); the oldest goes.
  private static let limit = 20
  /// How long one stays after its end, in nanoseconds.
  static let afterEnd: Int64 = 4 * 3600 * 1_000_000_000
  /// How long one runs at most, in nanoseconds (Apple: "Displaying live data with Live Activities").
  static let longestRun: Int64 = 8 * 3600 * 1_000_000_000

  mutating func start(
    _ topic: Topic, _ type: String, _ attributes: JSONValue, _ state: JSONValue, at now: Timestamp
  ) -> String {
    count += 1
    let id = "activity-\(count)"
    activities.append(
      LiveActivity(
        id: id, topic: topic, attributesType: type, attributes: attributes, contentState: state,
        updatedAt: now))
    if activities.count > Self.limit { activities.removeFirst() }
    return id
  }

  var ids: [String] { activities.map(\.id) }

  /// As the lock screen has them: the most relevant first, and of the same relevance the one that started first.
  var inOrder: [LiveActivity] {
    let order = activities.indices.sorted {
      (-activities[$0].relevance, $0) < (-activities[$1].relevance, $1)
    }
    return order.map { activities[$0] }
  }

  /// The one in the Dynamic Island, where a phone has that: what has ended is not shown there.
  var inIsland: LiveActivity? { inOrder.first { $0.state != .ended } }

  subscript(id: String) -> LiveActivity? {
    get { activities.first { $0.id == id } }
    set {
      guard let index = activities.firstIndex(where: { $0.id == id }) else { return }
      if let newValue { activities[index] = newValue } else { activities.remove(at: index) }
    }
  }

  /// Those that a push is for: its token's, those of its channel; the app's newest that runs where nobody knows.
  func targets(of push: PhonePush) -> [LiveActivity] {
    let running = activities.filter { $0.topic == push.topic && $0.state != .ended }
    switch push.token {
    case .context(.activity(let id)): return running.filter { $0.id == id }
    case .context(.start): return []
    case .channel(let name): return running.filter { $0.channel == Base64.normalized(name) }
    case .app: return running.suffix(1)
    }
  }

  /// An id is never used again: it names a token, too.
  mutating func removeAll(of topic: Topic) { activities.removeAll { $0.topic == topic } }
}
