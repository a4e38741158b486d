import PushModel

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
