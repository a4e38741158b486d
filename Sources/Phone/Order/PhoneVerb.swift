import Basics

/// A word that a phone obeys, with the members that go with it and what it does.
package struct PhoneVerb: Sendable {
  package let name: String
  /// What it does, for people.
  package let summary: String
  /// Of its members, in JSON Schema.
  package let schema: JSONValue
  private let read: @Sendable (JSONObject) throws -> PhoneOrder

  func order(of members: JSONObject) throws -> PhoneOrder { try read(members) }

  static var kind: JSONKind<PhoneVerb> { .word(all, { $0.name }) }

  /// - Parameters:
  ///   - names: the members that there may be; those that must be there end in `!`.
  ///   - make: what it is about, or why the members do not go together.
  private init<Matter: Sendable>(
    _ name: String, _ summary: String, _ names: [String],
    of make: @escaping @Sendable (PhoneOrderMembers) throws -> Matter,
    _ act: @escaping @Sendable (inout SimulatedPhone, Matter) throws -> Void
  ) {
    let fields = names.compactMap { name in
      PhoneOrderMembers.fields.first { "\($0.name)!" == name }?.needed
        ?? PhoneOrderMembers.fields.first { $0.name == name }
    }
    let form = JSONForm(fields)
    self.init(name, summary, form.schema) { object in
      var members = PhoneOrderMembers()
      try form.read(object, into: &members)
      return try make(members)
    } _: {
      try act(&$0, $1)
    }
  }

  private init(
    _ name: String, _ summary: String, _ names: [String] = [],
    _ act: @escaping @Sendable (inout SimulatedPhone, PhoneOrderMembers) throws -> Void
  ) {
    self.init(name, summary, names, of: { $0 }, act)
  }

  private init<Matter: Sendable>(
    _ name: String, _ summary: String, _ schema: JSONValue,
    read: @escaping @Sendable (JSONObject) throws -> Matter,
    _ act: @escaping @Sendable (inout SimulatedPhone, Matter) throws -> Void
  ) {
    (self.name, self.summary, self.schema) = (name, summary, schema)
    self.read = { object in
      let matter = try read(object)
      return PhoneOrder { try act(&$0, matter) }
    }
  }

  package static let all = ofApps + ofNotes + ofThePhone

  private static let ofApps: [PhoneVerb] = [
    PhoneVerb("open", "opens an app by its icon", ["topic!"]) {
      $0.bringForward(try $0.app($1.topic), .iconCallsNobody)
    },
    PhoneVerb("leave", "leaves an app, or ends it", ["topic!", "state!"]) {
      $0.move(try $0.app($1.topic), to: $1.state)
    },
    PhoneVerb("register", "the app asks for a token", ["topic!"]) { $0.register(try $0.app($1.topic)) },
    PhoneVerb("authorize", "the app asks for permission to show notifications", ["topic!", "options"]) {
      $0.authorize(try $0.app($1.topic), $1.options)
    },
    PhoneVerb("answer", "the user answers the prompt", ["topic!", "allow!"]) {
      $0.answer(try $0.prompting($1.topic), allows: $1.allow)
    },
    PhoneVerb("trial", "presses Keep… or Turn Off… below a provisional notification", ["topic!", "choice!"]) {
      try $0.choose($1.choice, inTrialOf: try $0.app($1.topic))
    },
    PhoneVerb("app-settings", "presses the button for the app's own settings", ["topic!", "id"]) {
      phone, members in
      let topic = try phone.app(members.topic)
      phone.openSettings(topic, from: try members.id == nil ? nil : phone.push(members.id))
    },
  ]

  private static let ofNotes: [PhoneVerb] = [
    PhoneVerb("tap", "taps a notification", ["id!"]) { $0.tap(try $0.takePush($1.id)) },
    PhoneVerb("flick", "flicks a banner away", ["id!"]) { try $0.flick(try $0.push($1.id)) },
    PhoneVerb("dismiss", "removes a notification", ["id!"]) { $0.dismiss(try $0.takePush($1.id)) },
    PhoneVerb("clear", "removes all notifications, or those of an app", ["topic"]) {
      $0.clear(try $1.topic == nil ? nil : $0.app($1.topic))
    },
    PhoneVerb("action", "chooses an action of a notification", ["id!", "action!", "text"]) {
      try $0.choose($1.action, $1.text, of: try $0.push($1.id))
    },
    PhoneVerb("reply", "answers a notification by its first text action", ["id!", "text!"]) {
      try $0.reply($1.text ?? "", to: try $0.push($1.id))
    },
    PhoneVerb("expand", "expands a notification", ["id!"]) { $0.expand(try $0.push($1.id)) },
    PhoneVerb("close", "collapses the expanded notification") { phone, _ in phone.board.expand(nil) },
  ]

  private static let ofThePhone: [PhoneVerb] = [
    PhoneVerb("call", "answers or declines a call", ["answer", "decline", "take"], of: { try $0.answers }) {
      try $0.takeCall(answers: $1)
    },
    PhoneVerb(
      "settings", "changes settings of the phone and of its apps", SettingsChange.schema,
      read: SettingsChange.init
    ) {
      try $0.applySettings($1)
    },
    PhoneVerb(
      "local", "the app asks for a local notification", ["topic!", "identifier!", "content!", "trigger"],
      of: { try $0.triggerChecked }
    ) {
      $0.schedule(
        LocalRequest(
          topic: try $0.app($1.topic), identifier: $1.identifier, content: $1.content, trigger: $1.trigger))
    },
    PhoneVerb("unschedule", "the app cancels local notifications", ["topic!", "identifiers"]) {
      $0.unschedule(try $0.app($1.topic), $1.identifiers)
    },
    PhoneVerb("region", "the phone enters or leaves a place", ["region!", "inside!"]) {
      $0.cross($1.region, entering: $1.inside)
    },
    PhoneVerb(
      "activity", "the app starts a Live Activity",
      ["topic!", "attributesType!", "attributes", "contentState", "intent"], of: { try $0.activityChecked }
    ) {
      $0.startActivity(
        try $0.app($1.topic), $1.attributesType, $1.attributes, $1.contentState, byIntent: $1.intent)
    },
    PhoneVerb("remove-activity", "removes a Live Activity", ["activity!"]) {
      $0.takeAway(try $0.activity($1.activity), .activityRemoved)
    },
    PhoneVerb("renew-token", "the system gives a Live Activity another token", ["activity!"]) {
      guard $0.renewToken(of: try $0.activity($1.activity)) else {
        throw PhoneOrderError(.absent, "\($1.activity) has no update token")
      }
    },
    PhoneVerb("restart", "switches the phone off and on again") { phone, _ in phone.restart() },
  ]
}
