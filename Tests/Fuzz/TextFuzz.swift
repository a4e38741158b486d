import Basics
import Faults
import PushModel

/// Small forms that appear in the text of others: Base64 in all its forms, hexadecimal, times, header fields, magic
/// tokens.
struct TextFuzz: FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer) {
    base64(input)
    hexadecimal(input)
    time(input)
    for (name, value) in FieldBlock.read(input.span) {
      precondition(name != "authorization" && value.utf8.count >= 0)
    }
    if let magic = MagicToken.read(Array(input)) {
      precondition(MagicToken.make(String(magic.word.dropFirst()))?.bytes.elementsEqual(input) == true)
    }
  }

  /// What the strict form takes, the others take alike, and it is how those bytes are written; what is encoded is decoded.
  private func base64(_ input: UnsafeRawBufferPointer) {
    if let bytes = Base64.decode(input, .strict) {
      precondition(Base64.decode(input, .forgiving) == bytes && Base64.decode(input, .webToken) == bytes)
      precondition(Base64.encode(bytes).utf8.elementsEqual(input))
    }
    if let bytes = Base64.decode(input, .webToken) {
      precondition(Base64.decode(Base64.encodeForURL(bytes).utf8, .webToken) == bytes)
    }
    if let bytes = Base64.decode(input) { precondition(bytes.count <= Base64.decodedLimit(input.count + 3)) }
    precondition(Base64.decode(Base64.encode(input).utf8, .strict)?.elementsEqual(input) == true)
  }

  private func hexadecimal(_ input: UnsafeRawBufferPointer) {
    precondition(Hex.decode(Hex.encode(input))?.elementsEqual(input) == true)
    guard let bytes = Hex.decode(digits: input) else { return }
    precondition(Hex.encode(bytes) == String(decoding: input, as: UTF8.self).lowercased())
  }

  private func time(_ input: UnsafeRawBufferPointer) {
    guard let time = Timestamp(rfc3339: String(decoding: input, as: UTF8.self)) else { return }
    // The ends of the range (1677, 2262) stand for everything beyond them, to the second.
    let second: Int64 = 1_000_000_000
    guard (Int64.min + second...Int64.max - second).contains(time.nanoseconds) else { return }
    // Shown in milliseconds: once it went through there, it is the same for ever.
    let shown = time.rfc3339
    precondition(Timestamp(rfc3339: shown)?.rfc3339 == shown)
  }
}
