import Cluster
import ClusterRouter
import PushModel
import Transport
import Zones

/// Asks the consoles of other nodes.
package final class ConsoleRelay: OtherConsoles {
  /// Variable so that a test need not wait for it.
  package var stallTime: Int64 = 15_000_000_000
  private let cluster: any ClusterView
  private let caller: NodeCaller
  private var asked: [ObjectIdentifier: AskedConsole] = [:]

  init(cluster: any ClusterView, caller: NodeCaller) { (self.cluster, self.caller) = (cluster, caller) }

  package func place(of udid: UDID) -> NodePlace {
    switch cluster.seat(of: cluster.zone(of: udid)) {
    case .here: .here
    case .at(let peer): .at(peer.name)
    case .nowhere: .nowhere
    }
  }

  package func home(of notification: UInt64) -> NodePlace {
    let ordinal = ClusterMembership.ordinal(of: notification)
    if ordinal == cluster.ordinal { return .here }
    return cluster.peers.first { $0.ordinal == ordinal }.map { .at($0.name) } ?? .nowhere
  }

  package var isSettled: Bool { cluster.isSettled }
  package var names: [String] { cluster.peers.map(\.name).filter { !cluster.hasLeft($0) } }
  package var missing: [String] { cluster.missing }

  package func ask(
    _ node: String, _ request: HTTPRequest, about device: UDID?, timeout: Int64?, _ reader: any AnswerReader
  ) -> any OpenQuestion {
    let zone = device.map { cluster.zone(of: $0) }
    let question = AskedConsole(request, of: zone, reader, caller.loop, timeout: timeout) { [weak self] in
      self?.asked[ObjectIdentifier($0)] = nil
    }
    asked[ObjectIdentifier(question)] = question
    if let peer = peer(node, zone) {
      question.begin(peer, caller)
    } else {
      question.lose("the node \(node) is gone")
    }
    return question
  }

  private func peer(_ node: String, _ zone: ZoneNumber?) -> NodePeer? {
    if let zone, case .at(let leader) = cluster.seat(of: zone), leader.name == node { return leader }
    return cluster.peers.first { $0.name == node }
  }

  /// Seats have changed: who was asked may not own the zone any more.
  func seatsChanged(_ hasMoved: (ZoneNumber, _ from: ZoneSeat) -> Bool) {
    for question in Array(asked.values) {
      guard let zone = question.zone, let peer = question.peer, hasMoved(zone, .at(peer)) else { continue }
      question.lose("the zone has moved to another node")
    }
  }
}
