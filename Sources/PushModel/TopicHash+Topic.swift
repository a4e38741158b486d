extension TopicHash {
  /// The SHA-1 over the UTF-8 of a topic's name (`Documentation/device-protocol.md#filter`). It names a topic and
  /// protects nothing, and short names are all that is ever hashed, so the pure modules need no library for it.
  public init(_ topic: Topic) {
    let digest = SHA1.digest(of: topic.name.utf8)
    let bytes = (
      digest.0.bigEndian, digest.1.bigEndian, digest.2.bigEndian, digest.3.bigEndian, digest.4.bigEndian
    )
    (head, middle, tail) = withUnsafeBytes(of: bytes) { buffer in
      (
        buffer.loadUnaligned(as: UInt64.self), buffer.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
        buffer.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
      )
    }
  }
}
