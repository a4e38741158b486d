import Basics
import Faults
import Phone
import PushModel

/// One thing that happens, and what is expected of it.
package struct ScenarioStep: Sendable {
  /// Words for whoever reads the report.
  var say: String?
  var push: ScenarioPush?
  var person: PersonAct?
  var phone: PhoneAct?
  var app: AppAct?
  /// How far the clock moves, in nanoseconds.
  var wait: Int64?
  /// Goes wrong on purpose from here on; a rule as the console takes it.
  var fault: FaultRule?
  /// The fault of this name is taken away.
  var mend: String?
  /// Names to keep tokens under, and whose.
  var remember: [String: TokenAddress] = [:]
  var expect: [Expectation] = []
}

extension ScenarioStep: JSONDocument {
  package static let form = JSONForm<ScenarioStep>(
    [
      JSONField("say", .text, \.say), JSONField("push", ScenarioPush.form.kind(ScenarioPush()), \.push),
      JSONField("person", PersonAct.kind, \.person),
      JSONField("phone", PhoneAct.form.kind(PhoneAct()), \.phone),
      JSONField("app", AppAct.form.kind(AppAct()), \.app),
      JSONField("wait", .duration.narrowed("a duration above 0, as 61m or 1h30m") { $0 > 0 }, \.wait),
      JSONField("fault", FaultRule.form.kind(FaultRule(name: "fault", effects: FaultEffects())), \.fault),
      JSONField("mend", .text, \.mend),
      JSONField(
        "remember", .dictionary(of: TokenAddress.kind, by: .text, "tokens"),
        get: { $0.remember.isEmpty ? nil : $0.remember }, set: { $0.remember = $1 }),
      JSONField(
        "expect", .oneOrMore(of: Expectation.form.kind(Expectation()), "expectations"),
        get: { $0.expect.isEmpty ? nil : $0.expect }, set: { $0.expect = $1 }),
    ], rules: [("minProperties", 1)])
}

/// What a provider sends.
package struct ScenarioPush: Sendable {
  enum Interface: String, Sendable, CaseIterable { case http2, legacy }
  enum Credential: String, Sendable, CaseIterable { case certificate, key }

  var to = TokenAddress.name("")
  /// What the token is said to be for; the app's topic if absent.
  var topic: String?
  var payload: JSONValue = [:]
  var type: PushType?
  var priority: Priority?
  var collapseId: String?
  /// In so many nanoseconds; 0 is "try once".
  var expiration: Int64?
  var by = Interface.http2
  /// Of the binary protocol.
  var command = 2
  var credential = Credential.certificate
  /// How often more it is tried where the service says that it is busy.
  var retries = 0

  /// Text goes out as it is.
  var bytes: [UInt8] { if case .string(let text) = payload { Array(text.utf8) } else { payload.encoded } }
}

extension ScenarioPush: JSONDocument {
  package static let form = JSONForm<ScenarioPush>([
    JSONField("to", TokenAddress.kind, \.to).needed, JSONField("topic", .text, \.topic),
    JSONField("payload", .any, \.payload).needed, JSONField("type", .pushType, \.type),
    JSONField("priority", .priority, \.priority), JSONField("collapseId", .text, \.collapseId),
    JSONField("expiration", .duration, \.expiration), JSONField("by", .word, \.by),
    JSONField("command", .whole(0...2), \.command), JSONField("credential", .word, \.credential),
    JSONField("retries", .whole(0...10), \.retries),
  ])
}

/// What a person, an app or the world does to a phone: an order with the phone's name as `on`; instead of a number, `note`
/// names a notification by its text, or is `newest`.
struct PersonAct: Sendable {
  let on: String?
  let note: String?
  /// Without `on` and `note`.
  let members: JSONObject
  let place: String

  /// `id` is the notification that `note` names.
  func order(id: UInt64?) throws(PhoneOrderError) -> PhoneOrder {
    let number = id.map { [("id", JSONValue.integer(Int64(clamping: $0)))] } ?? []
    return try PhoneOrder(.object(members.members + number))
  }

  static let kind = JSONKind<PersonAct>("an object with do", schema) { value, place in
    let object = try JSONObject(value, place: place)
    let act = PersonAct(
      on: try object.value("on", .text), note: try object.value("note", .text),
      members: object.dropping("on").dropping("note"), place: place)
    do {
      _ = try act.order(id: act.note.map { _ in 1 })
    } catch {
      throw DocumentError("\(place).\(error)")
    }
    return act
  } write: { _ in
    [:]
  }

  /// One for each verb.
  private static var schema: JSONValue {
    let more: [(String, JSONValue)] = [("on", ["type": "string"]), ("note", ["type": "string"])]
    let verbs = PhoneVerb.all.map { verb -> JSONValue in
      guard case .object(let properties)? = verb.schema.member("properties") else { return verb.schema }
      let word: (String, JSONValue) = ("do", ["const": .string(verb.name)])
      return [
        "type": "object", "additionalProperties": false, "required": ["do"],
        "properties": .object([word] + properties + more),
      ]
    }
    return ["oneOf": .array(verbs)]
  }
}

/// What becomes of a phone.
struct PhoneAct: Sendable {
  enum State: String, Sendable, CaseIterable { case online, offline, erased, restored }

  var on: String?
  var state = State.online
}

extension PhoneAct: JSONDocument {
  static let form = JSONForm<PhoneAct>([
    JSONField("on", .text, \.on), JSONField("is", .word, \.state).needed,
  ])
}

/// What becomes of an app.
struct AppAct: Sendable {
  enum Change: String, Sendable, CaseIterable { case installed, updated, reinstalled, removed }

  var on: String?
  var topic: Topic?
  var change = Change.installed
}

extension AppAct: JSONDocument {
  static let form = JSONForm<AppAct>([
    JSONField("on", .text, \.on), JSONField("topic", .topic, \.topic),
    JSONField("is", .word, \.change).needed,
  ])
}

extension JSONKind {
  /// One such, or an array of them.
  static func oneOrMore<Element>(of kind: JSONKind<Element>, _ noun: String) -> JSONKind
  where Value == [Element] {
    let list = JSONKind<[Element]>.list(of: kind, noun)
    return JSONKind(list.expected, ["oneOf": [kind.schema, list.schema]]) { value, place in
      if case .object = value { return [try kind.read(value, place)] }
      return try list.read(value, place)
    } write: {
      list.write($0)
    }
  }
}
