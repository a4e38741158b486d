import Basics
import Phone
import PushModel

/// A story of phones and a provider, with what is expected of it (`Documentation/scenarios.md`).
///
///     {"name": "First push", "phones": {"anna": {"apps": {"com.example.app": {}}}},
///      "steps": [{"push": {"to": "anna", "payload": {"aps": {"alert": "Hello"}}},
///                 "expect": [{"status": 200}, {"presented": ["lock screen", "list"]}]}]}
package struct Scenario: Sendable {
  package internal(set) var name = ""
  /// What it teaches.
  package internal(set) var about = ""
  var environment = Environment.sandbox
  /// By their names, which are UDIDs as well.
  var phones: [UDID: PhoneSetup] = [:]
  /// The provider's address book: names of people, and the phones whose tokens it has of them.
  var aliases: [String: [UDID]] = [:]
  var steps: [ScenarioStep] = []
}

extension Scenario: JSONDocument {
  package static let form = JSONForm<Scenario>([
    JSONField("$schema", .text, get: { _ in nil }, set: { _, _ in }),
    JSONField("name", .text, \.name).needed, JSONField("about", .text, \.about),
    JSONField("environment", .environment, \.environment),
    JSONField("phones", .dictionary(of: PhoneSetup.kind, by: .udid, "phones"), \.phones).needed,
    JSONField(
      "aliases", .dictionary(of: .list(of: .udid, "names of phones"), by: .text, "lists of phones"), \.aliases
    ),
    JSONField("steps", .list(of: ScenarioStep.form.kind(ScenarioStep()), "steps"), \.steps).needed,
  ])

  /// In JSON Schema, for editors.
  package static var schema: JSONValue {
    guard case .object(let members) = form.schema else { return [:] }
    return .object(
      [
        ("$schema", "https://json-schema.org/draft/2020-12/schema"),
        ("title", "A scenario of apns-emulator"),
      ] + members)
  }
}

/// A phone at the beginning: settings as the verb `settings` has them, the apps are those that are installed.
struct PhoneSetup: Sendable {
  var isOnline = true
  let settings: PhoneOrder
  let apps: [Topic]

  static let kind = JSONKind<PhoneSetup>("an object", schema) { value, place in
    let object = try JSONObject(value, place: place)
    let members = object.dropping("online")
    guard let settings = try PhoneOrder(verb: "settings", members) else {
      preconditionFailure("the phone has settings")
    }
    let apps = try object.value("apps", .any).map { try JSONObject($0, place: object.path("apps")) }
    return PhoneSetup(
      isOnline: try object.value("online", .flag) ?? true, settings: settings,
      apps: try apps?.members.map { try JSONKind<Topic>.topic.read(.string($0.0), place) } ?? [])
  } write: { _ in
    [:]
  }

  private static var schema: JSONValue {
    guard let settings = PhoneVerb.all.first(where: { $0.name == "settings" })?.schema,
      case .object(let members) = settings, case .object(let properties)? = settings.member("properties")
    else { return ["type": "object"] }
    return .object(
      members.filter { $0.0 != "properties" } + [
        ("properties", .object(properties + [("online", ["type": "boolean"])]))
      ])
  }
}
