import Basics
import Broker
import PushModel

/// A push that an edge has judged as far as it can, on its way to the node that leads its token's zone. Bytes are lent.
package struct LinkPush {
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

  init(_ cursor: inout StateCursor, _ topics: inout LastTopic) throws(StateCursor.Damage) {
    stamp = try LinkStamp(&cursor)
    (number, id, zone) = (try cursor.integer(), try cursor.integer(), try cursor.integer())
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    let interface = try cursor.require(Interface(rawValue: try cursor.integer()), "an interface")
    push = PlainSubmission(
      interface: interface, topic: nil, environment: .sandbox, token: nothing, payload: nothing)
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
    (push.token, push.payload) = (try cursor.counted(), try cursor.counted())
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
    if bytes.elementsEqual(name) { return topic }
    let text = try cursor.require(String(validating: bytes, as: UTF8.self), "UTF-8")
    (topic, name) = (bytes.isEmpty ? nil : try cursor.require(Topic(text), "a topic"), Array(bytes))
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
      out.write(2 as UInt8)
      Self.write(topic, environment, id, to: &out)
      out.write(storesNewest)
    case .deleteChannel(let topic, let environment, let id):
      out.write(3 as UInt8)
      Self.write(topic, environment, id, to: &out)
    case .broadcast(let topic, let environment, let id, let broadcast):
      out.write(4 as UInt8)
      Self.write(topic, environment, id, to: &out)
      out.write(broadcast, ChannelTable.Broadcast.form)
    }
  }

  private static func write(
    _ topic: Topic, _ environment: Environment, _ id: [UInt8], to out: inout StateWriter
  ) {
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
