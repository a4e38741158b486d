import PushModel

/// Bytes of a stream in the format of server-sent events.
public enum ServerSentEvent {
  /// One event with any data: a `data:` line for each line of it, so that nothing in it can pass for another field. A line ends
  /// with LF, CR or both, as clients have it.
  ///
  ///     ServerSentEvent.bytes("ping", data: Array("a\nb".utf8))  // event: ping, data: a, data: b, and an empty line
  public static func bytes(_ name: String, data: some Collection<UInt8>) -> [UInt8] {
    var bytes = Array("event: \(name)\ndata: ".utf8)
    bytes.reserveCapacity(bytes.count + data.count + 2)
    var isAfterReturn = false
    for byte in data {
      defer { isAfterReturn = byte == carriageReturn }
      switch byte {
      case lineFeed where isAfterReturn: break
      case lineFeed, carriageReturn: bytes.append(contentsOf: nextLine)
      default: bytes.append(byte)
      }
    }
    bytes.append(contentsOf: [lineFeed, lineFeed])
    return bytes
  }

  /// One event whose data is a document; JSON has no line breaks, so one data line holds it.
  static func line(id: String? = nil, _ name: String, _ json: JSONValue) -> String {
    "\(id.map { "id: \($0)\n" } ?? "")event: \(name)\ndata: \(json.text)\n\n"
  }

  /// The same as bytes.
  public static func bytes(id: String? = nil, _ name: String, _ json: JSONValue) -> [UInt8] {
    Array(line(id: id, name, json).utf8)
  }

  /// What clients ignore.
  public static func comment(_ text: String) -> [UInt8] { Array(": \(text)\n\n".utf8) }

  private static let lineFeed: UInt8 = 0x0a
  private static let carriageReturn: UInt8 = 0x0d
  private static let nextLine = Array("\ndata: ".utf8)
}
