/// First byte of a frame on the binary interface (`Documentation/binary-protocol.md#frames`, `#error-packet`).
@frozen
public enum LegacyCommand: UInt8, Sendable, CaseIterable {
  /// Token and payload only.
  case simple = 0
  /// With identifier and expiry.
  case enhanced = 1
  /// A list of items.
  case frame = 2
}

/// Item ids inside a command 2 frame (`Documentation/binary-protocol.md#items`).
@usableFromInline
enum LegacyItem {
  @usableFromInline static let token: UInt8 = 1
  @usableFromInline static let payload: UInt8 = 2
  @usableFromInline static let identifier: UInt8 = 3
  @usableFromInline static let expiration: UInt8 = 4
  @usableFromInline static let priority: UInt8 = 5
}
