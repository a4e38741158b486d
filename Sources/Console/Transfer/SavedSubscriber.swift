import Broker
import PushModel

/// A device that listens to a channel of a saved state.
struct SavedSubscriber: Equatable {
  var udid: UDID
  /// The newest broadcast that it has; nil for none.
  var seenUntil: Timestamp?

  init(udid: UDID, seenUntil: Timestamp) {
    self.udid = udid
    self.seenUntil = seenUntil.nanoseconds == .min ? nil : seenUntil
  }

  init(_ object: JSONObject) throws {
    try object.check(allowing: ["udid", "seenUntil"])
    let word = "1 to 64 of A-Z a-z 0-9 . _ -"
    udid = try object.required("udid", word, object.text("udid", word) { UDID($0) })
    seenUntil = try object.time("seenUntil")
  }

  var json: JSONValue {
    var members: [(String, JSONValue)] = [("udid", .string(udid.text))]
    if let seenUntil { members.append(("seenUntil", .string(seenUntil.rfc3339))) }
    return .object(members)
  }
}
