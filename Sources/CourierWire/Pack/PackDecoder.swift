import Basics

/// Cuts a stream of bytes in the packed form into commands of the plain one
/// (`Documentation/device-protocol.md#packed-form`). Keeps what it has of a message until the rest comes, and the
/// caches of its direction.
///
/// Nobody else here knows the packed form: sessions and brokers see the same frames in both.
public struct PackDecoder {
  /// A whole command in the plain form.
  public struct Command: Equatable, Sendable {
    public var commandByte: UInt8
    /// Its items.
    public var body: [UInt8]

    /// It as a frame.
    public var frame: CourierFrame {
      @_lifetime(borrow self)
      get { CourierFrame(commandByte: commandByte, body: body.span) }
    }
  }

  private var caches: PackCaches
  private var kept: [UInt8] = []
  /// Length of the head of the kept message, and of all of it, once enough of it is there.
  private var keptHead = 0
  private var keptTotal: Int?
  /// Most memory that stays for the next message, in bytes: most are short, and none that was long shall cost for ever.
  private static let spareByteCount = 256

  /// `cacheByteCount` is the size of the sender's value cache, in bytes.
  public init(cacheByteCount: Int = PackLimits.cacheByteCount) {
    caches = PackCaches(capacity: cacheByteCount)
  }

  /// The next command, nil when `input` is used up. `limit` is the largest body, packed as well as plain, in bytes:
  /// references must not make much of little.
  public mutating func next(
    _ input: inout Span<UInt8>, limit: Int
  ) throws(CourierProtocolError) -> Command? {
    if let empty = Self.emptyCommand(&input, isAmid: !kept.isEmpty) { return empty }
    while keptTotal == nil, let byte = input.first {
      kept.append(byte)
      input = input.dropping(1)
      keptTotal = try total(limit: limit)
    }
    guard let total = keptTotal else { return nil }
    let missing = input.prefix(total - kept.count)
    kept.append(missing)
    input = input.dropping(missing.count)
    guard kept.count == total else { return nil }
    defer {
      keptTotal = nil
      kept.removeAll(keepingCapacity: kept.capacity <= Self.spareByteCount)
    }
    return try command(limit: limit)
  }

  /// The shortest there is, two bytes without items, of which a peer may send very many: it takes no memory.
  private static func emptyCommand(_ input: inout Span<UInt8>, isAmid: Bool) -> Command? {
    guard !isAmid, input.count >= 2, input[1] == 0 else { return nil }
    let command = Command(commandByte: input[0], body: [])
    input = input.dropping(2)
    return command
  }

  /// Length of the kept message; nil while its head is not complete.
  private mutating func total(limit: Int) throws(CourierProtocolError) -> Int? {
    guard kept.count >= 2 else { return nil }
    // A tag of 0xff with nothing behind it is not whole either: its top bit is set.
    let isWhole = kept[1] < 0xff || kept[kept.count - 1] & 0x80 == 0
    guard isWhole || kept.count >= 2 + PackLimits.numberGroups else { return nil }
    var reader = PackReader(Array(kept[1...]), command: kept[0])
    let length = try reader.number(try reader.byte(), bits: 8)
    guard length <= limit else { throw .frameTooLong(command: kept[0], length: length, limit: limit) }
    keptHead = 1 + reader.position
    return keptHead + length
  }

  private mutating func command(limit: Int) throws(CourierProtocolError) -> Command {
    var reader = PackReader(Array(kept[keptHead...]), command: kept[0])
    var command = Command(commandByte: kept[0], body: [])
    while !reader.isAtEnd {
      let (key, value) = try attribute(&reader, command.commandByte, depth: 0)
      // An item is named by one byte; a longer key is one that nobody knows.
      guard key.count == 1 else { continue }
      let plain = try value.plain(command: command.commandByte, item: key[0])
      try append(plain, key[0], to: &command, limit: limit)
    }
    return command
  }

  private func append(
    _ value: [UInt8], _ id: UInt8, to command: inout Command, limit: Int
  ) throws(CourierProtocolError) {
    let length = command.body.count + CourierLimits.itemHeaderByteCount + value.count
    guard length <= limit, value.count <= CourierLimits.itemByteCount else {
      throw .frameTooLong(command: command.commandByte, length: length, limit: limit)
    }
    command.body.append(id)
    command.body.append(UInt8(truncatingIfNeeded: value.count >> 8))
    command.body.append(UInt8(truncatingIfNeeded: value.count))
    command.body.append(contentsOf: value)
  }

  // MARK: Elements

  private mutating func attribute(
    _ reader: inout PackReader, _ command: UInt8, depth: Int
  ) throws(CourierProtocolError) -> (key: [UInt8], PackValue) {
    let tag = try reader.byte()
    let key = try key(tag, &reader, command)
    if tag & PackTag.isReference != 0 {
      let index = try reader.number(try reader.byte(), bits: 8)
      guard let bytes = caches.value(at: index) else {
        throw .packMalformed(command: command, "a reference to value \(index), which is not there")
      }
      return (key, try Self.flat(bytes, command))
    }
    let start = reader.position
    let value = try value(&reader, command, depth: depth)
    if tag & PackTag.isCached != 0 { try remember(reader.bytes(from: start), command) }
    return (key, value)
  }

  private mutating func key(
    _ tag: UInt8, _ reader: inout PackReader, _ command: UInt8
  ) throws(CourierProtocolError) -> [UInt8] {
    if tag & PackTag.isKeyReference != 0 {
      guard let key = caches.key(at: Int(tag & PackTag.keyIndex)) else {
        throw .packMalformed(command: command, "a reference to a key that is not there")
      }
      return key
    }
    guard tag & PackTag.isNewKey != 0 else { return [tag & PackTag.itemId] }
    let length = try reader.number(tag, bits: 4) + 1
    guard length <= PackLimits.keyByteCount else {
      throw .packMalformed(command: command, "a key of \(length) bytes")
    }
    let key = Array(try reader.take(length))
    caches.add(key: key)
    return key
  }

  private mutating func remember(_ value: [UInt8], _ command: UInt8) throws(CourierProtocolError) {
    guard caches.fits(value) else {
      throw .packMalformed(
        command: command, "a value of \(value.count) bytes for the cache, which is larger than it")
    }
    caches.add(value: value)
  }

  /// One value. Those inside a dictionary or array are read only because they may enter the caches.
  private mutating func value(
    _ reader: inout PackReader, _ command: UInt8, depth: Int
  ) throws(CourierProtocolError) -> PackValue {
    let tag = try reader.byte()
    guard let value = try Self.scalar(tag, &reader, command) else {
      guard depth < PackLimits.depth else {
        throw .packMalformed(command: command, "structures more than \(PackLimits.depth) deep")
      }
      let count = try reader.number(tag, bits: 4)
      for _ in 0..<count {
        if tag & PackTag.isArray == 0 {
          _ = try attribute(&reader, command, depth: depth + 1)
        } else {
          _ = try self.value(&reader, command, depth: depth + 1)
        }
      }
      return .structure
    }
    return value
  }

  /// A value that was remembered whole.
  private static func flat(_ bytes: [UInt8], _ command: UInt8) throws(CourierProtocolError) -> PackValue {
    var reader = PackReader(bytes, command: command)
    return try scalar(try reader.byte(), &reader, command) ?? .structure
  }

  /// A value without others in it; nil for a dictionary or an array.
  private static func scalar(
    _ tag: UInt8, _ reader: inout PackReader, _ command: UInt8
  ) throws(CourierProtocolError) -> PackValue? {
    switch tag {
    case 0x00...0x3f: return .bytes(try reader.take(try reader.number(tag, bits: 6)))
    case 0x40...0x5f: return .bytes(try reader.take(try reader.number(tag, bits: 5)))
    case 0x80...0x9f: return .integer([tag & 0x1f], isNegative: false)
    case 0xa0...0xaf:
      return .integer(try reader.take(Int(tag & 0x07) + 1), isNegative: tag & 0x08 != 0)
    case 0xc0...0xdf: return nil
    case 0xe0, 0xe1: return .boolean(tag == 0xe1)
    default: throw .packMalformed(command: command, "a value that begins with \(tag)")
    }
  }
}

/// The bits of an attribute's first byte, and of a structure's.
enum PackTag {
  /// The value is an index into the value cache.
  static let isReference: UInt8 = 0x80
  /// The value enters the value cache.
  static let isCached: UInt8 = 0x40
  /// The key is an index into the key cache.
  static let isKeyReference: UInt8 = 0x20
  static let keyIndex: UInt8 = 0x1f
  /// The key follows, and enters the key cache.
  static let isNewKey: UInt8 = 0x10
  /// Otherwise the key is the id of an item.
  static let itemId: UInt8 = 0x0f
  /// Of the structures: an array, no dictionary.
  static let isArray: UInt8 = 0x10
}

extension CourierProtocolError {
  static func packMalformed(command: UInt8, _ what: String) -> CourierProtocolError {
    CourierProtocolError(.itemMalformed, "command \(command) has \(what)")
  }
}

/// A value of the packed form, as far as somebody here wants to know it.
enum PackValue: Equatable {
  /// Data or text.
  case bytes(ArraySlice<UInt8>)
  /// An integer's magnitude, big-endian, shortest form first.
  case integer(ArraySlice<UInt8>, isNegative: Bool)
  case boolean(Bool)
  /// A dictionary or an array: what Apple's own services send upward, which nobody here looks into.
  case structure

  /// As an item of the plain form.
  func plain(command: UInt8, item: UInt8) throws(CourierProtocolError) -> [UInt8] {
    switch self {
    case .bytes(let bytes): return Array(bytes)
    case .boolean(let isTrue): return [isTrue ? 1 : 0]
    case .structure: return []
    case .integer(let magnitude, let isNegative):
      let digits = magnitude.drop { $0 == 0 }
      let width = CourierCommand.packing(of: item, in: command).width ?? max(1, digits.count)
      guard !isNegative, digits.count <= width else { throw .itemMalformed(item, length: digits.count) }
      return [UInt8](repeating: 0, count: width - digits.count) + digits
    }
  }
}

/// Reads the elements of the packed form from the bytes of one message; never reads past them
/// (`Documentation/device-protocol.md#packed-form`).
public struct PackReader {
  private let bytes: [UInt8]
  private(set) var position = 0
  private let command: UInt8

  public init(_ bytes: [UInt8], command: UInt8) { (self.bytes, self.command) = (bytes, command) }

  public var isAtEnd: Bool { position == bytes.count }

  public mutating func byte() throws(CourierProtocolError) -> UInt8 {
    guard position < bytes.count else { throw overrun }
    position += 1
    return bytes[position - 1]
  }

  mutating func take(_ count: Int) throws(CourierProtocolError) -> ArraySlice<UInt8> {
    guard count <= bytes.count - position else { throw overrun }
    position += count
    return bytes[position - count..<position]
  }

  /// What lies between two positions.
  func bytes(from start: Int) -> [UInt8] { Array(bytes[start..<position]) }

  /// The number that begins in the low `bits` of a tag.
  public mutating func number(_ tag: UInt8, bits: Int) throws(CourierProtocolError) -> Int {
    let full = (1 << bits) - 1
    let start = Int(tag) & full
    guard start == full else { return start }
    var number = full
    for group in 0..<PackLimits.numberGroups {
      let next = try byte()
      number += Int(next & 0x7f) << (7 * group)
      if next & 0x80 == 0 { return number }
    }
    throw .packMalformed(command: command, "a number of more than \(PackLimits.numberGroups) groups")
  }

  private var overrun: CourierProtocolError {
    .itemOverrun(command: command, remaining: bytes.count - position)
  }
}
