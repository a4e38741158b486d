import Basics

/// Builds a value from what is in a document, element by element.
struct PropertyListBuilder {
  private var open: [OpenElement] = []
  private var root: PropertyList?
  /// The document is XML and no property list. There may be more of it even so.
  private(set) var isRefused = false

  /// The value inside `plist`, or a bare one.
  var value: PropertyList? { isRefused ? nil : root }

  mutating func refuse() { isRefused = true }

  mutating func began(_ name: String) {
    guard open.count <= PropertyList.maximumDepth, open.last?.takes(name) != false else { return refuse() }
    open.append(OpenElement(name: name))
  }

  mutating func said(_ text: Span<UInt8>) {
    guard let last = open.indices.last, open[last].append(text) else { return refuse() }
  }

  mutating func ended() {
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
  mutating func append(_ bytes: Span<UInt8>) -> Bool {
    guard ["key", "string", "integer", "real", "date", "data"].contains(name) else {
      return bytes.indices.allSatisfy { PropertyList.isSpace(bytes[$0]) }
    }
    text.append(bytes)
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
