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
