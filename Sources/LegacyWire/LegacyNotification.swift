import PushModel

/// One notification as a provider framed it. Token, payload and frame are lent by the decoder for the call.
@frozen
public struct LegacyNotification {
  public var command: LegacyCommand
  /// The provider's four bytes read as a big-endian number; 0 where it sent none.
  public var identifier: UInt32
  /// UNIX seconds; nil where the provider sent none, 0 for "do not store".
  public var expiration: UInt32?
  public var priority: Priority
  /// Whether the provider named one: only command 2 can.
  public var saysPriority: Bool
  /// nil where item 1 is absent.
  public var token: UnsafeRawBufferPointer?
  /// nil where item 2 is absent.
  public var payload: UnsafeRawBufferPointer?
  /// The whole frame, from its command byte.
  public var frame: UnsafeRawBufferPointer

  @inlinable
  init(
    command: LegacyCommand, frame: UnsafeRawBufferPointer, token: UnsafeRawBufferPointer?,
    payload: UnsafeRawBufferPointer?, identifier: UInt32 = 0, expiration: UInt32? = nil,
    priority: Priority = .immediate, saysPriority: Bool = false
  ) {
    (self.command, self.frame, self.token, self.payload) = (command, frame, token, payload)
    (self.identifier, self.expiration, self.priority) = (identifier, expiration, priority)
    self.saysPriority = saysPriority
  }
}

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
