import Basics
import PushModel

/// The members of all orders.
struct PhoneOrderMembers: Sendable {
  var topic: Topic?
  var id: UInt64?
  var state = AppState.suspended
  var options: [AuthorizationOption] = []
  var choice = TrialChoice.turnOff
  var (allow, answer, decline, inside) = (false, false, false, false)
  /// `answer` and `decline` in one.
  var take: Bool?
  var (action, identifier, region, attributesType, activity) = ("", "", "", "", "")
  var intent = false
  var text: String?
  var identifiers: [String]?
  var content = PushContent(aps: .null)
  var (attributes, contentState): (JSONValue, JSONValue) = ([:], [:])
  var trigger = LocalTrigger()

  static let fields: [JSONField<PhoneOrderMembers>] = [
    JSONField("topic", .topic, \.topic), JSONField("id", .whole(0...Int64.max), \.id),
    // What is left of an app that was in the foreground.
    JSONField("state", .word([.background, .suspended, .terminated, .forceQuit], { $0.rawValue }), \.state),
    JSONField("options", .list(of: .word, "options"), \.options),
    JSONField("choice", .word, \.choice), JSONField("allow", .flag, \.allow),
    JSONField("answer", .flag, \.answer),
    JSONField("decline", .flag, \.decline), JSONField("take", .flag, \.take),
    JSONField("inside", .flag, \.inside),
    JSONField("action", .text, \.action), JSONField("identifier", .shortText, \.identifier),
    JSONField("region", .shortText, \.region), JSONField("attributesType", .shortText, \.attributesType),
    JSONField("activity", .shortText, \.activity), JSONField("intent", .flag, \.intent),
    JSONField("text", .text, \.text), JSONField("identifiers", .list(of: .text), \.identifiers),
    JSONField("content", .localContent, \.content), JSONField("attributes", .activityData, \.attributes),
    JSONField("contentState", .activityData, \.contentState),
    JSONField("trigger", LocalTrigger.form.kind(LocalTrigger()), \.trigger),
  ]

  var answers: Bool {
    get throws {
      if let take, !answer, !decline { return take }
      guard answer != decline, take == nil else {
        throw DocumentError(
          "the body: expected one of answer, decline to be true, got \(answer || decline ? "several" : "neither")"
        )
      }
      return answer
    }
  }

  /// The same; throws if more than one thing decides when it is due.
  var triggerChecked: PhoneOrderMembers {
    get throws {
      try trigger.check()
      return self
    }
  }

  /// Most bytes of what a Live Activity has to say, static and dynamic together (Apple: ActivityKit).
  private static let activityData = 4096

  /// The same; throws if that is too much.
  var activityChecked: PhoneOrderMembers {
    get throws {
      let count = attributes.encoded.count + contentState.encoded.count
      guard count <= Self.activityData else {
        throw DocumentError(
          "attributes: expected at most \(Self.activityData) bytes with contentState, got \(count)")
      }
      return self
    }
  }
}

extension JSONKind<JSONValue> {
  fileprivate static var activityData: JSONKind {
    JSONKind("an object", ["type": "object"]) { value in
      if case .object = value { value } else { nil }
    } write: {
      $0
    }
  }
}

extension JSONKind<String> {
  /// Names that somebody chose, as a count of characters.
  static var shortText: JSONKind {
    JSONKind("1 to 200 characters", ["type": "string", "minLength": 1, "maxLength": 200]) { value in
      if case .string(let text) = value, (1...200).contains(text.unicodeScalars.count) { text } else { nil }
    } write: {
      .string($0)
    }
  }
}
