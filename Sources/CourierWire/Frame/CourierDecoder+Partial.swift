extension CourierDecoder {
  /// Everything but the ordinary case of whole frames in the input.
  @usableFromInline
  mutating func nextFromKept(
    _ input: inout UnsafeRawBufferPointer, limit: Int
  ) throws(CourierProtocolError) -> CourierFrame? {
    releaseLentFrame()
    if kept == nil {
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
    guard let header = kept?.baseAddress, keptCount >= CourierLimits.headerByteCount else { return nil }
    let total = CourierLimits.headerByteCount + (try Self.bodyLength(at: header, limit: limit))
    keep(&input, upTo: total)
    guard keptCount == total, let base = kept?.baseAddress else { return nil }
    let body = UnsafeRawBufferPointer(start: base + CourierLimits.headerByteCount, count: total - 5)
    isLent = true
    return CourierFrame(commandByte: base.load(as: UInt8.self), body: body)
  }

  /// Moves bytes from `input` until `total` are kept or `input` is empty.
  private mutating func keep(_ input: inout UnsafeRawBufferPointer, upTo total: Int) {
    let count = min(input.count, total - keptCount)
    guard count > 0 else { return }
    let buffer = room(for: keptCount + count, outOf: total)
    UnsafeMutableRawBufferPointer(rebasing: buffer[keptCount...]).copyMemory(
      from: UnsafeRawBufferPointer(rebasing: input[..<count]))
    keptCount += count
    input = UnsafeRawBufferPointer(rebasing: input[count...])
  }

  /// Memory for at least `count` bytes, doubling so that a peer who sends byte by byte does not make us copy
  /// the whole each time, and never more than the frame's `total`.
  private mutating func room(for count: Int, outOf total: Int) -> UnsafeMutableRawBufferPointer {
    if let kept, kept.count >= count { return kept }
    let capacity = max(count, min(total, 2 * keptCount))
    let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
    if let kept {
      grown.copyMemory(from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(kept)[..<keptCount]))
      kept.deallocate()
    }
    kept = grown
    return grown
  }

  /// Frees the frame that the last call lent out.
  private mutating func releaseLentFrame() {
    guard isLent else { return }
    kept?.deallocate()
    (kept, keptCount, isLent) = (nil, 0, false)
  }
}
