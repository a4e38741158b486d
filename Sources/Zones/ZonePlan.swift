/// How zones lie on the nodes that live: evenly, with as few moves as that takes. Each node computes the same from the same facts.
public struct ZonePlan: Equatable, Sendable {
  /// What is known of a zone.
  public struct Fact: Equatable, Sendable {
    public var zone: ZoneNumber
    /// The node that leads it, or did; nil in a new log.
    public var leader: String?

    public init(zone: ZoneNumber, leader: String?) { (self.zone, self.leader) = (zone, leader) }
  }

  /// The node that each zone should be at, in the order of the facts. Empty where there is no node.
  public let targets: [String]

  /// `nodes` are those that live and mean to stay; names are unique.
  public init(_ facts: [Fact], nodes: [String]) {
    let nodes = nodes.sorted()
    guard !nodes.isEmpty else {
      targets = []
      return
    }
    var held: [String: Int] = [:]
    for fact in facts { if let leader = fact.leader { held[leader, default: 0] += 1 } }
    // Those who have more already keep the odd ones.
    let order = nodes.sorted { (-(held[$0] ?? 0), $0) < (-(held[$1] ?? 0), $1) }
    let (share, odd) = facts.count.quotientAndRemainder(dividingBy: nodes.count)
    var room: [String: Int] = [:]
    for (index, node) in order.enumerated() { room[node] = share + (index < odd ? 1 : 0) }
    var targets = [String?](repeating: nil, count: facts.count)
    for (index, fact) in facts.enumerated() {
      guard let leader = fact.leader, let left = room[leader], left > 0 else { continue }
      room[leader] = left - 1
      targets[index] = leader
    }
    var takers = order.flatMap { [String](repeating: $0, count: room[$0] ?? 0) }[...]
    self.targets = targets.map { $0 ?? takers.popFirst() ?? order[0] }
  }
}
