import Basics

/// A value of an XML property list, as far as activation uses that format.
public indirect enum PropertyList: Equatable {
  case dictionary([String: PropertyList])
  case array([PropertyList])
  case string(String)
  case data([UInt8])
  case boolean(Bool)

  /// Deepest nesting read, as a count; activation has three levels.
  public static let maximumDepth = 16

  /// Reads an XML property list; nil if it is not one. A document type with declarations of its own is refused unread, so a
  /// document cannot grow by being read.
  public init?(document: [UInt8]) {
    // XML wants its declaration first; a page may have line breaks before it.
    let start = document.firstIndex { !Self.isSpace($0) } ?? document.count
    guard let value = PropertyListReader()?.read(document.span.dropping(start)) else { return nil }
    self = value
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

  /// The member of that name, if this is a dictionary that has one.
  public subscript(key: String) -> PropertyList? {
    guard case .dictionary(let members) = self else { return nil }
    return members[key]
  }

  /// The bytes of data, or of a string.
  public var bytes: [UInt8]? {
    switch self {
    case .data(let bytes): bytes
    case .string(let text): Array(text.utf8)
    case .dictionary, .array, .boolean: nil
    }
  }

  /// A string, or data that is text: clients put PEM into either.
  public var text: String? { bytes.flatMap { String(validating: $0, as: UTF8.self) } }

  /// A whole document without a line break.
  public var document: String {
    #"<?xml version="1.0" encoding="UTF-8"?><plist version="1.0">"# + element + "</plist>"
  }

  private var element: String {
    switch self {
    case .dictionary(let members):
      "<dict>"
        + members.sorted { $0.key < $1.key }.map { "<key>\(Self.escaped($0))</key>\($1.element)" }.joined()
        + "</dict>"
    case .array(let values): "<array>" + values.map(\.element).joined() + "</array>"
    case .string(let text): "<string>\(Self.escaped(text))</string>"
    case .data(let bytes): "<data>\(Base64.encode(bytes))</data>"
    case .boolean(let value): value ? "<true/>" : "<false/>"
    }
  }

  private static let entities: [Unicode.Scalar: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;"]

  /// Text as it stands in XML.
  public static func escaped(_ text: String) -> String {
    text.unicodeScalars.map { entities[$0] ?? String($0) }.joined()
  }
}
