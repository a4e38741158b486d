import Broker
import PushModel

/// What two nodes say to each other on a link: whole messages with their length before them.
///
///     count u32 | kind u8 | body
///
/// The side that made the link sends pushes and commands for zones of the other; that sends verdicts, and later what became of
/// them. Integers are big endian.
public enum RelayFrame {
  enum Kind: UInt8 { case introduction = 1, push, verdict, step, command, done, time }

  /// Largest message, in bytes: a push with every field at its limit, and room.
  static let limit = 64 << 10

  /// One message of the side that made the link.
  public enum Request {
    /// First of all: which life of which node this is.
    case introduction(ordinal: UInt64)
    case push(RelayedPush)
    case command(RelayedCommand)
  }

  /// One message of the other side.
  public enum Reply: Equatable, Sendable {
    case verdict(RelayedVerdict)
    case step(RelayedStep)
    /// What became of the command of this number.
    case done(number: UInt64, RelayedCommand.Outcome)
    /// What its clock says, in nanoseconds: first of all, and some times a second.
    case time(UInt64)
  }

  // MARK: Writing

  /// Appends one message.
  private static func write(_ kind: Kind, to output: inout ByteBuffer, _ body: (inout StateWriter) -> Void) {
    var writer = StateWriter()
    writer.write(kind.rawValue)
    body(&writer)
    let count = UInt32(writer.bytes.count)
    withUnsafeBytes(of: count.bigEndian) { output.append($0) }
    writer.bytes.withUnsafeBytes { output.append($0) }
  }

  public static func introduce(ordinal: UInt64, to output: inout ByteBuffer) {
    write(.introduction, to: &output) { $0.write(ordinal) }
  }

  /// Bytes of the push are copied.
  public static func write(_ push: RelayedPush, to output: inout ByteBuffer) {
    write(.push, to: &output) { push.write(to: &$0) }
  }

  public static func write(_ command: RelayedCommand, to output: inout ByteBuffer) {
    write(.command, to: &output) { command.write(to: &$0) }
  }

  public static func write(_ reply: Reply, to output: inout ByteBuffer) {
    switch reply {
    case .verdict(let verdict): write(.verdict, to: &output) { verdict.write(to: &$0) }
    case .step(let step): write(.step, to: &output) { step.write(to: &$0) }
    case .done(let number, let outcome):
      write(.done, to: &output) {
        $0.write(number)
        $0.write(outcome.rawValue)
      }
    case .time(let time): write(.time, to: &output) { $0.write(time) }
    }
  }

  /// One push, whole.
  public static func bytes(of push: RelayedPush) -> [UInt8] { bytes { write(push, to: &$0) } }

  /// One command, whole.
  public static func bytes(of command: RelayedCommand) -> [UInt8] { bytes { write(command, to: &$0) } }

  /// The introduction, whole.
  public static func introduction(ordinal: UInt64) -> [UInt8] {
    bytes { introduce(ordinal: ordinal, to: &$0) }
  }

  private static func bytes(_ write: (inout ByteBuffer) -> Void) -> [UInt8] {
    var output = ByteBuffer()
    write(&output)
    return Array(output.bytes)
  }

  // MARK: Reading

  /// Lends the push of a message that `bytes(of:)` has made; nil if it is none.
  public static func withPush(in message: [UInt8], _ body: (RelayedPush?) -> Void) {
    message.withUnsafeBytes { bytes in
      var cursor = StateCursor(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(4)))
      guard case .push(let push)? = try? request(&cursor) else { return body(nil) }
      body(push)
    }
  }

  /// A request; what it lends is lent for the call.
  static func request(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> Request {
    switch try kind(&cursor) {
    case .introduction: .introduction(ordinal: try cursor.integer())
    case .push: .push(try RelayedPush(&cursor))
    case .command: .command(try RelayedCommand(&cursor))
    case let other: throw StateCursor.Damage(description: "expected a request, got \(other)")
    }
  }

  static func reply(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> Reply {
    switch try kind(&cursor) {
    case .verdict: .verdict(try RelayedVerdict(&cursor))
    case .step: .step(try RelayedStep(&cursor))
    case .done:
      .done(
        number: try cursor.integer(),
        try cursor.value(RelayedCommand.Outcome(rawValue: try cursor.integer()), "an outcome"))
    case .time: .time(try cursor.integer())
    case let other: throw StateCursor.Damage(description: "expected a reply, got \(other)")
    }
  }

  private static func kind(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> Kind {
    let number = try cursor.integer(UInt8.self)
    return try cursor.value(Kind(rawValue: number), "a kind of message, not \(number)")
  }
}

/// Cuts what comes on a link into messages.
public struct RelayDecoder: ~Copyable {
  private var held = ByteBuffer()

  public init() {}

  /// Bytes of a message that is not whole yet.
  public var heldBytes: Int { held.capacity }

  /// Takes what came, and hands each whole request to `take`, which answers whether to go on. Throws a sentence for what no node sends.
  public mutating func requests(in bytes: UnsafeRawBufferPointer, _ take: (RelayFrame.Request) -> Void) throws
  {
    try messages(in: bytes) { cursor in take(try RelayFrame.request(&cursor)) }
  }

  /// The same of replies.
  public mutating func replies(in bytes: UnsafeRawBufferPointer, _ take: (RelayFrame.Reply) -> Void) throws {
    try messages(in: bytes) { cursor in take(try RelayFrame.reply(&cursor)) }
  }

  private mutating func messages(
    in bytes: UnsafeRawBufferPointer, _ take: (inout StateCursor) throws -> Void
  ) throws {
    held.append(bytes)
    var position = 0
    let all = held.bytes
    while all.count - position >= 4 {
      let count = Int(UInt32(bigEndian: all.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
      guard count <= RelayFrame.limit else {
        throw StateCursor.Damage(
          description: "expected a message of at most \(RelayFrame.limit) bytes, got \(count)")
      }
      guard all.count - position - 4 >= count else { break }
      var cursor = StateCursor(UnsafeRawBufferPointer(rebasing: all[position + 4..<position + 4 + count]))
      try take(&cursor)
      guard cursor.isAtEnd else { throw StateCursor.Damage(description: "a message is longer than it says") }
      position += 4 + count
    }
    held.removeFirst(position)
    if held.count == 0 { held.free() }
  }
}
