import Broker
import PushModel

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
