import Basics
import PushModel

/// What time alone brings, in order.
struct Agenda: Sendable {
  enum Entry: Sendable {
    /// The service extension is done with a notification, or its time is over.
    case extensionEnds(PhonePush)
    /// A handler for silent pushes has not been called.
    case fetchOvertime(PhonePush)
    /// The content extension is done with a chosen action; the text is what was typed.
    case contentAnswers(PhonePush, NotificationAction, String?)
    /// Something becomes of a Live Activity, by its id.
    case activity(ActivityMoment, String)
    case summary
  }

  enum ActivityMoment: Sendable {
    case stale, dismissed
    /// It has run as long as it may.
    case expired
  }

  private var entries: [(at: Timestamp, entry: Entry)] = []

  /// Most entries before what could wait is done at once, as a count: pushes may come for ever.
  private static let limit = 1000

  var nextMoment: Timestamp? { entries.first?.at }
  var isFull: Bool { entries.count >= Self.limit }

  /// A Live Activity has one moment of each kind, and the summary one: the last that was named.
  mutating func add(_ entry: Entry, at moment: Timestamp) {
    entries.removeAll { $0.entry.gives(wayTo: entry) }
    let index = entries.firstIndex { $0.at > moment } ?? entries.endIndex
    entries.insert((moment, entry), at: index)
  }

  /// The next one that is due.
  mutating func take(until now: Timestamp) -> (at: Timestamp, entry: Entry)? {
    guard let first = entries.first, first.at <= now else { return nil }
    return entries.removeFirst()
  }

  /// What concerns an app that is gone, or a Live Activity that is none of `ids`, is not done.
  mutating func forget(_ topic: Topic?, activitiesBut ids: [String]) {
    entries.removeAll {
      switch $0.entry {
      case .extensionEnds(let push), .fetchOvertime(let push), .contentAnswers(let push, _, _):
        push.topic == topic
      case .activity(_, let id): !ids.contains(id)
      case .summary: false
      }
    }
  }

  /// A process that has ended owes nothing.
  mutating func forgetHandlers(of topic: Topic) {
    entries.removeAll { if case .fetchOvertime(let push) = $0.entry { push.topic == topic } else { false } }
  }
}

extension Agenda.Entry {
  fileprivate func gives(wayTo other: Self) -> Bool {
    switch (self, other) {
    case (.activity(let moment, let own), .activity(let other, let id)): moment == other && own == id
    case (.summary, .summary): true
    default: false
    }
  }
}
