import Basics
import Broker
import PushModel

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
  package enum Request: ~Escapable {
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
    writer.bytes.replace(bigEndian: count, at: 0)
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
    var cursor = StateCursor(message.span.dropping(min(4, message.count)))
    var topics = LastTopic()
    guard case .push(let push)? = try? request(&cursor, &topics) else { return body(nil) }
    body(push)
  }

  /// A request; it lends what the cursor does.
  @_lifetime(copy cursor)
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
  package mutating func requests(in bytes: Span<UInt8>, _ take: (LinkFrame.Request) -> Void) throws {
    var topics = topics
    defer { self.topics = topics }
    try messages(in: bytes) { cursor in take(try LinkFrame.request(&cursor, &topics)) }
  }

  /// The same of replies.
  package mutating func replies(in bytes: Span<UInt8>, _ take: (LinkFrame.Reply) -> Void) throws {
    try messages(in: bytes) { cursor in take(try LinkFrame.reply(&cursor)) }
  }

  private mutating func messages(
    in bytes: Span<UInt8>, _ take: (inout StateCursor) throws -> Void
  ) throws {
    held.append(bytes)
    let count = try Self.messages(whole: held.span, take)
    held.removeFirst(count)
    if held.count == 0 { held.free() }
  }

  /// Answers how many bytes the whole messages at the beginning have.
  private static func messages(
    whole all: Span<UInt8>, _ take: (inout StateCursor) throws -> Void
  ) throws -> Int {
    var position = 0
    while all.count - position >= 4 {
      let count = Int(all.bigEndian(UInt32.self, at: position))
      guard count <= LinkFrame.limit else {
        throw StateCursor.Damage(
          description: "expected a message of at most \(LinkFrame.limit) bytes, got \(count)")
      }
      guard all.count - position - 4 >= count else { break }
      var cursor = StateCursor(all.extracting(position + 4..<position + 4 + count))
      try take(&cursor)
      guard cursor.isAtEnd else { throw StateCursor.Damage(description: "a message is longer than it says") }
      position += 4 + count
    }
    return position
  }
}

/// A push that an edge has judged as far as it can, on its way to the node that leads its token's zone. Bytes are lent.
package struct LinkPush: ~Escapable {
  /// Set when it goes out.
  package var stamp = LinkStamp()
  /// Numbers what is sent on a link.
  package var number: UInt64
  /// In the edge's history.
  package var id: UInt64
  /// Of the token, as the edge sees it.
  package var zone: UInt16
  /// As for the broker, but for what only the edge knows: topic and registration are its own.
  package var push: PlainSubmission
  package var topic: Topic?

  @_lifetime(copy push)
  package init(number: UInt64, id: UInt64, zone: UInt16, push: PlainSubmission, topic: Topic?) {
    (self.number, self.id, self.zone, self.push, self.topic) = (number, id, zone, push, topic)
  }

  func write(to out: inout StateWriter) {
    stamp.write(to: &out)
    out.write(number)
    out.write(id)
    out.write(zone)
    out.write(push.interface.rawValue)
    out.write(push.command)
    out.write(push.identifier)
    out.write(push.environment.rawValue)
    out.write(push.priority.byte(isSaid: push.saysPriority))
    out.write(push.pushType?.rawValue ?? .max)
    out.write(push.expiration != nil)
    out.write(push.expiration ?? 0)
    let words = APNSID.words(push.apnsID)
    out.write(push.apnsID != nil)
    out.write(words.0)
    out.write(words.1)
    out.write(topic?.name ?? "")
    out.write(push.token)
    out.write(push.payload)
    out.write(push.collapseId)
  }

  @_lifetime(copy cursor)
  init(_ cursor: inout StateCursor, _ topics: inout LastTopic) throws(StateCursor.Damage) {
    stamp = try LinkStamp(&cursor)
    (number, id, zone) = (try cursor.integer(), try cursor.integer(), try cursor.integer())
    let interface = try cursor.require(Interface(rawValue: try cursor.integer()), "an interface")
    push = PlainSubmission(
      interface: interface, topic: nil, environment: .sandbox, token: .none, payload: .none)
    (push.command, push.identifier) = (try cursor.integer(), try cursor.integer())
    push.environment = try cursor.require(Environment(rawValue: try cursor.integer()), "an environment")
    (push.priority, push.saysPriority) = try cursor.require(
      Priority.read(try cursor.integer()), "a priority")
    let type = try cursor.integer(UInt8.self)
    push.pushType = type == .max ? nil : try cursor.require(PushType(rawValue: type), "a push type")
    let (hasExpiration, expiration) = (try cursor.flag(), try cursor.integer(UInt32.self))
    push.expiration = hasExpiration ? expiration : nil
    let (hasID, words) = (
      try cursor.flag(), (try cursor.integer(UInt64.self), try cursor.integer(UInt64.self))
    )
    push.apnsID = hasID ? APNSID(words: words) : nil
    topic = try topics.topic(&cursor)
    push.token = try cursor.counted()
    push.payload = try cursor.counted()
    push.collapseId = try cursor.counted()
  }
}

/// Reads the names of topics. Most pushes are for the same as the one before: whether a name is one is looked at once then.
struct LastTopic {
  private var name: [UInt8] = []
  private var topic: Topic?

  /// nil where there is no name.
  mutating func topic(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> Topic? {
    let bytes = try cursor.counted()
    if bytes.hasSameBytes(as: name.span) { return topic }
    let name = Array(bytes)
    let text = try cursor.require(String(validating: name, as: UTF8.self), "UTF-8")
    (topic, self.name) = (name.isEmpty ? nil : try cursor.require(Topic(text), "a topic"), name)
    return topic
  }
}

/// What the leader says of a push.
package struct LinkVerdict: Equatable, Sendable {
  package enum Outcome: Equatable, Sendable {
    case accepted
    case rejected(Rejection, goneAt: Timestamp?)
    /// The zone is not the leader's, or it may not answer for it now, or it came too late: nothing was done.
    case notMine
  }

  package var number: UInt64
  package var outcome: Outcome

  package init(number: UInt64, _ outcome: Outcome) { (self.number, self.outcome) = (number, outcome) }

  func write(to out: inout StateWriter) {
    out.write(number)
    switch outcome {
    case .accepted: out.write(0 as UInt8)
    case .notMine: out.write(UInt8.max)
    case .rejected(let rejection, let goneAt):
      out.write(rejection.rawValue)
      out.write(goneAt ?? .never)
    }
  }

  init(_ cursor: inout StateCursor) throws(StateCursor.Damage) {
    number = try cursor.integer()
    switch try cursor.integer(UInt8.self) {
    case 0: outcome = .accepted
    case .max: outcome = .notMine
    case let code:
      let rejection = try cursor.require(Rejection(rawValue: code), "a rejection")
      let goneAt = try cursor.time()
      outcome = .rejected(rejection, goneAt: goneAt == .never ? nil : goneAt)
    }
  }
}

/// What became of an accepted push, for the history of the edge that it came by.
package struct LinkStep: Equatable, Sendable {
  package var id: UInt64
  package var state: NotificationState
  package var at: Timestamp

  package init(id: UInt64, state: NotificationState, at: Timestamp) {
    (self.id, self.state, self.at) = (id, state, at)
  }

  func write(to out: inout StateWriter) {
    out.write(id)
    out.write(state.rawValue)
    out.write(at)
  }

  init(_ cursor: inout StateCursor) throws(StateCursor.Damage) {
    id = try cursor.integer()
    state = try cursor.require(NotificationState(rawValue: try cursor.integer()), "a state")
    at = try cursor.time()
  }
}

/// Something to be done in a zone of another node, which may be done twice without harm.
package struct LinkCommand {
  package enum Action {
    /// A provider has read these tokens from the feedback service.
    case feedbackRead([DeviceToken])
    case createChannel(topic: Topic, Environment, id: [UInt8], storesNewest: Bool)
    case deleteChannel(topic: Topic, Environment, id: [UInt8])
    /// As it is to reach devices: whoever has seen its time does not get it again.
    case broadcast(topic: Topic, Environment, id: [UInt8], ChannelTable.Broadcast)
  }

  /// What the leader says of it.
  package enum Outcome: UInt8, Sendable {
    case done = 0
    /// There is no such channel.
    case noChannel
    /// The zone is not the leader's, or it may not answer for it now, or it came too late: nothing was done.
    case notMine
  }

  /// Set when it goes out.
  package var stamp = LinkStamp()
  package var number: UInt64
  package var zone: UInt16
  package var action: Action

  package init(number: UInt64, zone: UInt16, _ action: Action) {
    (self.number, self.zone, self.action) = (number, zone, action)
  }

  func write(to out: inout StateWriter) {
    stamp.write(to: &out)
    out.write(number)
    out.write(zone)
    switch action {
    case .feedbackRead(let tokens):
      out.write(1 as UInt8)
      out.write(UInt16(tokens.count))
      for token in tokens { out.write(token) }
    case .createChannel(let topic, let environment, let id, let storesNewest):
      Self.write(2, topic, environment, id, to: &out)
      out.write(storesNewest)
    case .deleteChannel(let topic, let environment, let id):
      Self.write(3, topic, environment, id, to: &out)
    case .broadcast(let topic, let environment, let id, let broadcast):
      Self.write(4, topic, environment, id, to: &out)
      out.write(broadcast, ChannelTable.Broadcast.form)
    }
  }

  private static func write(
    _ kind: UInt8, _ topic: Topic, _ environment: Environment, _ id: [UInt8], to out: inout StateWriter
  ) {
    out.write(kind)
    out.write(topic.name)
    out.write(environment.rawValue)
    out.write(id)
  }

  init(_ cursor: inout StateCursor) throws(StateCursor.Damage) {
    stamp = try LinkStamp(&cursor)
    (number, zone) = (try cursor.integer(), try cursor.integer())
    let kind = try cursor.integer(UInt8.self)
    guard kind != 1 else {
      var tokens: [DeviceToken] = []
      for _ in 0..<(try cursor.integer(UInt16.self)) { tokens.append(try cursor.token()) }
      action = .feedbackRead(tokens)
      return
    }
    let topic = try cursor.require(Topic(try cursor.text()), "a topic")
    let environment = try cursor.require(Environment(rawValue: try cursor.integer()), "an environment")
    let id = Array(try cursor.counted())
    switch kind {
    case 2: action = .createChannel(topic: topic, environment, id: id, storesNewest: try cursor.flag())
    case 3: action = .deleteChannel(topic: topic, environment, id: id)
    case 4:
      let broadcast = try cursor.row(ChannelTable.Broadcast.form, .blank)
      action = .broadcast(topic: topic, environment, id: id, broadcast)
    default: throw StateCursor.Damage(description: "expected a command, got \(kind)")
    }
  }
}
