import Basics

/// The target of a request: path and query, decoded; of CONNECT, the host and port that are asked for.
struct HTTPTarget {
  var path: String
  var segments: [String]
  var query: [(name: String, value: String)]
  /// The host of an absolute target, which goes before the Host field (RFC 9112 3.2.2).
  var authority: String?

  /// `isOfProxy`: CONNECT may ask for another server (RFC 9112 3.2.3).
  init(_ text: String, method: String, isOfProxy: Bool = false) throws(HTTPParseFailure) {
    guard text.utf8.allSatisfy({ $0 > ASCII.space && $0 != 0x7f }) else {
      throw HTTPParseFailure(400, "the request target has spaces or control characters")
    }
    guard !isOfProxy || method != "CONNECT" else {
      (path, segments, query) = (text, [], [])
      return
    }
    let origin = try Self.origin(text, method: method, authority: &authority)
    let parts = origin.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
      .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = String(parts[0])
    segments = []
    for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) where path != "/" {
      segments.append(try Self.decoded(part, plusIsSpace: false))
    }
    query = []
    if parts.count > 1 { query = try Self.items(parts[1]) }
  }

  /// Query items, as also used for a form body.
  static func items(_ text: Substring) throws(HTTPParseFailure) -> [(name: String, value: String)] {
    var items: [(name: String, value: String)] = []
    for item in text.split(separator: "&") {
      let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = sides.count > 1 ? try decoded(sides[1], plusIsSpace: true) : ""
      items.append((try decoded(sides[0], plusIsSpace: true), value))
    }
    return items
  }

  /// The part from the path on.
  private static func origin(
    _ text: String, method: String, authority: inout String?
  ) throws(HTTPParseFailure) -> Substring {
    if text.hasPrefix("/") || (text == "*" && method == "OPTIONS") { return text[...] }
    guard text.lowercased().hasPrefix("http://") else {
      throw HTTPParseFailure(400, "the request target is not a path")
    }
    let rest = text.dropFirst("http://".count)
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    authority = String(rest[..<end])
    guard end < rest.endIndex else { return "/" }
    return rest[end] == "/" ? rest[end...] : "/" + rest[end...]
  }

  private static func decoded(
    _ text: Substring, plusIsSpace: Bool
  ) throws(HTTPParseFailure) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(Hex.value), let low = rest.popFirst().flatMap(Hex.value)
        else {
          throw HTTPParseFailure(400, "the request target has % without two hexadecimal digits")
        }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(ASCII.space)
      default: bytes.append(byte)
      }
    }
    guard let decoded = String(validating: bytes, as: UTF8.self) else {
      throw HTTPParseFailure(400, "the request target is not UTF-8 once decoded")
    }
    return decoded
  }
}
