import Broker
import PushModel

/// What this node does in zones of its own for an edge: decides pushes that came by it, and carries commands out. No I/O, no clock.
public struct ZoneLeader {
  private let broker: Broker
  /// Whether this node may answer for a zone now.
  private let isMine: (UInt16) -> Bool

  public init(_ broker: Broker, isMine: @escaping (UInt16) -> Bool) {
    (self.broker, self.isMine) = (broker, isMine)
  }

  /// `gate` is its link's.
  public func decide(
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
  public func obey(_ command: LinkCommand, _ gate: LeaderGate, at instant: Instant) -> LinkCommand.Outcome {
    guard isMine(command.zone), gate.isAwaited(command.stamp, instant) else { return .notMine }
    // Of the others it does not matter when they are done.
    if case .broadcast = command.action, !gate.isCurrent(command.stamp) { return .notMine }
    return Self.carryOut(command.action, by: broker)
  }

  /// Answers what becomes known of it once the turn's changes are in the log.
  public static func carryOut(_ action: LinkCommand.Action, by broker: Broker) -> LinkCommand.Outcome {
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
