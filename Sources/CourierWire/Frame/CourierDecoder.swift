import Basics
import PushModel

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
  private var kept = ByteBuffer()
  /// Whether anything is kept.
  public var isAmidFrame = false
  /// Whether `kept` is a whole frame that the caller may still be reading.
  private var isLent = false

  public init() {}

  /// Bytes of memory held at the moment.
  public var heldByteCount: Int { kept.capacity }

  /// The next whole frame, moving `input` past what was used; nil when all of `input` is used up. The frame may be
  /// read until the next call. `limit` is the largest body accepted, in bytes, and may differ from call to call.
  @inlinable
  public mutating func next(
    _ input: inout UnsafeRawBufferPointer, limit: Int
  ) throws(CourierProtocolError) -> CourierFrame? {
    if !isAmidFrame, let frame = try Self.wholeFrame(in: &input, limit: limit) { return frame }
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

  /// Everything but the ordinary case of whole frames in the input.
  public mutating func nextFromKept(
    _ input: inout UnsafeRawBufferPointer, limit: Int
  ) throws(CourierProtocolError) -> CourierFrame? {
    releaseLentFrame()
    if !isAmidFrame {
      skipNothings(&input)
      if let frame = try Self.wholeFrame(in: &input, limit: limit) { return frame }
    }
    return try complete(&input, limit: limit)
  }

  /// A command byte of 0 means "nothing here" and has no length (2).
  private func skipNothings(_ input: inout UnsafeRawBufferPointer) {
    let count = input.prefix { $0 == 0 }.count
    input = UnsafeRawBufferPointer(rebasing: input[count...])
  }

  /// Fills the kept frame from `input`: first its header, then, the length being known, its body.
  private mutating func complete(
    _ input: inout UnsafeRawBufferPointer, limit: Int
  ) throws(CourierProtocolError) -> CourierFrame? {
    keep(&input, upTo: CourierLimits.headerByteCount)
    guard let header = kept.bytes.baseAddress, kept.count >= CourierLimits.headerByteCount else { return nil }
    let total = CourierLimits.headerByteCount + (try Self.bodyLength(at: header, limit: limit))
    keep(&input, upTo: total)
    guard kept.count == total, let base = kept.bytes.baseAddress else { return nil }
    let body = UnsafeRawBufferPointer(start: base + CourierLimits.headerByteCount, count: total - 5)
    isLent = true
    return CourierFrame(commandByte: base.load(as: UInt8.self), body: body)
  }

  /// Moves bytes from `input` until `total` are kept or `input` is empty. Memory doubles, so that a peer who sends byte by
  /// byte does not make us copy the whole each time, and is never more than the frame's `total`.
  private mutating func keep(_ input: inout UnsafeRawBufferPointer, upTo total: Int) {
    let count = min(input.count, total - kept.count)
    guard count > 0 else { return }
    let needed = kept.count + count
    if kept.capacity < needed { kept.resize(to: max(needed, min(total, 2 * kept.count))) }
    kept.append(UnsafeRawBufferPointer(rebasing: input[..<count]))
    isAmidFrame = true
    input = UnsafeRawBufferPointer(rebasing: input[count...])
  }

  /// Frees the frame that the last call lent out.
  private mutating func releaseLentFrame() {
    guard isLent else { return }
    kept.free()
    (isAmidFrame, isLent) = (false, false)
  }
}

/// One command as it lies in somebody else's memory: valid until the decoder that lent it is called again.
@frozen public struct CourierFrame {
  /// The command byte, known or not.
  public let commandByte: UInt8
  /// Everything after command byte and length.
  public let body: UnsafeRawBufferPointer

  @inlinable
  public init(commandByte: UInt8, body: UnsafeRawBufferPointer) {
    self.commandByte = commandByte
    self.body = body
  }

  /// The command, or nil for one that is to be skipped.
  @inlinable public var command: CourierCommand? { CourierCommand(rawValue: commandByte) }

  /// Whether it is an `Acknowledgement`.
  @inlinable public var isReceipt: Bool { commandByte == CourierCommand.acknowledgement.rawValue }

  /// A cursor over the items, in the order in which they were sent.
  @inlinable public var items: CourierItemCursor { CourierItemCursor(self) }
}

/// One item as it lies in somebody else's memory; valid as long as its frame.
@frozen public struct CourierItemView {
  public let id: UInt8
  public let value: UnsafeRawBufferPointer

  @inlinable
  init(id: UInt8, value: UnsafeRawBufferPointer) {
    self.id = id
    self.value = value
  }

  /// A copy of the value.
  var bytes: [UInt8] { Array(value) }

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

  public var malformed: CourierProtocolError { .itemMalformed(id, length: value.count) }
}

/// Walks over the items of a frame without copying: `while let item = try items.next() { … }`.
@frozen public struct CourierItemCursor {
  /// What has not been walked over yet.
  public var rest: UnsafeRawBufferPointer
  public let commandByte: UInt8

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
