import Basics
import PushModel

/// JSON text in the making, in memory of its own that is used again. Millions of lines a second pass here.
final class CaptureText {
  /// Grows in large steps: what is copied is touched twice, what is never reached is never touched.
  private var buffer: ByteBuffer

  init(capacity: Int = 1 << 16, alignment: Int = 16) {
    buffer = ByteBuffer(capacity: capacity, growingBy: 8, alignment: alignment)
  }

  var count: Int { buffer.count }
  var bytes: UnsafeRawBufferPointer { buffer.bytes }

  func removeAll() { buffer.removeAll() }

  /// Forgets what is at the end.
  func removeLast(_ size: Int) { buffer.removeAll(from: count - size) }

  /// Forgets what is at the front; the rest moves there.
  func removeFirst(_ size: Int) { buffer.removeFirst(size) }

  /// Room for `size` more bytes.
  @inline(__always)
  func reserve(_ size: Int) { buffer.reserve(size) }

  /// JSON that is known to be so.
  @inline(__always)
  func literal(_ text: StaticString) {
    buffer.append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @inline(__always)
  func number(_ value: some BinaryInteger) {
    buffer.append(atMost: 20) { digits in
      var rest = UInt64(clamping: value)
      var size = 1
      var limit: UInt64 = 10
      while rest >= limit, size < 20 {
        size &+= 1
        let (product, overflow) = limit.multipliedReportingOverflow(by: 10)
        limit = overflow ? .max : product
      }
      var end = size
      repeat {
        end &-= 1
        digits.storeBytes(of: 0x30 &+ UInt8(truncatingIfNeeded: rest % 10), toByteOffset: end, as: UInt8.self)
        rest /= 10
      } while rest > 0
      return size
    }
  }

  /// A string that holds base64.
  @inline(__always)
  func base64(_ bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count / 3 * 4 + 6)
    byte(UInt8(ascii: "\""))
    buffer.append(atMost: bytes.count / 3 * 4 + 4) { Base64.encode(bytes, to: $0) }
    byte(UInt8(ascii: "\""))
  }

  /// A string of UTF-8.
  func string(_ text: some Sequence<UInt8>) {
    byte(UInt8(ascii: "\""))
    for character in text {
      reserve(8)
      switch character {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        byte(UInt8(ascii: "\\"))
        byte(character)
      case 0..<0x20, 0x7f: escape(character)
      default: byte(character)
      }
    }
    byte(UInt8(ascii: "\""))
  }

  private func escape(_ character: UInt8) {
    literal("\\u00")
    for digit in [character >> 4, character & 15] {
      byte(digit < 10 ? 0x30 &+ digit : 0x57 &+ digit)
    }
  }

  func string(_ text: String) { string(text.utf8) }

  /// A string of UTF-8; what is not is made good.
  func text(_ bytes: UnsafeRawBufferPointer) {
    if JSONText.isPlain(bytes) { plainString(bytes) } else { string(String(decoding: bytes, as: UTF8.self)) }
  }

  /// A string of bytes that need no escape.
  func plainString(_ bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count + 2)
    byte(UInt8(ascii: "\""))
    buffer.append(bytes)
    byte(UInt8(ascii: "\""))
  }

  func apnsID(_ id: APNSID) {
    reserve(APNSID.textByteCount + 2)
    byte(UInt8(ascii: "\""))
    buffer.append(atMost: APNSID.textByteCount) { end in
      id.write(to: end)
      return APNSID.textByteCount
    }
    byte(UInt8(ascii: "\""))
  }

  @inline(__always)
  func byte(_ value: UInt8) { buffer.append(value) }

  // MARK: Bytes

  /// Adds what `body` writes to room for `size` bytes, as many as it says; nil, and nothing added, if it says nil.
  @inline(__always)
  func extend(atMost size: Int, _ body: (UnsafeMutableRawPointer) -> Int?) -> CaptureEntry.Piece? {
    let start = count
    guard let added = buffer.append(atMost: size, body) else { return nil }
    return CaptureEntry.Piece(
      start: UInt32(truncatingIfNeeded: start), count: UInt32(truncatingIfNeeded: added))
  }

  func extend(_ bytes: UnsafeRawBufferPointer) -> CaptureEntry.Piece {
    let start = count
    buffer.append(bytes)
    return CaptureEntry.Piece(
      start: UInt32(truncatingIfNeeded: start), count: UInt32(truncatingIfNeeded: bytes.count))
  }

  /// How many frames a piece holds; nil if anything is left over.
  func count(framesIn piece: CaptureEntry.Piece) -> Int? {
    let (start, size) = (Int(piece.start), Int(piece.count))
    return FrameExtent.count(in: UnsafeRawBufferPointer(rebasing: bytes[start..<start + size]))
  }

  func store(_ value: UInt16, at position: Int) {
    buffer.mutableBytes.storeBytes(of: value, toByteOffset: position, as: UInt16.self)
  }
}
