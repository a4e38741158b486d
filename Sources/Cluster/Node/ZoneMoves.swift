import Zones

/// The zones that are leaving this node, and where people want zones to be. No I/O, no clock.
///
///     begin ─→ its sessions end ─ a turn's end ─→ ready ─ no commit under way ─→ due: hand it over ─→ forget: it is gone
package struct ZoneMoves {
  private struct Parting {
    var to: String
    /// Its sessions have ended, and no change of an earlier turn waits.
    var isReady = false
  }

  /// Most zones that are moved at the same time, as a count.
  private static let atOnce = 8

  private var partings: [ZoneNumber: Parting] = [:]
  /// Moves that somebody asked for.
  private var requests: [ZoneNumber: String] = [:]

  package init() {}

  package var isEmpty: Bool { partings.isEmpty }
  package var hasRoom: Bool { partings.count < Self.atOnce }

  package func isMoving(_ zone: ZoneNumber) -> Bool { partings[zone] != nil }

  package mutating func begin(_ zone: ZoneNumber, to node: String) { partings[zone] = Parting(to: node) }

  package mutating func request(_ zone: ZoneNumber, at node: String) { requests[zone] = node }

  /// The same targets, with what somebody asked for in the place of what is best.
  package func applied(to targets: [String]) -> [String] {
    guard !targets.isEmpty else { return targets }
    var targets = targets
    for (zone, node) in requests where targets.indices.contains(zone.number) { targets[zone.number] = node }
    return targets
  }

  /// To be called while no commit is under way: the zones that may be handed over, and to whom. Those that began since the last call
  /// may next time, as what ended with their sessions is in a commit of its own turn.
  package mutating func due() -> [(zone: ZoneNumber, to: String)] {
    let ready = partings.filter(\.value.isReady)
    for zone in partings.keys { partings[zone]?.isReady = true }
    return ready.map { ($0.key, $0.value.to) }
  }

  /// The zone has come here, which fulfils what was requested for it.
  package mutating func arrived(_ zone: ZoneNumber) { requests[zone] = nil }

  /// The zone has gone.
  package mutating func left(_ zone: ZoneNumber) { (partings[zone], requests[zone]) = (nil, nil) }
}

/// Where each zone is, as far as this node knows, and where it should be.
final class ZonePlaces {
  private let name: String
  private let presence: NodePresence
  private var seats: [ZoneSeat]
  var moves = ZoneMoves()

  init(_ name: String, _ presence: NodePresence, zones: Int) {
    (self.name, self.presence) = (name, presence)
    seats = [ZoneSeat](repeating: .nowhere, count: zones)
  }

  subscript(zone: ZoneNumber) -> ZoneSeat {
    seats.indices.contains(zone.number) ? seats[zone.number] : .nowhere
  }

  /// Zones that this node leads, as a count.
  var ledCount: Int { seats.count { $0 == .here } }

  /// The leader of each zone; nil for one that nobody leads who is known to live.
  var leaders: [String?] {
    seats.map {
      switch $0 {
      case .here: name
      case .at(let peer): peer.name
      case .nowhere: nil
      }
    }
  }

  /// Looks where the zones are; answers whether that is news.
  func look(_ drivers: [ZoneDriver]) -> Bool {
    let fresh = drivers.map { seat($0) }
    guard fresh != seats else { return false }
    seats = fresh
    return true
  }

  private func seat(_ driver: ZoneDriver) -> ZoneSeat {
    if driver.role == .leading { return moves.isMoving(driver.zone) ? .nowhere : .here }
    guard let node = driver.leaderName, let said = presence[node], let address = said.address else {
      return .nowhere
    }
    return .at(NodePeer(name: node, address: address, ordinal: said.ordinal))
  }

  /// The node that each zone should be at; empty while nobody can say.
  func targets(_ drivers: [ZoneDriver]) -> [String] {
    let facts = drivers.map { ZonePlan.Fact(zone: $0.zone, leader: $0.leaderName) }
    return moves.applied(to: ZonePlan(facts, nodes: presence.heirs).targets)
  }

  /// Whether each zone is where it should be: nothing is on its way between nodes.
  func areSettled(_ drivers: [ZoneDriver]) -> Bool {
    guard moves.isEmpty, !presence.own.isDraining, !seats.contains(.nowhere) else { return false }
    let targets = targets(drivers)
    return drivers.allSatisfy {
      targets.indices.contains($0.zone.number) && targets[$0.zone.number] == $0.leaderName
    }
  }

  // MARK: Moving

  /// Whether a zone that this node leads is to begin to leave for its target now.
  func mayLeave(_ driver: ZoneDriver, for target: String) -> Bool {
    driver.role == .leading && !moves.isMoving(driver.zone) && target != name
      && presence[target]?.address != nil && moves.hasRoom
  }

  /// Why a zone can't be moved to a node as somebody has asked; nil, and from now on that is its target, if it can.
  func refuse(_ zone: ZoneNumber, to node: String) -> String? {
    guard node != name else { return "zone \(zone) is at \(name) already" }
    guard presence[node]?.address != nil else {
      return "expected one of \(presence.all.map(\.name).joined(separator: ", ")), got \(node)"
    }
    moves.request(zone, at: node)
    return nil
  }
}
