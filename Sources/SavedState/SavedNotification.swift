import Basics
import Broker
import Console
import PushModel

/// A message that waits for its device, or the broadcast that a channel keeps.
struct SavedNotification: Equatable, JSONDocument {
  var payload: [UInt8]
  /// nil where the provider said none, which is 10.
  var priority: Priority?
  /// nil where the provider said none.
  var pushType: PushType?
  var collapseId: String?
  var apnsId: APNSID?
  /// As the device is told, UNIX seconds; nil for none.
  var expiration: UInt32?
  /// When it came and when it is dropped; nil for now, and for what follows from `expiration`.
  var receivedAt: Timestamp?
  var expiresAt: Timestamp?

  /// Largest payload, in bytes: what `--payload-limit` may be raised to.
  static let payloadLimit = 65535

  private static let uuid = JSONKind<APNSID>.spelled(
    "a UUID", ["type": "string", "format": "uuid"], { APNSID($0) }, { $0.description })

  private static let collapseId = JSONKind<String>.text.narrowed("at most \(Limits.collapseId) bytes") {
    (1...Limits.collapseId).contains($0.utf8.count)
  }

  /// What is written is without the payload, for which `document` takes one of the two members.
  static let form = JSONForm<SavedNotification>([
    JSONField("payload", .any, get: { _ in nil }, set: { $0.payload = $1.encoded }),
    JSONField("payloadBase64", .base64, get: { _ in nil }, set: { $0.payload = $1 }),
    JSONField("priority", .priority, \.priority), JSONField("pushType", .pushType, \.pushType),
    JSONField("collapseId", collapseId, \.collapseId),
    JSONField("apnsId", uuid, \.apnsId), JSONField("expiration", .whole, \.expiration),
    JSONField("receivedAt", .time, \.receivedAt), JSONField("expiresAt", .time, \.expiresAt),
  ])

  init(_ kept: StoredNotification) {
    payload = Array(kept.payload)
    let head = kept.head
    priority = head.saysPriority ? head.priority : nil
    (pushType, collapseId, apnsId) = (head.pushType, kept.content.collapseText, APNSID(words: head.apnsId))
    expiration = head.expiry == .max ? nil : head.expiry
    (receivedAt, expiresAt) = (head.receivedAt, head.expiresAt)
  }

  init(_ broadcast: ChannelTable.Broadcast) {
    (payload, priority, pushType) = (broadcast.payload, broadcast.priority, .liveactivity)
    (expiration, receivedAt, expiresAt) = (broadcast.expiry, broadcast.sentAt, broadcast.expiresAt)
  }

  init(_ object: JSONObject) throws {
    payload = []
    try Self.form.read(object, into: &self)
    try SavedPayload.check(object, needing: "JSON")
    guard payload.count <= Self.payloadLimit else {
      throw DocumentError(
        "\(object.path("payload")): expected at most \(Self.payloadLimit) bytes, got \(payload.count)")
    }
  }

  var document: JSONValue { .object([SavedPayload.member(payload)] + Self.form.members(self)) }

  /// As a member of what holds it.
  static let kind = JSONKind<SavedNotification>("an object", .schema("SavedMessage")) { value, place in
    try SavedNotification(JSONObject(value, place: place))
  } write: {
    $0.document
  }
}
