import Basics
import CourierWire

/// Bytes written as in the documentation: hexadecimal with blanks anywhere; unreadable text fails the comparison.
func bytes(_ hex: String) -> [UInt8] {
  Hex.decode(hex.filter { !$0.isWhitespace }) ?? []
}

/// Lends the only frame of `bytes`.
func withFrame<Result>(
  _ bytes: [UInt8], limit: Int = CourierLimits.frameAfterConnect, _ body: (CourierFrame) throws -> Result
) throws -> Result? {
  var decoder = CourierDecoder()
  var input = bytes.span
  return try decoder.next(&input, limit: limit) { frame in Swift.Result { try body(frame) } }?.get()
}

/// Reads the only command of `bytes`.
func parse<Value: CourierCommandValue>(_: Value.Type, _ bytes: [UInt8]) throws -> Value? {
  try withFrame(bytes) { try Value($0) }
}

/// A frame copied out of the decoder's reach.
struct CopiedFrame: Equatable {
  var command: UInt8
  var body: [UInt8]
}

extension CopiedFrame {
  init(_ frame: CourierFrame) { self.init(command: frame.commandByte, body: Array(frame.body)) }
}

extension CourierDecoder {
  /// All frames of one piece of input, copied.
  mutating func frames(
    in piece: some Sequence<UInt8>, limit: Int = CourierLimits.frameAfterConnect
  ) throws -> [CopiedFrame] {
    var frames: [CopiedFrame] = []
    let piece = Array(piece)
    var input = piece.span
    while let frame = try next(&input, limit: limit, { CopiedFrame($0) }) { frames.append(frame) }
    return frames
  }
}
