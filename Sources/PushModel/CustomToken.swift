import Basics

/// A device token that somebody chose, instead of being given it: simulators invent theirs. Of any length that a provider may
/// present.
///
///     CustomToken(hex: "746f6b656e31")?.name  // 746f6b656e31: the device that is made for it
public struct CustomToken: Hashable, Sendable {
  /// In bytes (`Documentation/binary-protocol.md#limits`).
  public static let lengths = 1...Limits.longestToken

  public let bytes: [UInt8]

  /// nil for a length that no provider may present.
  public init?(bytes: [UInt8]) {
    guard Self.lengths.contains(bytes.count) else { return nil }
    self.bytes = bytes
  }

  /// Reads an even number of hexadecimal digits in either case; nil for anything else.
  public init?(hex: some StringProtocol) {
    guard hex.utf8.count <= 2 * Limits.longestToken, let bytes = Hex.decode(hex) else { return nil }
    self.init(bytes: bytes)
  }

  public init(_ token: DeviceToken) { bytes = token.bytes }

  /// Lower-case hexadecimal.
  public var hex: String { Hex.encode(bytes) }

  /// As devices know tokens, if it is as long as theirs.
  public var plain: DeviceToken? { DeviceToken(bytes: bytes) }

  /// Digits that a device's name has room for beside a digest.
  private static let digitsBesideDigest = 23

  /// What a device is called that is made for it: its digits, or, where these are more than a name has room for, the first of
  /// them and their digest.
  public var name: String {
    let digits = hex
    guard digits.utf8.count > UDID.maximumByteCount else { return digits }
    return "\(digits.prefix(Self.digitsBesideDigest))-\(Hex.encode(Digests.sha1(bytes)))"
  }
}
