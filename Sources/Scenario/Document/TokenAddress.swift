import Basics
import Phone
import PushModel

/// Whose token, and which of them.
enum TokenAddress: Sendable {
  /// `anna`, `anna/com.example.app`, `@` and an alias, or a token that was remembered.
  case name(String)
  /// One that was made for a Live Activity, or to start some.
  case context(ContextAddress)

  /// For people.
  var words: String {
    switch self {
    case .name(let name): name
    case .context(let address): address.words
    }
  }

  static let kind = JSONKind<TokenAddress>(
    "a name, or an object", ["oneOf": [["type": "string"], ContextAddress.schema]]
  ) { value, place in
    switch value {
    case .string(let name): .name(name)
    case .object: .context(try ContextAddress(JSONObject(value, place: place)))
    default: throw DocumentError(place, expected: "a name, or an object with start or activity", got: value)
    }
  } write: { address in
    .string(address.words)
  }
}

/// A token that was made for something, on a phone and of an app; the only ones if they are not named.
///
///     {"on": "anna", "topic": "com.example.pizza", "start": "Delivery"}
///     {"activity": "activity-1"}
struct ContextAddress: Sendable {
  let on: String?
  let topic: Topic?
  let context: TokenContext

  init(_ object: JSONObject) throws {
    var members = Members()
    try Members.form.read(object, into: &members)
    guard let context = members.context else {
      let got = members.start == nil ? "neither" : "both"
      throw DocumentError("\(object.place): expected one of start, activity, got \(got)")
    }
    (on, topic, self.context) = (members.on, members.topic, context)
  }

  var words: String {
    let place = [on, topic?.name].compactMap { $0 }.joined(separator: "/")
    return place.isEmpty ? context.text : "\(place) (\(context.text))"
  }

  static var schema: JSONValue { Members.form.schema }
}

extension ContextAddress {
  private struct Members: JSONDocument {
    var on: String?
    var topic: Topic?
    var start: String?
    var activity: String?

    /// nil unless one is named.
    var context: TokenContext? {
      switch (start, activity) {
      case (let start?, nil): .starting(start)
      case (nil, let activity?): .updating(activity)
      default: nil
      }
    }

    static let form = JSONForm<Members>(
      [
        JSONField("on", .text, \.on), JSONField("topic", .topic, \.topic),
        JSONField("start", .contextName, \.start), JSONField("activity", .contextName, \.activity),
      ], rules: [("oneOf", [["required": ["start"]], ["required": ["activity"]]])])
  }

  static var names: [String] { Members.form.names }
}
