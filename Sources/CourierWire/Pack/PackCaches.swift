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

/// What one direction of a packed connection remembers, so that it need not be sent again
/// (`Documentation/device-protocol.md#packed-form`). Both ends keep the same by the same rules; the newest entry has
/// index 0.
struct PackCaches {
  private let capacity: Int
  /// Oldest first.
  private var keys: [[UInt8]] = []
  private var values: [[UInt8]] = []
  /// Bytes of the values with what each costs besides.
  private(set) var valueByteCount = 0

  /// `capacity` in bytes.
  init(capacity: Int) { self.capacity = capacity }

  func key(at index: Int) -> [UInt8]? { Self.entry(of: keys, index) }
  func value(at index: Int) -> [UInt8]? { Self.entry(of: values, index) }
  func index(ofKey key: [UInt8]) -> Int? { keys.lastIndex(of: key).map { keys.count - 1 - $0 } }
  func index(ofValue value: [UInt8]) -> Int? { values.lastIndex(of: value).map { values.count - 1 - $0 } }

  mutating func add(key: [UInt8]) {
    if keys.count == PackLimits.keyCount { keys.removeFirst() }
    keys.append(key)
  }

  /// Whether an encoded value is small enough to be remembered. What happens to a larger one that is said to be cached
  /// is disputed (`Documentation/device-protocol.md#packed-form`), so none is.
  func fits(_ value: [UInt8]) -> Bool { Self.cost(value) <= capacity }

  /// Remembers an encoded value that fits; the oldest ones go.
  mutating func add(value: [UInt8]) {
    valueByteCount += Self.cost(value)
    values.append(value)
    var gone = 0
    while valueByteCount > capacity {
      valueByteCount -= Self.cost(values[gone])
      gone += 1
    }
    values.removeFirst(gone)
  }

  private static func cost(_ value: [UInt8]) -> Int { value.count + PackLimits.cacheEntryByteCount }

  private static func entry(of list: [[UInt8]], _ index: Int) -> [UInt8]? {
    list.indices.contains(list.count - 1 - index) ? list[list.count - 1 - index] : nil
  }
}

/// Limits of the packed form, each with its unit and reason (`Documentation/device-protocol.md#packed-form`).
public enum PackLimits {
  /// Bytes of a value cache unless the protocol's name says otherwise (1: `apns-pack-v1:4096:4096`).
  public static let cacheByteCount = 4096
  /// Largest value cache that a client may ask for by that name, in bytes: each connection holds two.
  public static let largestCacheByteCount = 16 * 1024
  /// What an entry of a value cache costs besides its bytes (`Documentation/device-protocol.md#packed-form`).
  static let cacheEntryByteCount = 32
  /// Entries of a key cache (`Documentation/device-protocol.md#packed-form`).
  static let keyCount = 32
  /// Longest key, in bytes: keys of structured payloads are short words, and a cache of them must not be a store.
  static let keyByteCount = 255
  /// Groups of seven bits behind a full tag: more than any length that is allowed needs.
  static let numberGroups = 4
  /// How deep dictionaries and arrays may lie in each other; a payload needs three or four.
  static let depth = 16
}
