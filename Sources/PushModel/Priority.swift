/// How urgently a notification goes out (`Documentation/binary-protocol.md#limits`,
/// `Documentation/provider-api.md#request`).
@frozen
public enum Priority: UInt8, Sendable, CaseIterable, Hashable {
  /// Power above all; never wakes the device. HTTP/2 only.
  case low = 1
  /// At a moment that spares the battery.
  case conserving = 5
  /// At once.
  case immediate = 10
}
