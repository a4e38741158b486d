import Basics
import PushModel

/// Where a notification shows.
package struct Presentation: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let lockScreen = Self(rawValue: 1)
  package static let banner = Self(rawValue: 2)
  package static let list = Self(rawValue: 4)
  /// The screen of a car.
  package static let carPlay = Self(rawValue: 8)

  /// The places, for people.
  package var words: [String] {
    [(Self.lockScreen, "lock screen"), (.banner, "banner"), (.list, "list"), (.carPlay, "CarPlay")]
      .filter { contains($0.0) }.map(\.1)
  }
}

/// One thing that happens on the phone, or that does not, with the rule that says so.
package struct PhoneEvent: Sendable, Equatable {
  package enum What: Sendable, Equatable {
    case presented(Presentation, replaces: UInt64?)
    case notPresented
    case sound(PushContent.Sound)
    case badge(Int)
    /// There is one, and it does not play or count.
    case noSound, noBadge
    /// A placeholder stands for what it says.
    case noPreview
    /// Siri reads it out.
    case announced
    case noAnnouncement, noCarPlay
    case callback(AppCallback)
    /// Nobody in the app hears of it.
    case noCallback
    /// A method that is none of the six.
    case called(AppMethod)
    case extensionRan
    case extensionSkipped
    case extensionEnded
    /// One of so many in the list with the same thread.
    case grouped(Int)
    case launched
    case woken
    case opened
    /// By the system.
    case terminated
    /// The phone itself.
    case unlocked
    /// The user has a question before him.
    case prompted
    case permission(Permission.Status)
    /// A token for something, or another token.
    case token(DeviceToken)
    /// The phone asks the service for one.
    case tokenAsked
    /// A local notification waits, until then if that is known.
    case scheduled(Timestamp?)
    case unscheduled
    /// What the app did is a mistake that ends it.
    case exception
    case ringing, answered, declined
    /// To what the push type is for: no notification of the app.
    case handedOver(PushType)
    case activity(LiveActivityState)
    case silentDelivered(budgetBefore: Int, budgetAfter: Int)
    case held
    case merged
    case dropped
  }

  package let at: Timestamp
  package let topic: Topic
  /// The push; nil where it is about none.
  package let push: UInt64?
  /// That push in the emulator's journal, if it is known.
  package let notificationId: UInt64?
  package let what: What
  package let rule: PhoneRule
  /// What there is to say besides, for people: an argument of a method, a name.
  package let argument: String
  /// What a token was made for, besides its topic.
  package var context: TokenContext?

  /// The event's detail and argument in a line; empty for nothing.
  package var detail: String { [what.detail, argument].filter { !$0.isEmpty }.joined(separator: ", ") }
}

/// How a Live Activity is.
package enum LiveActivityState: String, Sendable {
  case active, stale, ended
  /// It is not to be seen any more.
  case dismissed
}

extension PhoneEvent {
  /// The letters, as the documentation writes them.
  package var evidence: String { rule.evidence.map(\.rawValue).joined(separator: ", ") }

  /// What happened and why, as members of a document.
  package var members: [(String, JSONValue)] { (Self.name + Self.reasons + Self.made).written(self) }

  /// As an explanation has it.
  static let shape = name + reasons

  /// As the phone's log has it (`Documentation/console-api.md#the-phone`), which other phones may tell less of.
  package static let logged = JSONShape<PhoneEvent>(
    ["at": .show { $0.at }] + name + ["topic": .show(JSONExample.topic) { Optional($0.topic.name) }] + reasons
      + made
      + [
        "notificationId": .show(1) { $0.notificationId }, "phoneNote": .maybe(1) { .some($0.push) },
      ]
  ).named("PhoneEvent")

  private static let name: JSONShape<PhoneEvent> = ["event": .show("presented") { $0.what.name }]
  private static let reasons: JSONShape<PhoneEvent> = [
    "detail": .show("lock screen, list") { $0.detail }, "rule": .show("system-shows") { $0.rule.name },
    "evidence": .show("A") { $0.evidence },
    "reason": .show("an app that is not in the foreground: the system shows it") { $0.rule.sentence },
  ]
  private static let made: JSONShape<PhoneEvent> = ["context": .maybe { $0.context?.text }]
}

extension PhoneEvent.What {
  /// One word, for programs.
  package var name: String { words.name }
  /// What there is to add to the word, for people; empty for nothing.
  package var detail: String { words.detail }

  private static let inPlace = "in the place of an earlier one"

  private var words: (name: String, detail: String) {
    switch self {
    case .presented(let places, let replaced):
      ("presented", (places.words + (replaced == nil ? [] : [Self.inPlace])).joined(separator: ", "))
    case .sound(let sound): ("sound", sound.name)
    case .badge(let number): ("badge", "\(number)")
    case .callback(let callback): ("callback", callback.selector)
    case .called(let method): ("callback", method.rawValue)
    case .extensionRan: ("extension", "runs")
    case .extensionSkipped: ("extension", "skipped")
    case .extensionEnded: ("extension", "ended")
    case .grouped(let count): ("grouped", "\(count) in the group")
    case .prompted: ("permission", "asked")
    case .permission(let status): ("permission", status.rawValue)
    case .token(let token): ("token", token.hex)
    case .scheduled(let moment): ("local", moment.map { "for \($0.rfc3339)" } ?? "waits")
    case .unscheduled: ("local", "taken back")
    case .ringing: ("call", "ringing")
    case .answered: ("call", "answered")
    case .declined: ("call", "declined")
    case .handedOver(let type): ("handed-over", type.name)
    case .activity(let state): ("activity", state.rawValue)
    case .silentDelivered(let before, let after): ("silent", "budget \(before) → \(after)")
    case .notPresented, .noSound, .noBadge, .noPreview, .announced, .noAnnouncement, .noCarPlay, .noCallback,
      .launched, .woken, .opened, .terminated, .unlocked, .tokenAsked, .exception, .held, .merged, .dropped:
      (String(describing: self).hyphenated, "")
    }
  }
}
