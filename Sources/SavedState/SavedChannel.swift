import Basics
import Broker
import Console
import PushModel

/// A broadcast channel of a saved state.
struct SavedChannel: Equatable, JSONDocument {
  var topic: Topic
  var environment: Environment
  var id: [UInt8]
  var storesNewest: Bool
  /// The broadcast that it keeps.
  var message: SavedNotification?
  /// Who listens; absent from documents of earlier versions of this program.
  var subscribers: [SavedSubscriber] = []

  init(topic: Topic, environment: Environment, id: [UInt8], storesNewest: Bool) {
    (self.topic, self.environment, self.id, self.storesNewest) = (topic, environment, id, storesNewest)
  }

  /// Longest id, in bytes: Apple's have 16.
  private static let longestID = 64
  private static let ids = JSONKind.base64(upTo: longestID)

  static let form = JSONForm<SavedChannel>([
    JSONField("topic", .topic, \.topic).needed, JSONField("environment", .environment, \.environment),
    JSONField("id", ids, \.id).needed, JSONField("storesNewest", .flag, \.storesNewest),
    JSONField("message", SavedNotification.kind, \.message),
    JSONField(objects: "subscribers", "SavedSubscriber") { $0.subscribers.append(try SavedSubscriber($1)) },
  ])

  init(_ object: JSONObject, environment standard: Environment) throws {
    self.init(
      topic: try object.required("topic", .topic), environment: standard,
      id: try object.required("id", Self.ids), storesNewest: false)
    try Self.form.read(object, into: &self)
    message?.pushType = .liveactivity
    guard message == nil || storesNewest else {
      throw DocumentError("\(object.path("message")): expected none unless storesNewest is true, got one")
    }
  }
}

/// A device that listens to a channel of a saved state.
struct SavedSubscriber: Equatable, JSONDocument {
  var udid: UDID
  /// The newest broadcast that it has; nil for none.
  var seenUntil: Timestamp?

  init(udid: UDID, seenUntil: Timestamp) {
    self.udid = udid
    self.seenUntil = seenUntil.nanoseconds == .min ? nil : seenUntil
  }

  static let form = JSONForm<SavedSubscriber>([
    JSONField("udid", .udid, \.udid).needed, JSONField("seenUntil", .time, \.seenUntil),
  ])

  init(_ object: JSONObject) throws {
    udid = try object.required("udid", .udid)
    try Self.form.read(object, into: &self)
  }
}
