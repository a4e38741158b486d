import Phone
import PushModel

/// The shapes of phones (`Documentation/console-api.md#the-phone`). What stands deeper is the phone's own, and told there.
extension APISchemas {
  static let phones = [
    PhoneRecord.shape.schema, PhoneEvent.logged.schema, ShownNote.shape.schema, events.schema, queued.schema,
    JSONSchema("PhoneOrder", ["anyOf": .array(PhoneVerb.all.map(order))], example: ["lowPower": true]),
  ]

  /// What an order has brought about, as the phone tells it.
  private static let events = JSONShape<Void>(
    ["events": .elsewhere(PhoneEvent.logged.schema.list)]
  ).named("PhoneEvents")

  /// Of a phone that is offline.
  static let queued = JSONShape<Bool>(["queued": .show(true) { $0 }]).named("PhoneQueued")

  /// The members that go with a verb.
  private static func order(_ verb: PhoneVerb) -> JSONValue {
    guard case .object(let members) = verb.schema else { return verb.schema }
    return .object([("description", .string("\(verb.name): \(verb.summary)"))] + members)
  }
}
