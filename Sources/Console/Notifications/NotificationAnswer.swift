import PushModel

/// What lists of notifications and waits for them answer. It is written as they are found (`HistorySource.members`).
enum NotificationAnswer {
  static let found = JSONShape<Void>(["notifications": .elsewhere([NotificationDocument].schema)] + position)
    .named("Notifications")

  /// Of a wait that has found too little.
  static let timeout = JSONShape<Void>(
    [
      "error": .elsewhere(error), "nearMisses": .elsewhere([NearMiss].schema),
      "notifications": .elsewhere([NotificationDocument].schema.showing([])),
    ] + position
  ).named("WaitTimeout")

  private static let error = JSONSchema(
    ["type": "object"],
    example: ["code": "timeout", "message": "0 of 1 notifications matched within 1000 ms"])

  private static let position: JSONShape<Void> = [
    "next": .elsewhere(JSONSchema(cursor, example: 1)),
    "missing": .elsewhere(JSONSchema(missing, example: []), isRequired: false),
  ]

  private static let missing: JSONValue = [
    "type": "array", "items": ["type": "string"],
    "description": "In a cluster, nodes that have not answered in time: what came in by them is left out.",
  ]

  /// Where to go on: an id, or in a cluster one of each node.
  static let cursor: JSONValue = ["oneOf": .array(cursors)]
  static let cursors: [JSONValue] = [
    .integers(0...Int64.max),
    [
      "type": "string", "pattern": "^[0-9]{1,18}(~[0-9]{1,18}){0,9}$",
      "description": "In a cluster, an id of each node; `since` and `before` take it as it is.",
    ],
  ]
}
