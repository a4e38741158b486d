import Broker
import PushModel

/// A broadcast channel of a saved state.
struct SavedChannel: Equatable {
  var topic: Topic
  var environment: Environment
  var id: [UInt8]
  var storesNewest: Bool
  /// The broadcast that it keeps.
  var message: SavedMessage?
  /// Who listens; absent from documents of earlier versions of this program.
  var subscribers: [SavedSubscriber] = []

  init(topic: Topic, environment: Environment, id: [UInt8], storesNewest: Bool) {
    (self.topic, self.environment, self.id, self.storesNewest) = (topic, environment, id, storesNewest)
  }

  init(_ object: JSONObject, environment standard: Environment) throws {
    try object.check(allowing: ["topic", "environment", "id", "storesNewest", "message", "subscribers"])
    topic = try object.required("topic", Topic.expectation, object.topic("topic"))
    environment = try object.environment("environment") ?? standard
    let expectation = "Base64 of 1 to 64 bytes"
    let id = try object.text("id", expectation) { text in
      Base64.decode(text.utf8).flatMap { (1...64).contains($0.count) ? $0 : nil }
    }
    self.id = try object.required("id", expectation, id)
    storesNewest = try object.bool("storesNewest") ?? false
    message = try object.object("message").map(SavedMessage.init)
    message?.pushType = .liveactivity
    guard message == nil || storesNewest else {
      throw ConsoleError.bad(
        object.path("message"), expected: "none unless storesNewest is true", got: "one")
    }
    subscribers = try object.objects("subscribers")?.map(SavedSubscriber.init) ?? []
  }

  /// Without who listens, which may be many.
  var members: [(String, JSONValue)] {
    var members: [(String, JSONValue)] = [
      ("topic", .string(topic.name)), ("environment", .string(environment.name)),
      ("id", .string(Base64.encode(id))), ("storesNewest", .bool(storesNewest)),
    ]
    if let message { members.append(("message", message.json)) }
    return members
  }
}
