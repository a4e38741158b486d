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
