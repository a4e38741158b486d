/// Cuts the bytes of a device connection into frames (`Documentation/device-protocol.md#framing`), in any segmentation.
///
/// Frames that lie whole in the input are lent from there; only the beginning of an unfinished one is kept, and
/// memory for it grows with what has arrived, not with what was announced. Between frames nothing is held.
///
/// ```
/// var input = bytes
/// while let frame = try decoder.next(&input, limit: session.frameLimit) { … }   // until nil: input is used up
/// ```
public struct CourierDecoder: ~Copyable {
  /// The unfinished frame with its header, or the one that was lent last.
  @usableFromInline var kept: UnsafeMutableRawBufferPointer?
  /// How much of `kept` is filled.
  @usableFromInline var keptCount = 0

  /// Whether `kept` is a whole frame that the caller may still be reading.
  @usableFromInline var isLent = false

  @inlinable
  public init() {}

  deinit { kept?.deallocate() }

  /// Bytes of memory held at the moment.
  public var heldByteCount: Int { kept?.count ?? 0 }

  /// The next whole frame, moving `input` past what was used; nil when all of `input` is used up. The frame may be
  /// read until the next call. `limit` is the largest body accepted, in bytes, and may differ from call to call.
  @inlinable
  public mutating func next(
    _ input: inout UnsafeRawBufferPointer, limit: Int
  ) throws(CourierProtocolError) -> CourierFrame? {
    if kept == nil, let frame = try Self.wholeFrame(in: &input, limit: limit) { return frame }
    return try nextFromKept(&input, limit: limit)
  }

  /// A frame that lies whole at the start of `input`; nil, with nothing moved, if there is none.
  @inlinable
  static func wholeFrame(
    in input: inout UnsafeRawBufferPointer, limit: Int
  ) throws(CourierProtocolError) -> CourierFrame? {
    guard input.count >= 5, let base = input.baseAddress else { return nil }
    let command = base.load(as: UInt8.self)
    guard command != 0 else { return nil }
    let length = try bodyLength(at: base, limit: limit)
    guard input.count &- 5 >= length else { return nil }
    input = UnsafeRawBufferPointer(start: base + 5 + length, count: input.count &- 5 &- length)
    return CourierFrame(commandByte: command, body: UnsafeRawBufferPointer(start: base + 5, count: length))
  }

  @inlinable
  static func bodyLength(at header: UnsafeRawPointer, limit: Int) throws(CourierProtocolError) -> Int {
    let length = Int(UInt32(bigEndian: header.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
    guard length <= limit else {
      throw .frameTooLong(command: header.load(as: UInt8.self), length: length, limit: limit)
    }
    return length
  }
}
