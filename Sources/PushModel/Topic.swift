/// What a push is about: a bundle id, with a suffix for some push types (`Documentation/provider-api.md#push-types`).
public struct Topic: Hashable, Sendable, CustomStringConvertible {
  /// The topic as providers write it.
  public let name: String

  /// Longest topic taken, in bytes. Bundle ids are limited to 155; the longest suffix adds 25.
  public static let maximumByteCount = 255

  /// Takes a non-empty name of visible ASCII without separators that certificates or paths could misread.
  public init?(_ name: String) {
    let bytes = name.utf8
    guard !bytes.isEmpty, bytes.count <= Self.maximumByteCount, bytes.allSatisfy(Self.isAllowed) else {
      return nil
    }
    self.name = name
  }

  public var description: String { name }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
