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
    "a name, or an object", ["oneOf": [["type": "string"], ContextAddress.form.schema]]
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
package struct ContextAddress: JSONDocument {
  private(set) var on: String?
  private(set) var topic: Topic?
  /// One, as `init` has seen.
  private var contexts: [TokenContext] = []

  package static let form = JSONForm<ContextAddress>(
    [
      JSONField("on", .text, \.on), JSONField("topic", .topic, \.topic),
      JSONField(
        "start", .contextName, get: { _ in nil },
        set: { $0.contexts += [TokenContext.starting($1)].compactMap { $0 } }),
      JSONField(
        "activity", .contextName, get: { _ in nil },
        set: { $0.contexts += [TokenContext.updating($1)].compactMap { $0 } }),
    ], rules: [("oneOf", [["required": ["start"]], ["required": ["activity"]]])])

  init(_ object: JSONObject) throws {
    try Self.form.read(object, into: &self)
    guard contexts.count == 1 else {
      let got = contexts.isEmpty ? "neither" : "both"
      throw DocumentError("\(object.place): expected one of start, activity, got \(got)")
    }
  }

  var context: TokenContext { contexts[0] }

  var words: String {
    let place = [on, topic?.name].compactMap { $0 }.joined(separator: "/")
    return place.isEmpty ? context.text : "\(place) (\(context.text))"
  }
}
