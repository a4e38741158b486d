/// A name of the packed form in ALPN: `apns-pack-v1`, perhaps with the sizes of the two value caches in bytes, the
/// client's outgoing one first (`Documentation/device-protocol.md#alpn`).
///
///     PackName("apns-pack-v1:4096:8192")?.outgoing  // 4096
public struct PackName: Equatable, Sendable {
  public static let plain = "apns-pack-v1"

  /// The size of the client's outgoing cache, in bytes, which is the server's incoming one.
  public var outgoing = PackLimits.cacheByteCount
  /// The size of the client's incoming cache, in bytes.
  public var incoming = PackLimits.cacheByteCount

  /// nil for another name, or for sizes beyond `PackLimits.largestCacheByteCount`.
  public init?(_ name: String) {
    let parts = name.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.first.map(String.init) == Self.plain, parts.count == 1 || parts.count == 3 else { return nil }
    guard parts.count == 3 else { return }
    guard let outgoing = Self.size(parts[1]), let incoming = Self.size(parts[2]) else { return nil }
    (self.outgoing, self.incoming) = (outgoing, incoming)
  }

  private static func size(_ text: Substring) -> Int? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let size = Int(text),
      size <= PackLimits.largestCacheByteCount
    else { return nil }
    return size
  }
}
