import PushModel

/// Where a notification shows.
public struct Presentation: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let lockScreen = Self(rawValue: 1)
  public static let banner = Self(rawValue: 2)
  public static let list = Self(rawValue: 4)

  /// The places, for people.
  public var words: [String] {
    [(Self.lockScreen, "lock screen"), (.banner, "banner"), (.list, "list")]
      .filter { contains($0.0) }.map(\.1)
  }
}

/// One thing that happens on the phone, or that does not, with the rule that says so.
public struct PhoneEvent: Sendable, Equatable {
  public enum What: Sendable, Equatable {
    case presented(Presentation, replaces: UInt64?)
    case notPresented
    case sound(PushContent.Sound)
    case badge(Int)
    /// There is one, and it does not play or count.
    case noSound, noBadge
    case callback(AppCallback)
    /// Nobody in the app hears of it.
    case noCallback
    case extensionRan
    case extensionSkipped
    case launched
    case woken
    case opened
    /// To what the push type is for: no notification of the app.
    case handedOver(PushType)
    case silentDelivered(budgetBefore: Int, budgetAfter: Int)
    case held
    case merged
    case dropped
  }

  public let at: Timestamp
  public let topic: Topic
  /// The push; nil where it is about none.
  public let push: UInt64?
  public let what: What
  public let rule: PhoneRule
}

extension PhoneEvent {
  /// The letters, as the documentation writes them.
  public var evidence: String { rule.evidence.map(\.rawValue).joined(separator: ", ") }

  /// What happened and why, as members of a document.
  public var members: [(String, JSONValue)] {
    [
      ("event", .string(what.name)), ("detail", .string(what.detail)), ("rule", .string(rule.rawValue)),
      ("evidence", .string(evidence)), ("reason", .string(rule.sentence)),
    ]
  }
}

extension PhoneEvent.What {
  /// One word, for programs.
  public var name: String {
    switch self {
    case .presented: "presented"
    case .notPresented: "not-presented"
    case .sound: "sound"
    case .badge: "badge"
    case .noSound: "no-sound"
    case .noBadge: "no-badge"
    case .callback: "callback"
    case .noCallback: "no-callback"
    case .extensionRan, .extensionSkipped: "extension"
    case .launched: "launched"
    case .woken: "woken"
    case .opened: "opened"
    case .handedOver: "handed-over"
    case .silentDelivered: "silent"
    case .held: "held"
    case .merged: "merged"
    case .dropped: "dropped"
    }
  }

  /// What there is to add to the word, for people; empty for nothing.
  public var detail: String {
    switch self {
    case .presented(let places, let replaced):
      places.words.joined(separator: ", ") + (replaced == nil ? "" : ", in the place of an earlier one")
    case .sound(let sound): sound.name
    case .badge(let number): "\(number)"
    case .callback(let callback): callback.selector
    case .extensionRan: "runs"
    case .extensionSkipped: "skipped"
    case .handedOver(let type): type.name
    case .silentDelivered(let before, let after): "budget \(before) → \(after)"
    default: ""
    }
  }
}
