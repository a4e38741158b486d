import Basics
import CExpat

extension PropertyList {
  /// Reads an XML property list; nil if it is not one. A document type with declarations of its own is refused unread, so a
  /// document cannot grow by being read.
  public init?(document: [UInt8]) {
    guard let value = PropertyListReader().read(document) else { return nil }
    self = value
  }
}

/// Builds a value from what expat says of a document. Expat holds an unretained pointer to this object, which owns it.
private final class PropertyListReader {
  private let parser = XML_ParserCreate(nil)
  private var open: [OpenElement] = []
  private var root: PropertyList?
  /// The document is XML and no property list. Expat may have more to tell even so.
  private var isRefused = false

  deinit { XML_ParserFree(parser) }

  /// The value inside `plist`, or a bare one.
  func read(_ document: [UInt8]) -> PropertyList? {
    guard parser != nil else { return nil }
    listen()
    // XML wants its declaration first; a page may have line breaks before it.
    let status = document.drop(while: OpenElement.isSpace).withUnsafeBytes {
      XML_Parse(parser, $0.bindMemory(to: CChar.self).baseAddress, Int32(clamping: $0.count), 1)
    }
    return status == XML_STATUS_OK && !isRefused ? root : nil
  }

  private func listen() {
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser,
      { user, name, _ in
        if let name { PropertyListReader.tell(user) { $0.began(String(cString: name)) } }
      },
      { user, _ in PropertyListReader.tell(user) { $0.ended() } })
    XML_SetCharacterDataHandler(parser) { user, text, count in
      let bytes = UnsafeRawBufferPointer(start: text, count: Int(count))
      PropertyListReader.tell(user) { $0.said(bytes) }
    }
    // What is declared may be used again and again. Without declarations only XML's own entities are known; where a
    // document names its type, others are skipped and not an error.
    XML_SetStartDoctypeDeclHandler(parser) { user, _, _, _, hasDeclarations in
      PropertyListReader.tell(user) { if hasDeclarations != 0 { $0.refuse() } }
    }
    XML_SetSkippedEntityHandler(parser) { user, _, _ in PropertyListReader.tell(user) { $0.refuse() } }
  }

  private static func tell(_ user: UnsafeMutableRawPointer?, _ fact: (PropertyListReader) -> Void) {
    guard let user else { return }
    let reader = Unmanaged<PropertyListReader>.fromOpaque(user).takeUnretainedValue()
    if !reader.isRefused { fact(reader) }
  }

  private func refuse() {
    isRefused = true
    XML_StopParser(parser, 0)
  }

  private func began(_ name: String) {
    guard open.count <= PropertyList.maximumDepth, open.last?.takes(name) != false else { return refuse() }
    open.append(OpenElement(name: name))
  }

  private func said(_ text: UnsafeRawBufferPointer) {
    guard let last = open.indices.last, open[last].append(text) else { return refuse() }
  }

  private func ended() {
    guard let element = open.popLast() else { return refuse() }
    if element.name == "key", let last = open.indices.last {
      open[last].keys.append(String(decoding: element.text, as: UTF8.self))
    } else if let value = element.value {
      if let last = open.indices.last { open[last].values.append(value) } else { root = value }
    } else {
      refuse()
    }
  }
}

/// An element that has not ended.
private struct OpenElement {
  let name: String
  var text: [UInt8] = []
  var keys: [String] = []
  var values: [PropertyList] = []

  init(name: String) { self.name = name }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

  /// Whether an element of that name may begin inside this one.
  func takes(_ child: String) -> Bool {
    switch name {
    case "plist": values.isEmpty && child != "key"
    case "dict": (child == "key") == (keys.count == values.count)
    case "array": child != "key"
    default: false
    }
  }

  /// False if there may be no text here.
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard ["key", "string", "integer", "real", "date", "data"].contains(name) else {
      return bytes.allSatisfy(Self.isSpace)
    }
    text.append(contentsOf: bytes)
    return true
  }

  /// What it stands for, now that it ends.
  var value: PropertyList? {
    switch name {
    case "plist": values.first
    case "dict":
      keys.count == values.count ? .dictionary(Dictionary(zip(keys, values)) { first, _ in first }) : nil
    case "array": .array(values)
    case "string", "integer", "real", "date": .string(String(decoding: text, as: UTF8.self))
    case "data": Base64.decode(text).map(PropertyList.data)
    case "true": .boolean(true)
    case "false": .boolean(false)
    default: nil
    }
  }
}
