import PushModel

/// Keeps the bytes of an answer where they are until nghttp2 has sent them: it is given pointers, not copies.
final class HTTP2AnswerBuffer {
  /// Room for one status and two message ids.
  private static let statusOffset = 0
  private static let idOffset = 8
  private static let uniqueOffset = 48
  private static let size = 88
  /// Most of an explanation that its field carries, in bytes: some clients have little room for header fields.
  static let explanationLimit = 400

  private let scratch = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
  private var explanation: TextBuffer?
  private var body: [UInt8] = []
  private var sent = 0

  deinit { scratch.deallocate() }

  func reset() { setBody([]) }

  /// Length of the body, in bytes.
  var bodyBytes: Int { body.count }

  func setBody(_ bytes: [UInt8]) { (body, sent) = (bytes, 0) }

  /// The three digits of `status`.
  func status(_ status: Int) -> UnsafeRawBufferPointer {
    let digits = scratch + Self.statusOffset
    for (index, scale) in [100, 10, 1].enumerated() {
      digits.storeBytes(
        of: 48 + UInt8(truncatingIfNeeded: status / scale % 10), toByteOffset: index, as: UInt8.self)
    }
    return UnsafeRawBufferPointer(start: digits, count: 3)
  }

  func id(_ id: MessageID) -> UnsafeRawBufferPointer { write(id, at: Self.idOffset) }
  func uniqueID(_ id: MessageID) -> UnsafeRawBufferPointer { write(id, at: Self.uniqueOffset) }

  /// The line that explains a refusal: in visible ASCII, and not too much of it.
  func explanation(_ facts: Explanation) -> UnsafeRawBufferPointer {
    var text = explanation.take() ?? TextBuffer()
    text.removeAll()
    facts.write(to: &text)
    text.makeVisible(limit: Self.explanationLimit)
    let bytes = text.bytes
    explanation = consume text
    return bytes
  }

  /// Copies the next part of the body; answers its length and whether it was the last.
  func read(into destination: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
    let count = min(destination.count, body.count - sent)
    body.withUnsafeBytes {
      destination.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sent..<sent + count]))
    }
    sent += count
    return (count, sent == body.count)
  }

  private func write(_ id: MessageID, at offset: Int) -> UnsafeRawBufferPointer {
    id.write(to: scratch + offset)
    return UnsafeRawBufferPointer(start: scratch + offset, count: MessageID.textByteCount)
  }
}
