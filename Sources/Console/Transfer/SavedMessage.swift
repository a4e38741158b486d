import Broker
import PushModel

/// A message that waits for its device, or the broadcast that a channel keeps.
struct SavedMessage: Equatable {
  var payload: [UInt8]
  var priority = Priority.immediate
  var pushType = PushType.alert
  var apnsId: MessageID?
  /// As the device is told, UNIX seconds; nil for none.
  var expiration: UInt32?
  /// When it came and when it is dropped; nil for now, and for what follows from `expiration`.
  var receivedAt: Timestamp?
  var expiresAt: Timestamp?

  /// Largest payload, in bytes: what `--payload-limit` may be raised to.
  static let payloadLimit = 65535

  static let names = [
    "payload", "payloadBase64", "priority", "pushType", "apnsId", "expiration", "receivedAt", "expiresAt",
  ]

  init(_ kept: KeptMessage) {
    payload = Array(kept.payload)
    (priority, pushType) = (kept.priority, kept.pushType)
    if kept.apnsId != (0, 0) {
      apnsId = MessageID(high: kept.apnsId.0.bigEndian, low: kept.apnsId.1.bigEndian)
    }
    expiration = kept.expiry == .max ? nil : kept.expiry
    (receivedAt, expiresAt) = (kept.receivedAt, kept.expiresAt)
  }

  init(_ broadcast: ChannelTable.Broadcast) {
    (payload, priority, pushType) = (broadcast.payload, broadcast.priority, .liveactivity)
    (expiration, receivedAt, expiresAt) = (broadcast.expiry, broadcast.sentAt, broadcast.expiresAt)
  }

  init(_ object: JSONObject) throws {
    try object.check(allowing: Self.names)
    payload = try object.required("payload", "JSON", SavedPayload.read(object))
    let limit = Self.payloadLimit
    guard payload.count <= limit else {
      throw ConsoleError.bad(
        object.path("payload"), expected: "at most \(limit) bytes", got: "\(payload.count) bytes")
    }
    priority = try object.priority("priority") ?? .immediate
    pushType = try object.text("pushType", "a push type") { PushType(name: $0) } ?? .alert
    apnsId = try object.text("apnsId", "a UUID") { MessageID($0) }
    expiration = try object.integer("expiration", 0...Int64(UInt32.max)).map { UInt32($0) }
    (receivedAt, expiresAt) = (try object.time("receivedAt"), try object.time("expiresAt"))
  }

  var json: JSONValue {
    var members = [
      SavedPayload.json(payload), ("priority", .integer(Int64(priority.rawValue))),
      ("pushType", .string(pushType.name)),
    ]
    if let apnsId { members.append(("apnsId", .string(apnsId.description))) }
    if let expiration { members.append(("expiration", .integer(Int64(expiration)))) }
    if let receivedAt { members.append(("receivedAt", .string(receivedAt.rfc3339))) }
    if let expiresAt { members.append(("expiresAt", .string(expiresAt.rfc3339))) }
    return .object(members)
  }
}

extension JSONObject {
  func priority(_ name: String) throws -> Priority? {
    guard let number = try integer(name, 0...255) else { return nil }
    guard let priority = UInt8(exactly: number).flatMap(Priority.init(rawValue:)) else {
      throw ConsoleError.bad(path(name), expected: "1, 5 or 10", got: "\(number)")
    }
    return priority
  }
}
