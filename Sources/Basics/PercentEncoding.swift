/// What is special in a URL as `%` and two hexadecimal digits (RFC 3986 2.1).
///
///     PercentEncoding.decode("p%40ss".utf8)  // "p@ss"
public enum PercentEncoding {
  /// The bytes that a text stands for; nil for a `%` without two digits behind it.
  public static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(Hex.value), let low = rest.next().flatMap(Hex.value) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// A text in which nothing is special but those digits: all but letters, digits and `-._~` (RFC 3986 2.3).
  public static func encode(_ text: String) -> String {
    text.utf8.reduce(into: "") { result, byte in
      let scalar = Unicode.Scalar(byte)
      let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
      if isPlain || "-._~".unicodeScalars.contains(scalar) {
        result.unicodeScalars.append(scalar)
      } else {
        result += "%" + Hex.encode([byte])
      }
    }
  }

  /// The same as UTF-8; nil too for what is none.
  public static func text(_ text: some StringProtocol) -> String? {
    decode(text.utf8).flatMap { String(validating: $0, as: UTF8.self) }
  }
}
