import PushModel

/// A command with a meaning: its form says how it is read from a frame and written as one.
public protocol CourierCommandValue: Equatable, Sendable {
  /// The command byte of its frames.
  static var command: CourierCommand { get }
  static var form: CourierForm<Self> { get }
  /// As it is before an item was read.
  init()
  /// Throws for items that are right, each by itself, and wrong together.
  func check() throws(CourierProtocolError)
}

extension CourierCommandValue {
  public func check() throws(CourierProtocolError) {}

  /// Reads the items of `frame`, whose command byte has been looked at already. Unknown items are skipped.
  public init(_ frame: CourierFrame) throws(CourierProtocolError) { self = try Self.form.read(frame) }

  /// The whole frame.
  public var encoded: [UInt8] { CourierFrame.bytes(Self.command, Self.form.items(of: self)) }
}

/// A command as one list of its items: reading and writing both come from it, in either form of the protocol. What has no value is not
/// written, the others are in the order of the list.
///
///     public static let form = CourierForm<SetState>([
///       CourierField(1, .integer, \.state), CourierField(2, .looseInteger, \.interval),
///     ])
public struct CourierForm<Command: CourierCommandValue>: Sendable {
  private let fields: [CourierField<Command>]

  init(_ fields: [CourierField<Command>]) { self.fields = fields }

  fileprivate func read(_ frame: CourierFrame) throws(CourierProtocolError) -> Command {
    var command = Command()
    // A bit for each field.
    var seen: UInt64 = 0
    var items = frame.items
    while let item = try items.next() {
      guard let index = fields.firstIndex(where: { $0.id == item.id }) else { continue }
      if try fields[index].read(item, &command) { seen |= 1 << index }
    }
    if let missing = fields.indices.first(where: { fields[$0].isNeeded && seen >> $0 & 1 == 0 }) {
      throw .itemMissing(command: Command.command, item: fields[missing].id)
    }
    try command.check()
    return command
  }

  fileprivate func items(of command: Command) -> [(id: UInt8, value: [UInt8])] {
    fields.flatMap { field in field.write(command).map { (field.id, $0) } }
  }

  /// How the packed form writes an item; nil for one that is not in the list.
  func packing(of item: UInt8) -> CourierItemPacking? { fields.first { $0.id == item }?.packing }
}

/// How the packed form writes an item (`Documentation/device-protocol.md#packed-form`).
struct CourierItemPacking {
  /// In bytes, of a number, which is an integer there.
  var width: Int?
  /// Whether the value is sent again and again, so that it is worth a place in the cache: tokens and topics are.
  var isCached = false
}

/// One item of a command.
struct CourierField<Command>: Sendable {
  let id: UInt8
  let packing: CourierItemPacking
  /// The command means nothing without it.
  let isNeeded: Bool
  /// False for what can't be read and need not be.
  let read: @Sendable (CourierItemView, inout Command) throws(CourierProtocolError) -> Bool
  let write: @Sendable (Command) -> [[UInt8]]

  init<Value>(
    _ id: UInt8, _ kind: CourierKind<Value>, isNeeded: Bool = false,
    put: @escaping @Sendable (inout Command, Value) -> Void, get: @escaping @Sendable (Command) -> [Value]
  ) {
    (self.id, packing, self.isNeeded) = (id, kind.packing, isNeeded)
    read = { (item, command) throws(CourierProtocolError) in
      guard let value = try kind.read(item) else { return false }
      put(&command, value)
      return true
    }
    write = { get($0).map(kind.write) }
  }

  /// An item that must be there, unless there is something to assume where it is not.
  init<Value>(
    _ id: UInt8, _ kind: CourierKind<Value>, _ path: WritableKeyPath<Command, Value> & Sendable,
    isNeeded: Bool = true
  ) {
    self.init(id, kind, isNeeded: isNeeded, put: { $0[keyPath: path] = $1 }, get: { [$0[keyPath: path]] })
  }

  /// An item that may be missing.
  init<Value>(_ id: UInt8, _ kind: CourierKind<Value>, _ path: WritableKeyPath<Command, Value?> & Sendable) {
    self.init(
      id, kind, put: { $0[keyPath: path] = $1 }, get: { $0[keyPath: path].map { [$0] } ?? [] })
  }

  /// An item for each value.
  init<Value>(
    each id: UInt8, _ kind: CourierKind<Value>, _ path: WritableKeyPath<Command, [Value]> & Sendable
  ) {
    self.init(id, kind, put: { $0[keyPath: path].append($1) }, get: { $0[keyPath: path] })
  }

  /// Bytes that may be more than an item holds: in as many as it takes, none for nothing.
  init(parts id: UInt8, _ path: WritableKeyPath<Command, [UInt8]> & Sendable) {
    self.init(id, .bytes, put: { $0[keyPath: path] += $1 }) { command in
      let (bytes, most) = (command[keyPath: path], CourierLimits.itemByteCount)
      return stride(from: 0, to: bytes.count, by: most).map { Array(bytes[$0..<min($0 + most, bytes.count)]) }
    }
  }
}

/// What stands in an item.
struct CourierKind<Value>: Sendable {
  var packing = CourierItemPacking()
  /// nil for what can't be read and need not be.
  let read: @Sendable (CourierItemView) throws(CourierProtocolError) -> Value?
  let write: @Sendable (Value) -> [UInt8]
}

extension CourierKind where Value == [UInt8] {
  static var bytes: Self { Self(read: { $0.bytes }, write: { $0 }) }
  /// A number that is passed on as it came.
  static func bytes(ofNumber width: Int) -> Self {
    Self(packing: CourierItemPacking(width: width), read: { $0.bytes }, write: { $0 })
  }
}

extension CourierKind where Value == String {
  /// UTF-8; what is more than an item holds is cut off.
  static var text: Self {
    Self(read: { $0.text }, write: { Array($0.utf8.prefix(CourierLimits.itemByteCount)) })
  }
}

extension CourierKind where Value == Topic {
  static var topicName: Self { Self(read: { Topic($0.text) }, write: { Array($0.name.utf8) }) }
}

extension CourierKind where Value == DeviceToken {
  static var token: Self {
    Self(packing: CourierItemPacking(isCached: true)) { (item) throws(CourierProtocolError) in
      try item.requireToken()
    } write: {
      $0.bytes
    }
  }
  /// One that can't be read is passed over.
  static var looseToken: Self { Self(read: { DeviceToken($0.value) }, write: { $0.bytes }) }
}

extension CourierKind where Value == TopicHash {
  static var topicHash: Self {
    Self(packing: CourierItemPacking(isCached: true)) { (item) throws(CourierProtocolError) in
      try item.requireTopicHash()
    } write: {
      $0.bytes
    }
  }
  /// One that can't be read is passed over.
  static var looseTopicHash: Self {
    Self(packing: CourierItemPacking(isCached: true), read: { TopicHash($0.value) }, write: { $0.bytes })
  }
}

extension CourierKind where Value: FixedWidthInteger & UnsignedInteger & Sendable {
  /// Of exactly its width.
  static var integer: Self {
    Self(packing: packing) { (item) throws(CourierProtocolError) in
      try item.requireInteger()
    } write: {
      $0.bigEndianBytes
    }
  }
  /// One of another width is passed over.
  static var looseInteger: Self {
    Self(packing: packing, read: { $0.integer() }, write: { $0.bigEndianBytes })
  }

  private static var packing: CourierItemPacking { CourierItemPacking(width: MemoryLayout<Value>.size) }
}

extension FixedWidthInteger {
  var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

extension CourierFrame {
  /// A frame of these items. A value of more than 65535 bytes is our own mistake; it is cut so that the frame stays whole.
  static func bytes(_ command: CourierCommand, _ items: [(id: UInt8, value: [UInt8])]) -> [UInt8] {
    var body: [UInt8] = []
    for (id, value) in items {
      assert(value.count <= CourierLimits.itemByteCount)
      let fitting = value.prefix(CourierLimits.itemByteCount)
      body += [id] + UInt16(fitting.count).bigEndianBytes + fitting
    }
    return [command.rawValue] + UInt32(body.count).bigEndianBytes + body
  }
}
