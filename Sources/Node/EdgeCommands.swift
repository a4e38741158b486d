import Basics
import Broker
import Cluster
import Platform
import PushModel
import Zones

/// What is to be done in zones wherever they are, and may be done twice without harm: it is asked for until its leader has done it, or
/// for a bounded time.
final class EdgeCommands {
  /// What the leader has said, or nil if it is not known whether it was done.
  typealias Completion = (LinkCommand.Outcome?) -> Void

  /// Nanoseconds until nobody asks any more.
  private static let timeout: Int64 = 5_000_000_000
  /// A node that does not answer is asked again after so long.
  private static let retry: Int64 = 1_000_000_000
  /// Most that wait, as a count.
  private static let limit = 10_000

  private struct Pending {
    var command: LinkCommand
    var since: Instant
    var askedAt: Instant?
    var done: Completion
  }

  private let cluster: ClusterNode
  private let links: EdgeLinks
  private let broker: Broker
  private var pending: [UInt64: Pending] = [:]
  private var nextNumber: UInt64 = 1

  init(cluster: ClusterNode, links: EdgeLinks, broker: Broker) {
    (self.cluster, self.links, self.broker) = (cluster, links, broker)
  }

  /// Has it done; `done` hears what came of it, at once where the zone is here.
  func ask(_ action: LinkCommand.Action, in zone: ZoneNumber, done: @escaping Completion = { _ in }) {
    guard cluster.seat(of: zone) != .here else { return done(ZoneLeader.carryOut(action, by: broker)) }
    guard pending.count < Self.limit else { return done(nil) }
    let number = nextNumber
    nextNumber += 1
    let command = LinkCommand(number: number, zone: UInt16(zone.number), action)
    pending[number] = Pending(command: command, since: SystemClock.now(), done: done)
    send(number)
  }

  /// The leader's answer.
  func answered(_ number: UInt64, _ outcome: LinkCommand.Outcome) {
    guard outcome != .notMine else { return _ = pending[number]?.askedAt = nil }
    pending.removeValue(forKey: number)?.done(outcome)
  }

  private func send(_ number: UInt64) {
    guard let waiting = pending[number] else { return }
    switch cluster.seat(of: ZoneNumber(Int(waiting.command.zone))) {
    case .nowhere: break
    case .here:
      pending[number] = nil
      waiting.done(ZoneLeader.carryOut(waiting.command.action, by: broker))
    case .at(let peer):
      pending[number]?.askedAt = SystemClock.now()
      links.send(LinkFrame.bytes(of: waiting.command), since: waiting.since, to: peer)
    }
  }

  /// To be called some ten times a second.
  func tick() {
    let now = SystemClock.now()
    for (number, waiting) in pending.sorted(by: { $0.key < $1.key }) {
      if now.nanoseconds(since: waiting.since) >= Self.timeout {
        pending[number] = nil
        waiting.done(nil)
      } else if waiting.askedAt.map({ now.nanoseconds(since: $0) >= Self.retry }) ?? true {
        send(number)
      }
    }
  }
}

/// What providers ask for here and is another node's.
extension EdgeCommands: OtherNodes {
  func decide(onUnknown token: DeviceToken) -> Bool {
    cluster.seat(of: cluster.map.zone(ofUnknown: token.bytes.span)) != .here
  }

  func mayName(channel id: [UInt8]) -> Bool { cluster.ledCount == 0 || isHere(channel: id) }

  private func isHere(channel id: [UInt8]) -> Bool {
    cluster.seat(of: cluster.map.zone(ofChannel: id)) == .here
  }

  func change(
    _ channel: ChannelTable.Key, storesNewest: Bool?, done: @escaping (_ isDone: Bool) -> Void
  ) -> Bool {
    guard !isHere(channel: channel.id), let topic = broker.registry[channel.topic].name else { return false }
    let action: LinkCommand.Action =
      storesNewest.map {
        .createChannel(topic: topic, channel.environment, id: channel.id, storesNewest: $0)
      } ?? .deleteChannel(topic: topic, channel.environment, id: channel.id)
    ask(action, in: cluster.map.zone(ofChannel: channel.id)) {
      // One that is not there was deleted when this was asked before, or by somebody else.
      done($0 == .done || $0 == .noChannel && storesNewest == nil)
    }
    return true
  }

  /// Rows of this node's zones are cleared as ever.
  func feedbackWasRead(_ rows: [RegistrationID]) {
    let byZone = Dictionary(grouping: rows) { broker.registry[$0].zone }
    for (zone, rows) in byZone where !broker.zones.leads(zone) {
      let tokens = rows.map { broker.registry[$0].token }
      for start in stride(from: 0, to: tokens.count, by: 1000) {
        let part = Array(tokens[start..<min(start + 1000, tokens.count)])
        ask(.feedbackRead(part), in: ZoneNumber(Int(zone)))
      }
    }
  }
}
