import Basics

/// Frames built by hand, so that a test may send what no proper client would.
enum RawFrame {
  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  static let settings = frame(4, 0, 0, [])
  static let settingsAcknowledgement = frame(4, 1, 0, [])
  static let endStream: UInt8 = 1
  static let endHeaders: UInt8 = 4

  static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
    let count = payload.count
    let header = [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255), type, flags]
    return header + word(stream) + payload
  }

  static func word(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// HPACK literals without indexing and without Huffman coding (RFC 7541 6.2.2).
  static func block(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { [0] + text($0.0) + text($0.1) }
  }

  static func headers(
    _ stream: UInt32, _ fields: [(String, String)], flags: UInt8 = endHeaders | endStream
  ) -> [UInt8] {
    frame(1, flags, stream, block(fields))
  }

  static func data(_ stream: UInt32, _ bytes: [UInt8], isLast: Bool = true) -> [UInt8] {
    frame(0, isLast ? endStream : 0, stream, bytes)
  }

  static func continuation(_ stream: UInt32, _ block: [UInt8], isLast: Bool) -> [UInt8] {
    frame(9, isLast ? endHeaders : 0, stream, block)
  }

  static func reset(_ stream: UInt32, _ code: UInt32) -> [UInt8] { frame(3, 0, stream, word(code)) }
  static func ping(_ flags: UInt8 = 0) -> [UInt8] { frame(6, flags, 0, [1, 2, 3, 4, 5, 6, 7, 8]) }

  /// The pseudo-fields of a push.
  static let pseudo = [
    (":method", "POST"), (":scheme", "https"), (":path", "/3/device/00"), (":authority", "localhost"),
  ]

  private static func text(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    var count = bytes.count
    guard count >= 127 else { return [UInt8(count)] + bytes }
    var length: [UInt8] = [127]
    count -= 127
    while count >= 128 {
      length.append(UInt8(count & 127 | 128))
      count >>= 7
    }
    return length + [UInt8(count)] + bytes
  }
}

/// One frame read back from a run of bytes.
struct ReadFrame: Equatable, CustomStringConvertible {
  var type: UInt8
  var flags: UInt8
  var stream: UInt32
  var payload: [UInt8]

  static func all(_ bytes: [UInt8]) -> [ReadFrame] {
    var frames: [ReadFrame] = []
    var position = 0
    while position + 9 <= bytes.count {
      let count = Int(bytes[position]) << 16 | Int(bytes[position + 1]) << 8 | Int(bytes[position + 2])
      let stream = bytes[position + 5..<position + 9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let end = min(bytes.count, position + 9 + count)
      frames.append(
        ReadFrame(
          type: bytes[position + 3], flags: bytes[position + 4], stream: stream,
          payload: Array(bytes[position + 9..<end])))
      position += 9 + count
    }
    return frames
  }

  var description: String { "type \(type) flags \(flags) stream \(stream) \(Hex.encode(payload))" }
}
