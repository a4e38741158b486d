import Basics
import Broker
import PushModel

/// How a request goes out on a link: by this the leader of its zone knows whether it may still be done, and done now.
package struct LinkStamp: Equatable, Sendable {
  /// What the leader's clock said last on this link, in nanoseconds.
  package var heard: UInt64
  /// For how long the edge had it before, in nanoseconds.
  package var age: UInt64
  /// How often the edge was refused something of the zone, as a count.
  package var attempt: UInt32

  /// In a message, behind its length and kind.
  static let position = 5

  package init(heard: UInt64 = 0, age: UInt64 = 0, attempt: UInt32 = 0) {
    (self.heard, self.age, self.attempt) = (heard, age, attempt)
  }

  func write(to out: inout StateWriter) {
    out.write(heard)
    out.write(age)
    out.write(attempt)
  }

  init(_ cursor: inout StateCursor) throws(StateCursor.Damage) {
    (heard, age, attempt) = (try cursor.integer(), try cursor.integer(), try cursor.integer())
  }

  /// Writes it into a message that was made without it.
  package func mark(_ message: inout [UInt8]) {
    guard message.count >= Self.position + 20 else { return }
    message.replace(bigEndian: heard, at: Self.position)
    message.replace(bigEndian: age, at: Self.position + 8)
    message.replace(bigEndian: attempt, at: Self.position + 16)
  }
}

/// What of one link's requests may be done: no I/O, no clock.
///
/// A link may hold for long what was said on it. What its edge has given up meanwhile, so that its provider may have sent something
/// newer by another node, is not done; and what comes behind a refused push of its zone is refused until the edge has heard
/// of that, so that nothing is overtaken.
package struct LeaderGate {
  /// For how long an edge waits, in nanoseconds.
  private let timeout: Int64
  /// The link has ended, and what comes now was said before: its edge is gone or has given all of it up, and its providers may have
  /// sent something newer by another node.
  package var hasEnded = false
  /// When the leader looked again after it had not for a while. What an edge said before it had heard of that is to be said again:
  /// one that has died meanwhile says nothing more, however much of it the leader has yet to read.
  package var awakeSince = Instant.distantPast
  /// The least attempt, zone by zone.
  private var required: [UInt16: UInt32] = [:]

  package init(timeout: Int64) { self.timeout = timeout }

  /// What the edge is told of the time.
  package static func time(_ now: Instant) -> UInt64 { UInt64(clamping: now.nanoseconds) }

  /// Whether its edge still waits for it.
  package func isAwaited(_ stamp: LinkStamp, _ now: Instant) -> Bool {
    let (waited, isNever) = Self.time(now).subtractingReportingOverflow(stamp.heard)
    let (whole, isTooLong) = waited.addingReportingOverflow(stamp.age)
    return !isNever && !isTooLong && whole < UInt64(clamping: timeout)
  }

  /// Whether its edge is there, as far as can be known, and so its provider has sent nothing newer by another node.
  func isCurrent(_ stamp: LinkStamp) -> Bool {
    !hasEnded && stamp.heard >= Self.time(awakeSince)
  }

  /// Whether a push may be done; `isMine` says whether its zone may be changed here.
  package mutating func admits(_ stamp: LinkStamp, in zone: UInt16, isMine: Bool, _ now: Instant) -> Bool {
    guard stamp.attempt >= required[zone] ?? 0 else { return false }
    if isMine, isCurrent(stamp), isAwaited(stamp, now) { return true }
    required[zone] = stamp.attempt &+ 1
    return false
  }
}

/// What this node does in zones of its own for an edge: decides pushes that came by it, and carries commands out. No I/O, no clock.
package struct ZoneLeader {
  private let broker: Broker
  /// Whether this node may answer for a zone now.
  private let isMine: (UInt16) -> Bool

  package init(_ broker: Broker, isMine: @escaping (UInt16) -> Bool) {
    (self.broker, self.isMine) = (broker, isMine)
  }

  /// `gate` is its link's.
  package func decide(
    _ relayed: LinkPush, _ gate: inout LeaderGate, now: Timestamp, at instant: Instant
  ) -> LinkVerdict.Outcome {
    var push = relayed.push
    // The edge may know less of the token than this node.
    let row = broker.registry.find(presented: push.token)
    let isMine = isMine(row.map { broker.registry[$0].zone } ?? relayed.zone)
    guard gate.admits(relayed.stamp, in: relayed.zone, isMine: isMine, instant) else { return .notMine }
    push.topic = relayed.topic.flatMap { broker.registry.topic(named: $0) }
    let result = broker.routing.submitRelayed(push, id: relayed.id, now: now)
    return result.rejection.map { .rejected($0, goneAt: result.goneAt) } ?? .accepted
  }

  /// Carries it out if it still may be.
  package func obey(_ command: LinkCommand, _ gate: LeaderGate, at instant: Instant) -> LinkCommand.Outcome {
    guard isMine(command.zone), gate.isAwaited(command.stamp, instant) else { return .notMine }
    // Of the others it does not matter when they are done.
    if case .broadcast = command.action, !gate.isCurrent(command.stamp) { return .notMine }
    return Self.carryOut(command.action, by: broker)
  }

  /// Answers what becomes known of it once the turn's changes are in the log.
  package static func carryOut(_ action: LinkCommand.Action, by broker: Broker) -> LinkCommand.Outcome {
    func key(_ topic: Topic, _ environment: Environment, _ id: [UInt8]) -> ChannelTable.Key? {
      broker.registry.topic(named: topic).map {
        ChannelTable.Key(topic: $0, environment: environment, id: id)
      }
    }
    switch action {
    case .feedbackRead(let tokens):
      broker.feedback.clear(tokens.compactMap { broker.registry.find($0) })
      return .done
    case .createChannel(let topic, let environment, let id, let storesNewest):
      guard let key = key(topic, environment, id) else { return .noChannel }
      // One that was made when this was asked before is there.
      broker.channels.create(key, storesNewest: storesNewest)
      return broker.channels.storesNewest(key) == nil ? .noChannel : .done
    case .deleteChannel(let topic, let environment, let id):
      return key(topic, environment, id).map { broker.channels.delete($0) } == true ? .done : .noChannel
    case .broadcast(let topic, let environment, let id, let broadcast):
      return key(topic, environment, id).map { broker.broadcasts.send(broadcast, to: $0) } == true
        ? .done : .noChannel
    }
  }
}
