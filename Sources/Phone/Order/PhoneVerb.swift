import PushModel

/// A word that a phone obeys, with the members that go with it.
public struct PhoneVerb: Sendable {
  public let name: String
  /// What it does, for people.
  public let summary: String
  /// Of its members, in JSON Schema.
  public let schema: JSONValue
  private let read: @Sendable (JSONObject) throws -> PhoneOrder

  func order(of members: JSONObject) throws -> PhoneOrder { try read(members) }

  static var kind: JSONKind<PhoneVerb> { .word(all, { $0.name }) }

  /// - Parameter names: the members that there may be; those that must be there end in `!`.
  private init(
    _ name: String, _ summary: String, _ names: [String] = [],
    _ make: @escaping @Sendable (PhoneOrderMembers) throws -> PhoneOrder
  ) {
    let fields = names.compactMap { name in
      PhoneOrderMembers.fields.first { "\($0.name)!" == name }?.needed
        ?? PhoneOrderMembers.fields.first { $0.name == name }
    }
    let form = JSONForm(fields)
    self.init(name, summary, schema: form.schema) { object in
      var members = PhoneOrderMembers()
      try form.read(object, into: &members)
      return try make(members)
    }
  }

  private init(
    _ name: String, _ summary: String, schema: JSONValue,
    read: @escaping @Sendable (JSONObject) throws -> PhoneOrder
  ) {
    (self.name, self.summary, self.schema, self.read) = (name, summary, schema, read)
  }

  public static let all: [PhoneVerb] = [
    PhoneVerb("open", "opens an app by its icon", ["topic!"]) { .open(try $0.app) },
    PhoneVerb("leave", "leaves an app, or ends it", ["topic!", "state!"]) {
      .leave(try $0.app, $0.state)
    },
    PhoneVerb("register", "the app asks for a token", ["topic!"]) { .register(try $0.app) },
    PhoneVerb("authorize", "the app asks to be allowed notifications", ["topic!", "options"]) {
      .authorize(try $0.app, $0.options.map(\.rawValue))
    },
    PhoneVerb("answer", "the user answers that", ["topic!", "allow!"]) {
      .answer(try $0.app, allows: $0.allow)
    },
    PhoneVerb("trial", "presses Keep… or Turn Off… below a provisional notification", ["topic!", "choice!"]) {
      .trial(try $0.app, $0.choice)
    },
    PhoneVerb("app-settings", "presses the button for the app's own settings", ["topic!", "id"]) {
      .appSettings(try $0.app, $0.id)
    },
    PhoneVerb("tap", "taps a notification", ["id!"]) { .tap(try $0.note) },
    PhoneVerb("flick", "flicks a banner away", ["id!"]) { .flick(try $0.note) },
    PhoneVerb("dismiss", "takes a notification away", ["id!"]) { .dismiss(try $0.note) },
    PhoneVerb("clear", "takes all notifications away, or those of an app", ["topic"]) { .clear($0.topic) },
    PhoneVerb("action", "chooses an action of a notification", ["id!", "action!", "text"]) {
      .action(try $0.note, $0.action, text: $0.text)
    },
    PhoneVerb("reply", "answers a notification by its first text action", ["id!", "text!"]) {
      .reply(try $0.note, text: $0.text ?? "")
    },
    PhoneVerb("expand", "opens a notification wide", ["id!"]) { .expand(try $0.note) },
    PhoneVerb("close", "closes what is open wide") { _ in .close },
    PhoneVerb("call", "answers or declines a call", ["answer", "decline", "take"]) {
      .call(answers: try $0.answers)
    },
    PhoneVerb("settings", "changes settings of the phone and of its apps", schema: SettingsChange.schema) {
      .settings(try SettingsChange($0))
    },
    PhoneVerb(
      "local", "the app asks for a local notification", ["topic!", "identifier!", "content!", "trigger"]
    ) {
      .local(
        LocalRequest(
          topic: try $0.app, identifier: $0.identifier, content: $0.content, trigger: try $0.trigger.trigger))
    },
    PhoneVerb("unschedule", "the app takes local notifications back", ["topic!", "identifiers"]) {
      .unschedule(try $0.app, $0.identifiers)
    },
    PhoneVerb("region", "the phone enters or leaves a place", ["region!", "inside!"]) {
      .region($0.region, entering: $0.inside)
    },
    PhoneVerb(
      "activity", "the app starts a Live Activity",
      ["topic!", "attributesType!", "attributes", "contentState", "intent"]
    ) {
      let (attributes, state) = try $0.activityData
      return .activity(
        try $0.app, attributesType: $0.attributesType, attributes: attributes, contentState: state,
        byIntent: $0.intent)
    },
    PhoneVerb("remove-activity", "takes a Live Activity away", ["activity!"]) {
      .removeActivity($0.activity)
    },
    PhoneVerb("renew-token", "the system gives a Live Activity another token", ["activity!"]) {
      .renewToken($0.activity)
    },
    PhoneVerb("restart", "switches the phone off and on again") { _ in .restart },
  ]
}
