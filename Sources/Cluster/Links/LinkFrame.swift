import Basics
import Broker

/// What two nodes say to each other on a link: whole messages with their length before them.
///
///     count u32 | kind u8 | body
///
/// The side that made the link sends pushes and commands for zones of the other; that sends verdicts, and later what became of
/// them. Integers are big endian.
package enum LinkFrame {
  enum Kind: UInt8 { case introduction = 1, push, verdict, step, command, done, time }

  /// Largest message, in bytes: a push with a payload of 65,535 bytes (`--payload-limit`) and every other field at its limit, and room.
  static let limit = 80 << 10

  /// One message of the side that made the link.
  package enum Request {
    /// First of all: which life of which node this is.
    case introduction(ordinal: UInt64)
    case push(LinkPush)
    case command(LinkCommand)
  }

  /// One message of the other side.
  package enum Reply: Equatable, Sendable {
    case verdict(LinkVerdict)
    case step(LinkStep)
    /// What became of the command of this number.
    case done(number: UInt64, LinkCommand.Outcome)
    /// What its clock says, in nanoseconds: first of all, and some times a second.
    case time(UInt64)
  }

  // MARK: Writing

  /// Room that most messages have enough of, in bytes.
  private static let room = 512

  /// One message, whole.
  private static func bytes(_ kind: Kind, room: Int = room, _ body: (inout StateWriter) -> Void) -> [UInt8] {
    var writer = StateWriter(capacity: room)
    writer.write(0 as UInt32)
    writer.write(kind.rawValue)
    body(&writer)
    let count = UInt32(writer.bytes.count - 4)
    writer.bytes.withUnsafeMutableBytes { $0.storeBytes(of: count.bigEndian, as: UInt32.self) }
    return writer.bytes
  }

  /// One reply, whole.
  package static func bytes(of reply: Reply) -> [UInt8] {
    switch reply {
    case .verdict(let verdict): bytes(.verdict, room: 32) { verdict.write(to: &$0) }
    case .step(let step): bytes(.step, room: 32) { step.write(to: &$0) }
    case .done(let number, let outcome):
      bytes(.done, room: 32) {
        $0.write(number)
        $0.write(outcome.rawValue)
      }
    case .time(let time): bytes(.time, room: 32) { $0.write(time) }
    }
  }

  /// One push, whole; its bytes are copied.
  package static func bytes(of push: LinkPush) -> [UInt8] { bytes(.push) { push.write(to: &$0) } }

  /// One command, whole.
  package static func bytes(of command: LinkCommand) -> [UInt8] {
    bytes(.command) { command.write(to: &$0) }
  }

  /// The introduction, whole.
  package static func introduction(ordinal: UInt64) -> [UInt8] { bytes(.introduction) { $0.write(ordinal) } }

  // MARK: Reading

  /// Lends the push of a message that `bytes(of:)` has made; nil if it is none.
  package static func withPush(in message: [UInt8], _ body: (LinkPush?) -> Void) {
    message.withUnsafeBytes { bytes in
      var cursor = StateCursor(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(4)))
      var topics = LastTopic()
      guard case .push(let push)? = try? request(&cursor, &topics) else { return body(nil) }
      body(push)
    }
  }

  /// A request; what it lends is lent for the call.
  static func request(
    _ cursor: inout StateCursor, _ topics: inout LastTopic
  ) throws(StateCursor.Damage) -> Request {
    switch try kind(&cursor) {
    case .introduction: .introduction(ordinal: try cursor.integer())
    case .push: .push(try LinkPush(&cursor, &topics))
    case .command: .command(try LinkCommand(&cursor))
    case let other: throw StateCursor.Damage(description: "expected a request, got \(other)")
    }
  }

  static func reply(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> Reply {
    switch try kind(&cursor) {
    case .verdict: .verdict(try LinkVerdict(&cursor))
    case .step: .step(try LinkStep(&cursor))
    case .done:
      .done(
        number: try cursor.integer(),
        try cursor.require(LinkCommand.Outcome(rawValue: try cursor.integer()), "an outcome"))
    case .time: .time(try cursor.integer())
    case let other: throw StateCursor.Damage(description: "expected a reply, got \(other)")
    }
  }

  private static func kind(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> Kind {
    let number = try cursor.integer(UInt8.self)
    return try cursor.require(Kind(rawValue: number), "a kind of message, not \(number)")
  }
}

/// Cuts what comes on a link into messages.
package struct LinkDecoder: ~Copyable {
  private var held = ByteBuffer()
  private var topics = LastTopic()

  package init() {}

  /// Bytes of a message that is not whole yet.
  package var heldBytes: Int { held.capacity }

  /// Takes what came, and hands each whole request to `take`, which answers whether to go on. Throws a sentence for what no node sends.
  package mutating func requests(in bytes: UnsafeRawBufferPointer, _ take: (LinkFrame.Request) -> Void) throws
  {
    var topics = topics
    defer { self.topics = topics }
    try messages(in: bytes) { cursor in take(try LinkFrame.request(&cursor, &topics)) }
  }

  /// The same of replies.
  package mutating func replies(in bytes: UnsafeRawBufferPointer, _ take: (LinkFrame.Reply) -> Void) throws {
    try messages(in: bytes) { cursor in take(try LinkFrame.reply(&cursor)) }
  }

  private mutating func messages(
    in bytes: UnsafeRawBufferPointer, _ take: (inout StateCursor) throws -> Void
  ) throws {
    held.append(bytes)
    var position = 0
    let all = held.bytes
    while all.count - position >= 4 {
      let count = Int(UInt32(bigEndian: all.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
      guard count <= LinkFrame.limit else {
        throw StateCursor.Damage(
          description: "expected a message of at most \(LinkFrame.limit) bytes, got \(count)")
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
