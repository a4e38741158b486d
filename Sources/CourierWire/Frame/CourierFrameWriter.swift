import PushModel

/// Builds one frame at the end of a byte array; `finish()` puts the length in.
struct CourierFrameWriter {
  private(set) var bytes: [UInt8]
  private let start: Int

  /// Begins a frame behind what `output` already holds.
  init(_ command: CourierCommand, after output: consuming [UInt8] = []) {
    bytes = output
    start = bytes.count
    bytes.append(command.rawValue)
    bytes.append(contentsOf: [0, 0, 0, 0])
  }

  /// Appends an item. A value of more than 65535 bytes is our own mistake; it is cut so that the frame stays whole.
  mutating func item(id: UInt8, _ value: some Collection<UInt8>) {
    assert(value.count <= CourierLimits.itemByteCount)
    let fitting = value.prefix(CourierLimits.itemByteCount)
    bytes.append(id)
    append(bigEndian: UInt16(fitting.count))
    bytes.append(contentsOf: fitting)
  }

  /// Appends an item of unknown meaning.
  mutating func item(_ other: CourierItemValue) { item(id: other.id, other.bytes) }

  /// Appends an item with an integer of its own width, or nothing for nil.
  mutating func item(_ id: some RawRepresentable<UInt8>, _ value: (some FixedWidthInteger)?) {
    guard let value else { return }
    bytes.append(id.rawValue)
    append(bigEndian: UInt16(value.bitWidth / 8))
    append(bigEndian: value)
  }

  /// Appends an item, or nothing for nil.
  mutating func item(_ id: some RawRepresentable<UInt8>, _ value: [UInt8]?) {
    if let value { item(id: id.rawValue, value) }
  }

  /// Appends a value that may be longer than an item: in as many items as it takes, none for an empty one.
  mutating func items(_ id: some RawRepresentable<UInt8>, _ value: [UInt8]) {
    var rest = value[...]
    while !rest.isEmpty {
      item(id: id.rawValue, rest.prefix(CourierLimits.itemByteCount))
      rest = rest.dropFirst(CourierLimits.itemByteCount)
    }
  }

  /// Appends an item in UTF-8, or nothing for nil.
  mutating func item(_ id: some RawRepresentable<UInt8>, _ value: String?) {
    if let value { item(id: id.rawValue, value.utf8) }
  }

  /// Appends an item, or nothing for nil.
  mutating func item(_ id: some RawRepresentable<UInt8>, _ value: DeviceToken?) {
    if let value { item(id: id.rawValue, value.bytes) }
  }

  /// Appends an item, or nothing for nil.
  mutating func item(_ id: some RawRepresentable<UInt8>, _ value: TopicHash?) {
    if let value { item(id: id.rawValue, value.bytes) }
  }

  /// The finished bytes: what stood in the array before, then the frame.
  consuming func finish() -> [UInt8] {
    let length = UInt32(bytes.count - start - CourierLimits.headerByteCount)
    withUnsafeBytes(of: length.bigEndian) { source in
      bytes.replaceSubrange(start + 1..<start + 5, with: source)
    }
    return bytes
  }

  private mutating func append(bigEndian value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }
}

/// An item that is kept although nobody here knows what it means.
public struct CourierItemValue: Hashable, Sendable {
  public let id: UInt8
  public let bytes: [UInt8]

  public init(id: UInt8, bytes: [UInt8]) {
    self.id = id
    self.bytes = bytes
  }

  public init(_ item: CourierItemView) {
    self.init(id: item.id, bytes: item.bytes)
  }
}
