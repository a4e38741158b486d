import PushModel

/// The newest message of one token: kept for the device, or handed to it and not yet acknowledged.
///
///     empty ─ accepted, device away ─→ kept ─ device enables the topic ─→ inFlight ─ acknowledged ─→ empty
///       └──── accepted, device there ───────────────────────────────────────┘ └─ connection ends ─→ kept
///
/// A newer message overwrites an older one in any state, which is all of the rule "one per token and topic"
/// (`Sources/ARCHITECTURE.md#promises` 2; `Documentation/provider-api.md#storage-and-delivery`).
struct MessageSlot: BitwiseCopyable {
  enum State: UInt8 { case empty, kept, inFlight }

  var state = State.empty
  /// Listed among the changes for the store.
  var isDirty = false
  /// The store holds a row for this slot.
  var isStored = false
  /// Came from storage (or was held back), so that the device is told so.
  var wasKept = false
  /// Listed among those that wait for room on the device's connection.
  var isWaiting = false
  var priority = Priority.immediate
  var pushType = PushType.alert
  /// Index into the sessions that route to the device, -1 when it is away or has not enabled the topic.
  var session: Int32 = -1
  /// The notification's id.
  var id: UInt64 = 0
  var receivedAt = Timestamp(nanoseconds: 0)
  var expiresAt = Timestamp.never
  /// Expiry as the device is told, UNIX seconds.
  var expiry: UInt32 = .max
  /// `apns-id` as 16 bytes; both zero where the interface has none.
  var apnsId: (UInt64, UInt64) = (0, 0)
  var box = ByteBox()
}
