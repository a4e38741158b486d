/// SHA-1 over a topic's UTF-8: all that the device protocol carries of a topic
/// (`Documentation/device-protocol.md#filter`).
@frozen
public struct TopicHash: Hashable, Sendable, BitwiseCopyable {
  /// Length of a SHA-1 digest, in bytes.
  public static let byteCount = 20

  @usableFromInline var head: UInt64
  @usableFromInline var middle: UInt64
  @usableFromInline var tail: UInt32

  /// Copies exactly 20 bytes; nil for any other count.
  @inlinable
  public init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.byteCount, let base = bytes.baseAddress else { return nil }
    head = base.loadUnaligned(as: UInt64.self)
    middle = base.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    tail = base.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
  }

  /// Copies exactly 20 bytes; nil for any other count.
  public init?(bytes: [UInt8]) {
    guard let hash = bytes.withUnsafeBytes({ TopicHash($0) }) else { return nil }
    self = hash
  }

  /// Writes the 20 bytes to `destination`, which must have room for them.
  @inlinable
  public func write(to destination: UnsafeMutableRawPointer) {
    destination.storeBytes(of: head, as: UInt64.self)
    destination.storeBytes(of: middle, toByteOffset: 8, as: UInt64.self)
    destination.storeBytes(of: tail, toByteOffset: 16, as: UInt32.self)
  }

  /// The 20 bytes as an array.
  public var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      if let base = buffer.baseAddress { write(to: base) }
      count = Self.byteCount
    }
  }

  /// Lower-case hexadecimal, 40 digits.
  public var hex: String { Hex.encode(bytes) }

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
