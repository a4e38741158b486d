import PushModel

/// What a client hears that does not speak HTTP/2: Apple's server says so in plain text with a hex dump
/// (`Documentation/provider-api.md#connection`). A client of HTTP/1 gets the same text as a proper answer, so that it
/// shows it.
enum OtherProtocolAnswer {
  /// How much of what came is shown, in bytes.
  static let shownBytes = 24

  /// The whole answer to a client that did not agree on HTTP/2 before.
  static func bytes(_ first: [UInt8]) -> [UInt8] {
    let text = text(first)
    return Array((isHTTP1(first) ? head(text.utf8.count) : "").utf8) + Array(text.utf8)
  }

  /// The text alone.
  static func text(_ first: [UInt8]) -> String {
    "HTTP/2 client preface string missing or corrupt. Hex dump for received bytes: "
      + Hex.encode(first.prefix(shownBytes)) + "\n"
      + "The APNs provider API speaks HTTP/2 only. For HTTP/1.1 use POST /3/device/{token} on the emulator's console.\n"
  }

  private static func head(_ length: Int) -> String {
    "HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Type: text/plain\r\nContent-Length: \(length)\r\n"
      + "Connection: close\r\n\r\n"
  }

  /// Whether this looks like a request line: a method in capitals, then a path.
  private static func isHTTP1(_ first: [UInt8]) -> Bool {
    let method = first.prefix { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
    return !method.isEmpty && first.dropFirst(method.count).starts(with: " /".utf8)
  }
}
