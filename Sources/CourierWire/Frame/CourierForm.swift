import PushModel

/// A command as one list of its items: reading and writing both come from it. What has no value is not written, the others are in the
/// order of the list.
///
///     public static let form = CourierForm<SetState>([
///       CourierField(1, .integer, \.state), CourierField(2, .looseInteger, \.interval),
///     ])
public struct CourierForm<Command: CourierFormed>: Sendable {
  private let fields: [CourierField<Command>]

  init(_ fields: [CourierField<Command>]) { self.fields = fields }

  fileprivate func read(_ frame: CourierFrame) throws(CourierProtocolError) -> Command {
    var command = Command()
    var (others, seen): ([CourierItemValue], Set<UInt8>) = ([], [])
    var items = frame.items
    while let item = try items.next() {
      if let field = fields.first(where: { $0.id == item.id }), try field.read(item, &command) {
        seen.insert(item.id)
      } else {
        others.append(CourierItemValue(item))
      }
    }
    if let missing = fields.first(where: { $0.isNeeded && !seen.contains($0.id) }) {
      throw .itemMissing(command: Command.command, item: missing.id)
    }
    command.others = others
    return command
  }

  fileprivate func write(_ command: Command, after output: consuming [UInt8]) -> [UInt8] {
    var writer = CourierFrameWriter(Command.command, after: output)
    for field in fields {
      for value in field.write(command) { writer.item(id: field.id, value) }
    }
    for other in command.others { writer.item(other) }
    return writer.finish()
  }
}

/// A command that is described by a form.
public protocol CourierFormed: CourierCommandValue {
  static var form: CourierForm<Self> { get }
  /// Items that are unknown, or known but of an unexpected form. Who does not ask for them does not keep them.
  var others: [CourierItemValue] { get set }
  /// As it is before an item was read.
  init()
}

extension CourierFormed {
  public var others: [CourierItemValue] {
    get { [] }
    set {}
  }

  public init(_ frame: CourierFrame) throws(CourierProtocolError) { self = try Self.form.read(frame) }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] { Self.form.write(self, after: output) }
}

/// One item of a command.
struct CourierField<Command>: Sendable {
  let id: UInt8
  /// The command means nothing without it.
  let isNeeded: Bool
  /// False for what can't be read and need not be.
  let read: @Sendable (CourierItemView, inout Command) throws(CourierProtocolError) -> Bool
  let write: @Sendable (Command) -> [[UInt8]]

  private init<Value>(
    _ id: UInt8, isNeeded: Bool = false, _ kind: CourierKind<Value>,
    put: @escaping @Sendable (inout Command, Value) -> Void, get: @escaping @Sendable (Command) -> [Value]
  ) {
    (self.id, self.isNeeded) = (id, isNeeded)
    read = { (item, command) throws(CourierProtocolError) in
      guard let value = try kind.read(item) else { return false }
      put(&command, value)
      return true
    }
    write = { get($0).map(kind.write) }
  }

  /// An item that must be there.
  init<Value>(_ id: UInt8, _ kind: CourierKind<Value>, _ path: WritableKeyPath<Command, Value> & Sendable) {
    self.init(id, isNeeded: true, kind, put: { $0[keyPath: path] = $1 }, get: { [$0[keyPath: path]] })
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
  /// nil for what can't be read and need not be.
  let read: @Sendable (CourierItemView) throws(CourierProtocolError) -> Value?
  let write: @Sendable (Value) -> [UInt8]
}

extension CourierKind where Value == [UInt8] {
  static var bytes: Self { Self(read: { $0.bytes }, write: { $0 }) }
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
    Self(read: { (item) throws(CourierProtocolError) in try item.requireToken() }, write: { $0.bytes })
  }
}

extension CourierKind where Value == TopicHash {
  static var topicHash: Self {
    Self(read: { (item) throws(CourierProtocolError) in try item.requireTopicHash() }, write: { $0.bytes })
  }
  /// One that can't be read is passed over.
  static var looseTopicHash: Self { Self(read: { TopicHash($0.value) }, write: { $0.bytes }) }
}

extension CourierKind where Value: FixedWidthInteger & UnsignedInteger & Sendable {
  /// Of exactly its width.
  static var integer: Self {
    Self(read: { (item) throws(CourierProtocolError) in try item.requireInteger() }, write: bigEndian)
  }
  /// One of another width is passed over.
  static var looseInteger: Self { Self(read: { $0.integer() }, write: bigEndian) }

  private static var bigEndian: @Sendable (Value) -> [UInt8] {
    { value in withUnsafeBytes(of: value.bigEndian) { Array($0) } }
  }
}
