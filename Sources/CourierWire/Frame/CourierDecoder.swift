import Basics

/// Cuts the bytes of a device connection into frames (`Documentation/device-protocol.md#framing`), in any segmentation.
///
/// Frames that lie whole in the input are lent from there; only the beginning of an unfinished one is kept, and
/// memory for it grows with what has arrived, not with what was announced. Between frames nothing is held.
///
/// ```
/// var input = bytes
/// while let action = try decoder.next(&input, limit: session.frameLimit, { session.frameReceived($0, at: now) }) { … }
/// ```
///
/// A frame is lent for a call: nobody can keep it. An object that has a decoder takes it out of itself meanwhile (`swap`).
public struct CourierDecoder: ~Copyable {
  /// The unfinished frame, with its header.
  private var kept = ByteBuffer()
  /// Whether anything is kept.
  public var isAmidFrame = false

  public init() {}

  /// Bytes of memory held at the moment.
  public var heldByteCount: Int { kept.capacity }

  /// Lends the next whole frame to `read` and answers what that makes of it, moving `input` past what was used; nil when all of
  /// `input` is used up. `limit` is the largest body accepted, in bytes, and may differ from call to call.
  @inlinable
  public mutating func next<Result>(
    _ input: inout Span<UInt8>, limit: Int, _ read: (CourierFrame) throws(CourierProtocolError) -> Result
  ) throws(CourierProtocolError) -> Result? {
    if !isAmidFrame, let frame = try Self.wholeFrame(in: &input, limit: limit) { return try read(frame) }
    return try nextFromKept(&input, limit: limit, read)
  }

  /// A frame that lies whole at the start of `input`; nil, with nothing moved, if there is none.
  @inlinable
  @_lifetime(copy input)
  static func wholeFrame(
    in input: inout Span<UInt8>, limit: Int
  ) throws(CourierProtocolError) -> CourierFrame? {
    guard input.count >= CourierLimits.headerByteCount, input[0] != 0 else { return nil }
    let end = CourierLimits.headerByteCount &+ (try bodyLength(input, limit: limit))
    guard input.count >= end else { return nil }
    let frame = CourierFrame(
      commandByte: input[0], body: input.extracting(CourierLimits.headerByteCount..<end))
    input = input.dropping(end)
    return frame
  }

  /// What the whole header at the start of `bytes` announces.
  @inlinable
  static func bodyLength(_ bytes: Span<UInt8>, limit: Int) throws(CourierProtocolError) -> Int {
    let length = Int(bytes.bigEndian(UInt32.self, at: 1))
    guard length <= limit else { throw .frameTooLong(command: bytes[0], length: length, limit: limit) }
    return length
  }

  /// Everything but the ordinary case of whole frames in the input.
  public mutating func nextFromKept<Result>(
    _ input: inout Span<UInt8>, limit: Int, _ read: (CourierFrame) throws(CourierProtocolError) -> Result
  ) throws(CourierProtocolError) -> Result? {
    if !isAmidFrame {
      // A command byte of 0 means "nothing here" and has no length (2).
      while input.first == 0 { input = input.dropping(1) }
      if let frame = try Self.wholeFrame(in: &input, limit: limit) { return try read(frame) }
    }
    guard try complete(&input, limit: limit) else { return nil }
    defer {
      kept.free()
      isAmidFrame = false
    }
    return try read(
      CourierFrame(commandByte: kept.span[0], body: kept.span.dropping(CourierLimits.headerByteCount)))
  }

  /// Fills the kept frame from `input`: first its header, then, the length being known, its body. Answers whether it is whole.
  private mutating func complete(
    _ input: inout Span<UInt8>, limit: Int
  ) throws(CourierProtocolError) -> Bool {
    keep(&input, upTo: CourierLimits.headerByteCount)
    guard kept.count >= CourierLimits.headerByteCount else { return false }
    let total = CourierLimits.headerByteCount + (try Self.bodyLength(kept.span, limit: limit))
    keep(&input, upTo: total)
    return kept.count == total
  }

  /// Moves bytes from `input` until `total` are kept or `input` is empty. Memory doubles, so that a peer who sends byte by
  /// byte does not make us copy the whole each time, and is never more than the frame's `total`.
  private mutating func keep(_ input: inout Span<UInt8>, upTo total: Int) {
    let count = min(input.count, total - kept.count)
    guard count > 0 else { return }
    let needed = kept.count + count
    if kept.capacity < needed { kept.resize(to: max(needed, min(total, 2 * kept.count))) }
    kept.append(input.prefix(count))
    isAmidFrame = true
    input = input.dropping(count)
  }
}

/// One command as it lies in somebody else's memory.
public struct CourierFrame: ~Escapable {
  /// The command byte, known or not.
  public let commandByte: UInt8
  /// Everything after command byte and length.
  public let body: Span<UInt8>

  @inlinable
  @_lifetime(copy body)
  public init(commandByte: UInt8, body: Span<UInt8>) {
    self.commandByte = commandByte
    self.body = body
  }

  /// The command, or nil for one that is to be skipped.
  @inlinable public var command: CourierCommand? { CourierCommand(rawValue: commandByte) }

  /// Whether it is an `Acknowledgement`.
  @inlinable public var isReceipt: Bool { commandByte == CourierCommand.acknowledgement.rawValue }

  /// A cursor over the items, in the order in which they were sent.
  @inlinable public var items: CourierItemCursor {
    @_lifetime(copy self)
    get { CourierItemCursor(self) }
  }
}

/// One item as it lies in somebody else's memory.
public struct CourierItemView: ~Escapable {
  public let id: UInt8
  public let value: Span<UInt8>

  @inlinable
  @_lifetime(copy value)
  init(id: UInt8, value: Span<UInt8>) {
    self.id = id
    self.value = value
  }

  /// A copy of the value.
  var bytes: [UInt8] { Array(value) }

  /// The value as UTF-8; what is not UTF-8 is replaced.
  public var text: String { value.text }

  /// The value as an integer of exactly that width, or nil.
  @inlinable
  public func integer<Integer: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _: Integer.Type = Integer.self
  ) -> Integer? {
    value.count == MemoryLayout<Integer>.size ? value.bigEndian(Integer.self, at: 0) : nil
  }

  /// The value as an integer of exactly that width.
  @inlinable
  func requireInteger<Integer: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _: Integer.Type = Integer.self
  ) throws(CourierProtocolError) -> Integer {
    guard let integer = integer(Integer.self) else { throw malformed }
    return integer
  }

  public var malformed: CourierProtocolError { .itemMalformed(id, length: value.count) }
}

/// Walks over the items of a frame without copying: `while let item = try items.next() { … }`.
public struct CourierItemCursor: ~Escapable {
  /// What has not been walked over yet.
  public var rest: Span<UInt8>
  public let commandByte: UInt8

  @inlinable
  @_lifetime(copy frame)
  init(_ frame: CourierFrame) {
    rest = frame.body
    commandByte = frame.commandByte
  }

  /// The next item; nil at the end. Throws when the item would end outside the frame.
  @inlinable
  @_lifetime(copy self)
  public mutating func next() throws(CourierProtocolError) -> CourierItemView? {
    let remaining = rest.count
    guard remaining > 0 else { return nil }
    guard remaining >= CourierLimits.itemHeaderByteCount else {
      throw .itemOverrun(command: commandByte, remaining: remaining)
    }
    let end = CourierLimits.itemHeaderByteCount &+ Int(rest.bigEndian(UInt16.self, at: 1))
    guard end <= remaining else { throw .itemOverrun(command: commandByte, remaining: remaining) }
    let item = CourierItemView(id: rest[0], value: rest.extracting(CourierLimits.itemHeaderByteCount..<end))
    rest = rest.dropping(end)
    return item
  }
}
