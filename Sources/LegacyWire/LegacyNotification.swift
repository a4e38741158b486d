import Basics
import PushModel

/// One notification as a provider framed it. Token, payload and frame are lent by the decoder for the call.
public struct LegacyNotification: ~Escapable {
  public let command: LegacyCommand
  /// The provider's four bytes read as a big-endian number; 0 where it sent none.
  public var identifier: UInt32
  /// UNIX seconds; nil where the provider sent none, 0 for "do not store".
  public var expiration: UInt32?
  public var priority: Priority
  /// Whether the provider named one: only command 2 can.
  public var saysPriority: Bool
  /// nil where item 1 is absent.
  public let token: Span<UInt8>?
  /// nil where item 2 is absent.
  public let payload: Span<UInt8>?
  /// The whole frame, from its command byte.
  public let frame: Span<UInt8>

  @inlinable
  @_lifetime(copy frame, copy token, copy payload)
  init(
    command: LegacyCommand, frame: Span<UInt8>, token: Span<UInt8>?,
    payload: Span<UInt8>?, identifier: UInt32 = 0, expiration: UInt32? = nil,
    priority: Priority = .immediate, saysPriority: Bool = false
  ) {
    self.command = command
    self.frame = frame
    self.token = token
    self.payload = payload
    (self.identifier, self.expiration, self.priority) = (identifier, expiration, priority)
    self.saysPriority = saysPriority
  }
}

/// First byte of a frame on the binary protocol (`Documentation/binary-protocol.md#frames`, `#error-packet`).
public enum LegacyCommand: UInt8, Sendable, CaseIterable {
  /// Token and payload only.
  case simple = 0
  /// With identifier and expiry.
  case enhanced = 1
  /// A list of items.
  case frame = 2
}

/// Item ids inside a command 2 frame (`Documentation/binary-protocol.md#items`).
public enum LegacyItem {
  public static let token: UInt8 = 1
  public static let payload: UInt8 = 2
  public static let identifier: UInt8 = 3
  public static let expiration: UInt8 = 4
  public static let priority: UInt8 = 5
}

/// What the gateway takes. The operator may change the two marked so.
public struct LegacyLimits: Sendable {
  /// Longest body of a command 2 frame, in bytes: one of each item at the largest size their length fields allow.
  public static let frameBody = 2 * (3 + 65535) + (3 + 4) + (3 + 4) + (3 + 1)
  /// Longest frame, in bytes: a command and its length field before such a body.
  public static let frame = 5 + frameBody

  /// How much is kept of a malformed frame whose length is unknown, in bytes: a few lines of what came instead.
  static let keptOfMalformed = 1024

  /// Token lengths that are well formed, in bytes (operator's choice; `Documentation/binary-protocol.md#error-packet`
  /// answers 5 to a token of 1 or 31 bytes, `Documentation/binary-protocol.md#limits` allows up to 100).
  public var tokenLengths: ClosedRange<Int> = DeviceToken.byteCount...Limits.longestToken
  /// Largest payload, in bytes (operator's choice; 256 before 2014).
  public var payload = Limits.legacyPayload
  /// Answer an empty token with identifier 0, as Apple was seen to do (`Documentation/binary-protocol.md#statuses`, 2;
  /// `Documentation/binary-protocol.md#open-questions`).
  public var forgetsIdentifierOfEmptyToken = true

  public init() {}
}
