import PushModel

/// A form as browsers post it, `application/x-www-form-urlencoded`.
enum FormBody {
  /// A form with one field.
  static func encode(_ name: String, _ value: String) -> [UInt8] {
    Array(name.utf8) + [UInt8(ascii: "=")] + value.utf8.flatMap(encoded)
  }

  private static func encoded(_ byte: UInt8) -> [UInt8] {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      [byte]
    default: [UInt8(ascii: "%")] + Hex.encode([byte]).uppercased().utf8
    }
  }

  /// The value of the first field of that name; nil if there is none or it is not well formed.
  static func value(of name: String, in form: UnsafeRawBufferPointer) -> [UInt8]? {
    for field in form.split(separator: UInt8(ascii: "&")) {
      guard let equals = field.firstIndex(of: UInt8(ascii: "=")),
        field[..<equals].elementsEqual(name.utf8)
      else { continue }
      return decoded(field[(equals + 1)...])
    }
    return nil
  }

  private static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var characters = text.makeIterator()
    while let character = characters.next() {
      switch character {
      case UInt8(ascii: "+"): bytes.append(0x20)
      case UInt8(ascii: "%"):
        guard let high = characters.next().flatMap(Hex.value), let low = characters.next().flatMap(Hex.value)
        else { return nil }
        bytes.append(high << 4 | low)
      default: bytes.append(character)
      }
    }
    return bytes
  }
}
