import PushModel

/// A topic that somebody has mentioned: by name, or, on the device side, only by its hash.
public struct TopicEntry {
  public let hash: TopicHash
  /// nil until a certificate, a push, the console or our own simulated device says it.
  public internal(set) var name: Topic?

  /// The name, or `sha1:` and the hash where the name isn't known.
  public var label: String { name?.name ?? "sha1:\(hash.hex)" }
}
