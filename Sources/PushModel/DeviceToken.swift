import Basics

/// A device token as this emulator issues them: exactly 32 bytes.
///
/// Providers may present tokens of 1 to 100 bytes (`Documentation/binary-protocol.md#limits`); one that is not
/// 32 bytes long is well formed but never registered here, so it has no `DeviceToken`.
public struct DeviceToken: Hashable, Sendable, BitwiseCopyable {
  /// Length of every issued token, in bytes.
  public static let byteCount = 32

  /// The 32 bytes as four words in memory order.
  public var words: (UInt64, UInt64, UInt64, UInt64)

  /// Names nothing: what stands where none was read.
  public init() { words = (0, 0, 0, 0) }

  /// Copies exactly 32 bytes; nil for any other count.
  @inlinable
  public init?(_ bytes: Span<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    words = (
      bytes.native(UInt64.self, at: 0), bytes.native(UInt64.self, at: 8), bytes.native(UInt64.self, at: 16),
      bytes.native(UInt64.self, at: 24)
    )
  }

  /// Copies exactly 32 bytes; nil for any other count.
  public init?(bytes: [UInt8]) { self.init(bytes.span) }

  /// Reads 64 hexadecimal digits, either case; nil for anything else.
  public init?(hex: some StringProtocol) {
    guard let bytes = Hex.decode(hex) else { return nil }
    self.init(bytes: bytes)
  }

  /// Reads 64 ASCII hexadecimal digits, either case; nil for anything else.
  @inlinable
  public init?(hexDigits digits: Span<UInt8>) {
    guard digits.count == 2 * Self.byteCount, let first = Self.word(digits, 0),
      let second = Self.word(digits, 16), let third = Self.word(digits, 32),
      let fourth = Self.word(digits, 48)
    else { return nil }
    words = (first, second, third, fourth)
  }

  /// The word in memory order that the 16 digits at `offset` spell.
  @inlinable
  static func word(_ digits: Span<UInt8>, _ offset: Int) -> UInt64? {
    let text = (digits.native(UInt64.self, at: offset), digits.native(UInt64.self, at: offset + 8))
    guard let high = HexWord.decode(UInt64(littleEndian: text.0)),
      let low = HexWord.decode(UInt64(littleEndian: text.1))
    else { return nil }
    return (UInt64(high) << 32 | UInt64(low)).bigEndian
  }

  /// Lower-case hexadecimal, 64 digits.
  public var hex: String { Hex.encode(bytes) }

  /// The 32 bytes as an array.
  public var bytes: [UInt8] { withBytes { Array($0) } }

  /// The first of them.
  @inlinable public var first: UInt8 { UInt8(truncatingIfNeeded: words.0.littleEndian) }

  /// Lends the 32 bytes.
  @inlinable
  public func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
    try Basics.withBytes(of: words, body)
  }

  @inlinable
  public static func == (left: DeviceToken, right: DeviceToken) -> Bool {
    left.words.0 == right.words.0 && left.words.1 == right.words.1
      && left.words.2 == right.words.2 && left.words.3 == right.words.3
  }

  @inlinable
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}

/// Names one device for good. Apple's have 40 hexadecimal digits or the form `00008030-001A35E11E88003A`;
/// any short word of letters, digits, `-`, `_` and `.` is taken so that tests can use readable ones.
public struct UDID: Hashable, Sendable, CustomStringConvertible {
  /// The identifier as given; compared with case.
  public let text: String

  /// Longest identifier taken, in bytes.
  public static let maximumByteCount = 64

  /// Takes 1 to 64 characters of `[A-Za-z0-9._-]`, not beginning with a dot (it also names files).
  public init?(_ text: String) {
    let bytes = text.utf8
    guard let first = bytes.first, first != UInt8(ascii: "."), bytes.count <= Self.maximumByteCount,
      Topic(text) != nil
    else { return nil }
    self.text = text
  }

  private init(unchecked text: String) { self.text = text }

  /// What stands where nobody is: an identifier that no phone has to have.
  public static let placeholder = UDID(unchecked: "-")

  public var description: String { text }
}

/// What a token is worth for a topic in an environment over HTTP. Of several truths the first in this order counts
/// (`Documentation/provider-api.md#order-of-checks`).
public enum DeviceTokenStanding: Equatable, Sendable {
  case unknown
  /// Issued in the other environment; the answer is the same as for an unknown one
  /// (`Documentation/provider-api.md#open-questions`).
  case otherEnvironment
  /// The app reported gone; the answer carries the time (`Documentation/provider-api.md#response`).
  case unregistered(since: Timestamp)
  /// Expired; the answer carries the time.
  case expired(since: Timestamp)
  /// Issued for this one.
  case otherTopic(TopicID)
  /// Good, and where the token map has it.
  case active(RegistrationID)
}
