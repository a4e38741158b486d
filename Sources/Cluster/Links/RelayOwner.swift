import Broker
import PushModel

/// Decides pushes that came by another node, and does what it asks for, where the zone is here. No I/O, no clock.
public struct RelayOwner {
  private let broker: Broker
  private let commands: RelayCommands
  /// Whether this node may answer for a zone now.
  private let isMine: (UInt16) -> Bool

  public init(_ broker: Broker, isMine: @escaping (UInt16) -> Bool) {
    (self.broker, self.isMine) = (broker, isMine)
    commands = RelayCommands(broker: broker)
  }

  /// `gate` is its link's.
  public func decide(
    _ relayed: RelayedPush, _ gate: inout RelayGate, now: Timestamp, at instant: Instant
  ) -> RelayedVerdict.Outcome {
    var push = relayed.push
    // The edge may know less of the token than this node.
    let row = broker.row(of: push.token)
    let isMine = isMine(row.map { broker.registry[$0].zone } ?? relayed.zone)
    guard gate.admits(relayed.sending, in: relayed.zone, isMine: isMine, instant) else { return .notMine }
    push.topic = relayed.topic.flatMap { broker.registry.topic(named: $0) }
    let result = broker.submitRelayed(push, id: relayed.id, now: now)
    return result.rejection.map { .rejected($0, goneAt: result.goneAt) } ?? .accepted
  }

  /// Does it; answers what becomes known of it once the turn's changes are in the log.
  public func carryOut(
    _ command: RelayedCommand, _ gate: RelayGate, at instant: Instant
  ) -> RelayedCommand.Outcome {
    guard isMine(command.zone), gate.isAwaited(command.sending, instant) else { return .notMine }
    // Of the others it does not matter when they are done.
    if case .broadcast = command.action, !gate.isCurrent(command.sending) { return .notMine }
    return commands.carryOut(command.action)
  }
}
