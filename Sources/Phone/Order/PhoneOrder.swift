import Basics
import PushModel

/// Something that a person, an app or a test does to a phone, as `PhoneVerb` has it. In a document it is an object with the verb as `do`:
///
///     {"do": "reply", "id": 3, "text": "On my way"}
package struct PhoneOrder: Sendable {
  /// Looks for what it names first, so that nothing happens by halves.
  let carryOut: @Sendable (inout SimulatedPhone) throws -> Void

  init(_ carryOut: @escaping @Sendable (inout SimulatedPhone) throws -> Void) { self.carryOut = carryOut }

  /// Reads a document.
  package init(_ value: JSONValue) throws(PhoneOrderError) {
    do {
      guard case .object(let members) = value else {
        throw DocumentError("the body", expected: "an object", got: value)
      }
      let object = JSONObject(members: members)
      let word = try object.required("do", PhoneVerb.kind)
      self = try word.order(of: object.dropping("do"))
    } catch {
      throw PhoneOrderError(.invalid, "\(error)")
    }
  }

  /// Reads the members that belong to a verb; nil if there is no such verb.
  package init?(verb: String, _ members: JSONObject) throws(PhoneOrderError) {
    guard let verb = PhoneVerb.all.first(where: { $0.name == verb }) else { return nil }
    do { self = try verb.order(of: members) } catch { throw PhoneOrderError(.invalid, "\(error)") }
  }
}

/// An order can't be carried out: a lower-case sentence says what was expected and what came.
package struct PhoneOrderError: Error, Equatable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The order itself is wrong.
    case invalid
    /// It names what is not on the phone.
    case absent
  }

  package let code: Code
  package let description: String

  package init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }

  static func invalid(_ sentence: String) -> Self { Self(.invalid, sentence) }
  static func absent(_ sentence: String) -> Self { Self(.absent, sentence) }
}

/// A change of settings: what it does not name stays as it is.
package struct SettingsChange: Sendable {
  /// The members of the phone's own settings.
  let phone: JSONObject
  let apps: [(Topic, JSONObject)]

  /// Throws for what can't be read, before anything changes.
  init(_ object: JSONObject) throws {
    phone = object.dropping("apps")
    var scratch = PhoneSettings()
    try PhoneSettings.form.read(phone, into: &scratch)
    try Self.check(scratch.document, place: "the body", Self.phoneLimit)
    let named = try object["apps"].map { try JSONObject($0, place: object.path("apps")) } ?? JSONObject()
    apps = try named.members.map { name, value in
      let topic = try JSONKind<Topic>.topic.read(.string(name), named.path(name))
      let members = try JSONObject(value, place: named.path(name))
      var app = PhoneApp(topic)
      try PhoneApp.form.read(members, into: &app)
      try Self.check(app.document, place: named.path(name), Self.appLimit)
      return (topic, members)
    }
  }

  /// Most bytes of what the phone and an app are set to (our choice): all of it is to be seen.
  private static let (phoneLimit, appLimit) = (8 * 1024, 32 * 1024)

  private static func check(_ document: JSONValue, place: String, _ most: Int) throws {
    let count = document.encoded.count
    guard count > most else { return }
    throw DocumentError("\(place): expected at most \(most) bytes of settings, got \(count)")
  }

  /// In JSON Schema.
  static var schema: JSONValue {
    let fields = PhoneSettings.form.fields.map { ($0.name, $0.schema) }
    let apps: JSONValue = ["type": "object", "additionalProperties": PhoneApp.form.schema]
    return [
      "type": "object", "additionalProperties": false, "properties": .object(fields + [("apps", apps)]),
    ]
  }
}
