import PushModel

/// One item as it lies in somebody else's memory; valid as long as its frame.
@frozen
public struct CourierItemView {
  public let id: UInt8
  public let value: UnsafeRawBufferPointer

  @inlinable
  init(id: UInt8, value: UnsafeRawBufferPointer) {
    self.id = id
    self.value = value
  }

  /// A copy of the value.
  public var bytes: [UInt8] { Array(value) }

  /// The value as UTF-8; what is not UTF-8 is replaced.
  public var text: String { String(decoding: value, as: UTF8.self) }

  /// The value as an integer of exactly that width, or nil.
  @inlinable
  public func integer<Integer: FixedWidthInteger & UnsignedInteger>(_: Integer.Type = Integer.self)
    -> Integer?
  {
    guard value.count == MemoryLayout<Integer>.size, let base = value.baseAddress else { return nil }
    return Integer(bigEndian: base.loadUnaligned(as: Integer.self))
  }

  /// The value as an integer of exactly that width.
  @inlinable
  func requireInteger<Integer: FixedWidthInteger & UnsignedInteger>(
    _: Integer.Type = Integer.self
  ) throws(CourierProtocolError) -> Integer {
    guard let integer = integer(Integer.self) else { throw malformed }
    return integer
  }

  /// The value as a token of 32 bytes.
  @inlinable
  func requireToken() throws(CourierProtocolError) -> DeviceToken {
    guard let token = DeviceToken(value) else { throw malformed }
    return token
  }

  /// The value as the SHA-1 of a topic.
  @inlinable
  func requireTopicHash() throws(CourierProtocolError) -> TopicHash {
    guard let hash = TopicHash(value) else { throw malformed }
    return hash
  }

  @usableFromInline
  var malformed: CourierProtocolError { .itemMalformed(id, length: value.count) }
}
