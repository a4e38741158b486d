import Basics
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
  public var encoded: [UInt8] { Self.form.frame(of: self) }
}

/// A command as one list of its items: reading and writing both come from it, in either form of the protocol. What has no value is not
/// written, the others are in the order of the list.
///
///     public static let form = CourierForm<SetState>([
///       CourierField(1, .integer, \.state), CourierField(2, .looseInteger, \.interval),
///     ])
public struct CourierForm<Command: CourierCommandValue>: Sendable {
  private let fields: [CourierField<Command>]
  /// What a frame has room for before it has to grow, in bytes: all but those with a payload, a certificate or a phone.
  private static var usualByteCount: Int { 256 }

  init(_ fields: [CourierField<Command>]) { self.fields = fields }

  fileprivate func read(_ frame: CourierFrame) throws(CourierProtocolError) -> Command {
    var command = Command()
    // A bit for each field.
    var seen: UInt64 = 0
    var items = frame.items
    while let item = try items.next() {
      let id = item.id
      guard let index = fields.firstIndex(where: { $0.id == id }) else { continue }
      if try fields[index].read(item, &command) { seen |= 1 << index }
    }
    if let missing = fields.indices.first(where: { fields[$0].isNeeded && seen >> $0 & 1 == 0 }) {
      throw .itemMissing(command: Command.command, item: fields[missing].id)
    }
    try command.check()
    return command
  }

  /// A broadcast is written for each of its listeners: straight into the frame, without an array for each field.
  func frame(of command: Command) -> [UInt8] {
    var frame: [UInt8] = []
    frame.reserveCapacity(Self.usualByteCount)
    frame.append(Command.command.rawValue)
    frame.append(behind: UInt32.self) { body in
      for field in fields { field.write(command, &body) }
    }
    return frame
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
  /// Appends an item for each value.
  let write: @Sendable (Command, inout [UInt8]) -> Void

  /// `get` hands each value to its closure.
  init<Value>(
    _ id: UInt8, _ kind: CourierKind<Value>, isNeeded: Bool = false,
    put: @escaping @Sendable (inout Command, Value) -> Void,
    get: @escaping @Sendable (Command, (Value) -> Void) -> Void
  ) {
    (self.id, packing, self.isNeeded) = (id, kind.packing, isNeeded)
    read = { (item, command) throws(CourierProtocolError) in
      guard let value = try kind.read(item) else {
        if kind.isStrict { throw item.malformed }
        return false
      }
      put(&command, value)
      return true
    }
    write = { command, body in
      get(command) { value in
        body.append(id)
        body.append(behind: UInt16.self) { kind.write(value, &$0) }
      }
    }
  }

  /// An item that must be there, unless there is something to assume where it is not.
  init<Value>(
    _ id: UInt8, _ kind: CourierKind<Value>, _ path: WritableKeyPath<Command, Value> & Sendable,
    isNeeded: Bool = true
  ) {
    self.init(id, kind, isNeeded: isNeeded, put: { $0[keyPath: path] = $1 }, get: { $1($0[keyPath: path]) })
  }

  /// An item that may be missing.
  init<Value>(_ id: UInt8, _ kind: CourierKind<Value>, _ path: WritableKeyPath<Command, Value?> & Sendable) {
    self.init(
      id, kind, put: { $0[keyPath: path] = $1 }, get: { $0[keyPath: path].map($1) })
  }

  /// An item for each value.
  init<Value>(
    each id: UInt8, _ kind: CourierKind<Value>, _ path: WritableKeyPath<Command, [Value]> & Sendable
  ) {
    self.init(id, kind, put: { $0[keyPath: path].append($1) }, get: { $0[keyPath: path].forEach($1) })
  }

  /// Bytes that may be more than an item holds: in as many as it takes, none for nothing.
  init(parts id: UInt8, _ path: WritableKeyPath<Command, [UInt8]> & Sendable) {
    self.init(id, .bytes, put: { $0[keyPath: path] += $1 }) { command, part in
      let (bytes, most) = (command[keyPath: path], CourierLimits.itemByteCount)
      for start in stride(from: 0, to: bytes.count, by: most) {
        part(Array(bytes[start..<min(start + most, bytes.count)]))
      }
    }
  }
}

/// What stands in an item.
struct CourierKind<Value>: Sendable {
  var packing = CourierItemPacking()
  /// Whether it is an error where there is nothing to be read.
  var isStrict = false
  /// nil for what can't be read.
  let read: @Sendable (CourierItemView) throws(CourierProtocolError) -> Value?
  /// Appends the value.
  let write: @Sendable (Value, inout [UInt8]) -> Void

  /// The same, which must be read.
  var strict: Self { Self(packing: packing, isStrict: true, read: read, write: write) }
}

extension CourierKind where Value == [UInt8] {
  static var bytes: Self { Self(read: { $0.bytes }, write: { $1 += $0 }) }
  /// A number that is passed on as it came.
  static func bytes(ofNumber width: Int) -> Self {
    Self(packing: CourierItemPacking(width: width), read: { $0.bytes }, write: { $1 += $0 })
  }
}

extension CourierKind where Value == String {
  /// UTF-8; what is more than an item holds is cut off.
  static var text: Self {
    Self(read: { $0.text }, write: { $1 += $0.utf8.prefix(CourierLimits.itemByteCount) })
  }
}

extension CourierKind where Value == Topic {
  static var topicName: Self { Self(read: { Topic($0.text) }, write: { $1 += $0.name.utf8 }) }
}

extension CourierKind where Value == DeviceToken {
  static var token: Self {
    Self(
      packing: CourierItemPacking(isCached: true), isStrict: true, read: { DeviceToken($0.value) },
      write: { $1.append($0) })
  }
  /// One that can't be read is passed over.
  static var looseToken: Self { Self(read: { DeviceToken($0.value) }, write: { $1.append($0) }) }
}

extension CourierKind where Value == TopicHash {
  static var topicHash: Self { looseTopicHash.strict }
  /// One that can't be read is passed over.
  static var looseTopicHash: Self {
    Self(
      packing: CourierItemPacking(isCached: true), read: { TopicHash($0.value) }, write: { $1 += $0.bytes })
  }
}

extension CourierKind where Value: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Sendable {
  /// Of exactly its width.
  static var integer: Self { looseInteger.strict }
  /// One of another width is passed over.
  static var looseInteger: Self {
    Self(
      packing: CourierItemPacking(width: MemoryLayout<Value>.size), read: { $0.integer() },
      write: { $1.append(bigEndian: $0) })
  }
}

extension [UInt8] {
  mutating func append(_ token: DeviceToken) {
    append(addingCapacity: DeviceToken.byteCount) { $0.append(token) }
  }

  /// Appends what `write` does behind its length, which is filled in last. More than a length can say is our own mistake; it is
  /// cut so that the frame stays whole.
  fileprivate mutating func append<Length: FixedWidthInteger & BitwiseCopyable>(
    behind: Length.Type, _ write: (inout [UInt8]) -> Void
  ) {
    let place = count
    append(bigEndian: Length.zero)
    let start = count
    write(&self)
    let length = Length(clamping: count - start)
    let excess = count - start - Int(length)
    assert(excess == 0)
    removeLast(excess)
    replace(bigEndian: length, at: place)
  }
}
