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
