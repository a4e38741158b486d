import Basics
import LegacyWire

/// Where frames that lie one behind the other end.
enum FrameExtent {
  /// How many of the bytes are the frame at their beginning, as it says itself; nil if they are fewer than that, or
  /// nothing that says so.
  @inline(__always)
  static func of(_ bytes: Span<UInt8>) -> Int? {
    guard bytes.first == LegacyCommand.frame.rawValue else { return ofOld(bytes) }
    guard bytes.count >= 5 else { return nil }
    let length = Int(bytes.bigEndian(UInt32.self, at: 1))
    return length <= bytes.count - 5 ? 5 + length : nil
  }

  /// Of commands 0 and 1.
  private static func ofOld(_ bytes: Span<UInt8>) -> Int? {
    guard !bytes.isEmpty, case .notification(let frame) = LegacyFrameParser.next(in: bytes) else {
      return nil
    }
    return frame.frame.count
  }

  /// How many frames the bytes are; nil if anything is left over.
  static func count(in bytes: Span<UInt8>) -> Int? {
    var (start, count) = (0, 0)
    while start < bytes.count {
      guard let size = of(bytes.dropping(start)) else { return nil }
      start += size
      count += 1
    }
    return count
  }

  /// Calls `body` with each frame in a part of `bytes`, and where it begins. Where no end is told it is the part's.
  static func forEach(
    in bytes: Span<UInt8>, _ part: Range<Int>, _ body: (Span<UInt8>, Int) -> Void
  ) {
    var start = part.lowerBound
    while start < part.upperBound {
      let rest = bytes.extracting(start..<part.upperBound)
      let count = of(rest) ?? rest.count
      body(rest.prefix(count), start)
      start += count
    }
  }
}
