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

/// Walks over the items of a frame without copying: `while let item = try items.next() { … }`.
@frozen
public struct CourierItemCursor {
  /// What has not been walked over yet.
  @usableFromInline var rest: UnsafeRawBufferPointer
  @usableFromInline let commandByte: UInt8

  @inlinable
  init(_ frame: CourierFrame) {
    rest = frame.body
    commandByte = frame.commandByte
  }

  /// The next item; nil at the end. Throws when the item would end outside the frame.
  @inlinable
  public mutating func next() throws(CourierProtocolError) -> CourierItemView? {
    let remaining = rest.count
    guard remaining > 0, let base = rest.baseAddress else { return nil }
    guard remaining >= 3 else {
      throw .itemOverrun(command: commandByte, remaining: remaining)
    }
    let length = Int(UInt16(bigEndian: base.loadUnaligned(fromByteOffset: 1, as: UInt16.self)))
    guard length <= remaining &- 3 else {
      throw .itemOverrun(command: commandByte, remaining: remaining)
    }
    rest = UnsafeRawBufferPointer(start: base + 3 + length, count: remaining &- 3 &- length)
    return CourierItemView(
      id: base.load(as: UInt8.self), value: UnsafeRawBufferPointer(start: base + 3, count: length))
  }
}
