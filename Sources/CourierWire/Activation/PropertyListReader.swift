import PushModel

extension PropertyList {
  /// Reads an XML property list; nil if it is not one. No entity beyond those of XML itself is expanded and a document type
  /// is skipped unread, so a document cannot grow by being read.
  init?(document: [UInt8]) {
    var reader = PropertyListReader(document)
    guard let value = reader.root() else { return nil }
    self = value
  }
}

/// Walks over the tags of a document.
private struct PropertyListReader {
  private enum Tag: Equatable {
    case open(String)
    case close(String)
    case empty(String)
  }

  private var rest: ArraySlice<UInt8>

  init(_ document: [UInt8]) { rest = document[...] }

  /// The value inside `plist`, or a bare one.
  mutating func root() -> PropertyList? {
    guard let first = tag() else { return nil }
    return value(first == .open("plist") ? tag() : first, depth: 0)
  }

  private mutating func value(_ tag: Tag?, depth: Int) -> PropertyList? {
    guard depth < PropertyList.maximumDepth else { return nil }
    switch tag {
    case .open("dict"): return dictionary(depth: depth)
    case .open("array"): return array(depth: depth)
    case .open("data"): return text(of: "data").flatMap { Base64.decode($0.utf8) }.map(PropertyList.data)
    case .open(let name) where ["string", "integer", "real", "date"].contains(name):
      return text(of: name).map(PropertyList.string)
    case .empty("true"): return .boolean(true)
    case .empty("false"): return .boolean(false)
    case .empty("dict"): return .dictionary([])
    case .empty("array"): return .array([])
    case .empty("string"): return .string("")
    case .empty("data"): return .data([])
    default: return nil
    }
  }

  private mutating func dictionary(depth: Int) -> PropertyList? {
    var members: [(String, PropertyList)] = []
    while let next = tag() {
      if next == .close("dict") { return .dictionary(members) }
      guard next == .open("key"), let key = text(of: "key"), let value = value(tag(), depth: depth + 1)
      else { return nil }
      members.append((key, value))
    }
    return nil
  }

  private mutating func array(depth: Int) -> PropertyList? {
    var values: [PropertyList] = []
    while let next = tag() {
      if next == .close("array") { return .array(values) }
      guard let value = value(next, depth: depth + 1) else { return nil }
      values.append(value)
    }
    return nil
  }

  /// The text up to the end tag of `name`.
  private mutating func text(of name: String) -> String? {
    let end = rest.firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex
    guard let text = String(validating: rest[..<end], as: UTF8.self).flatMap(Self.unescaped) else {
      return nil
    }
    rest = rest[end...]
    return tag() == .close(name) ? text : nil
  }

  /// The next tag behind white space, declarations and comments.
  private mutating func tag() -> Tag? {
    while true {
      rest = rest.drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
      guard rest.first == UInt8(ascii: "<"), let content = upToMark() else { return nil }
      switch content.first {
      case UInt8(ascii: "?"), UInt8(ascii: "!"): continue
      case UInt8(ascii: "/"): return .close(Self.name(content.dropFirst()))
      default:
        let name = Self.name(content)
        return content.last == UInt8(ascii: "/") ? .empty(name) : .open(name)
      }
    }
  }

  /// What stands between `<` and its end, which for a comment is `-->`. A document type with declarations of its own
  /// does not end where it seems to and so is not read any further.
  private mutating func upToMark() -> ArraySlice<UInt8>? {
    let isComment = rest.starts(with: "<!--".utf8)
    guard let end = rest.firstRange(of: Array((isComment ? "-->" : ">").utf8)) else { return nil }
    let content = rest[(rest.startIndex + 1)..<end.lowerBound]
    rest = rest[end.upperBound...]
    return content
  }

  private static func name(_ content: ArraySlice<UInt8>) -> String {
    let name = content.prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }
    return String(decoding: name, as: UTF8.self)
  }

  /// Text with the five entities of XML and numbered characters replaced; nil for any other entity.
  private static func unescaped(_ text: String) -> String? {
    var rest = text.unicodeScalars[...]
    var result = String.UnicodeScalarView()
    while let start = rest.firstIndex(of: "&") {
      result.append(contentsOf: rest[..<start])
      rest = rest[rest.index(after: start)...]
      guard let end = rest.firstIndex(of: ";"), let scalar = scalar(String(rest[..<end])) else { return nil }
      result.append(scalar)
      rest = rest[rest.index(after: end)...]
    }
    result.append(contentsOf: rest)
    return String(result)
  }

  private static func scalar(_ entity: String) -> Unicode.Scalar? {
    switch entity {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default: break
    }
    guard entity.first == "#" else { return nil }
    let digits = entity.dropFirst()
    let number = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return number.flatMap(Unicode.Scalar.init)
  }
}
