import Basics
import Cluster
import Emulator
import Services
import Transport
import Zones

/// `cluster`: what the nodes of a cluster are and have, and moving that about. Any node is asked, and passes on what only another
/// one can do.
enum ClusterCommand {
  private static let waitUntilWell = Waiting.flag("wait until there is no problem")
  private static let waitUntilGone = Waiting.flag("wait until the node has ended")
  static let statusFlags: [any FlagDescription] = [
    CommonFlags.json, waitUntilWell, Waiting.timeout, CommonFlags.access, CommonFlags.portsFile,
  ]
  static let drainFlags: [any FlagDescription] = [
    waitUntilGone, Waiting.timeout, CommonFlags.access, CommonFlags.portsFile,
  ]
  static let flags: [any FlagDescription] = [CommonFlags.access, CommonFlags.portsFile]
  private static let node = Argument(ValueKind<String>.node, "the node's name, as cluster status shows it")
  static let nodeArguments = [node]
  static let moveArguments = [
    Argument(
      ValueKind<Int>.number("ZONE", 0...ZoneMap.counts.upperBound - 1),
      "the zone's number, as cluster status shows it"
    ),
    node,
  ]

  /// All that leads to a cluster's logs, and nothing of a node.
  static let repairFlags = ServeFlags.cluster.flags.filter {
    !["node", "node-port", "zones"].contains($0.name)
  }
  static let repairArguments = [
    moveArguments[0],
    Argument(
      ValueKind<UInt64>.number("MESSAGE", 1...UInt64(Int64.max)),
      "the number of the message in the zone's log, as the node reported it"),
  ]

  /// Asks no node, as none may be left.
  static func repair(_ settings: Settings) throws -> ExitStatus {
    guard let options = ServeOptions(settings).cluster else {
      throw UsageError("--nats URL is missing: the NATS servers of the cluster", command: "cluster repair")
    }
    guard let zone = settings.arguments.first.flatMap({ Int($0) }),
      let message = settings.arguments.last.flatMap({ UInt64($0) })
    else {
      throw UsageError("expected ZONE and MESSAGE, as the node reported them", command: "cluster repair")
    }
    guard let loop = EventLoop() else { throw CommandFailure("can't make an event loop") }
    let told = try ClusterRepair.run(
      loop: loop, nats: options.natsSettings(software: EmulatorVersion.current), options.nodeSettings(),
      zone: zone, sequence: message)
    try Output.line(told)
    try Output.line("start the nodes now: they pass over this message")
    return .success
  }

  /// Prints it; a failure if something is not right, for scripts.
  static func status(_ settings: Settings) throws -> ExitStatus {
    var seen: Result<JSONValue, any Error>?
    let isWell = Waiting.until(settings, waitUntilWell) {
      seen = Result { try look(settings) }
      return (try? seen?.get()).map(ClusterTable.isWell) ?? false
    }
    guard let cluster = try seen?.get() else { return .failure }
    let lines = settings.isOn(CommonFlags.json) ? [cluster.text] : ClusterTable.lines(cluster)
    for line in lines { try Output.line(line) }
    return isWell ? .success : .failure
  }

  private static func look(_ settings: Settings) throws -> JSONValue {
    try RunningEmulator(settings).document("/api/v1/cluster")
  }

  static func move(_ settings: Settings) throws -> ExitStatus {
    let (zone, node) = (settings.arguments.first ?? "", settings.arguments.last ?? "")
    let moved = try order("zones/\(zone)", ["node": .string(node)], settings)
    let isMoving = moved.says("moving")
    try Output.line(isMoving ? "zone \(zone) is moving to \(node)" : "zone \(zone) is at \(node)")
    return .success
  }

  static func drain(_ settings: Settings) throws -> ExitStatus {
    let node = settings.arguments.first ?? ""
    guard settings.isOn(waitUntilGone) else {
      _ = try order("nodes/\(node)/drain", [:], settings)
      try Output.line("\(node) hands its zones over, and then ends")
      return .success
    }
    let isAsked = try look(settings)["name"]?.string == node
    _ = try order("nodes/\(node)/drain", [:], settings)
    let isGone = try Waiting.until(settings, waitUntilGone) {
      // Who ends itself answers no more; another that does not answer may do so again.
      guard let cluster = try? look(settings) else { return isAsked }
      guard !cluster.list("missing").contains(where: { $0.string == node }) else {
        throw CommandFailure("\(node) has ended without handing its zones over; see cluster status")
      }
      return !cluster.list("nodes").contains { $0["name"]?.string == node }
    }
    guard isGone else {
      throw CommandFailure("\(node) has not ended within --timeout; ask again with cluster status")
    }
    try Output.line("\(node) has handed its zones over, and ended")
    return .success
  }

  static func forget(_ settings: Settings) throws -> ExitStatus {
    let node = settings.arguments.first ?? ""
    _ = try order("nodes/\(node)/forget", [:], settings)
    try Output.line("no node waits for \(node) any more")
    return .success
  }

  private static func order(_ path: String, _ body: JSONValue, _ settings: Settings) throws -> JSONValue {
    try RunningEmulator(settings).document("/api/v1/cluster/\(path)", posting: body.encoded)
  }
}

/// A cluster as lines for people: its nodes, who has which zones, and what is not right.
package enum ClusterTable {
  /// From how long on it is worth a word that NATS lets a node wait, in milliseconds.
  private static let longWait: Int64 = 1_000

  package static func lines(_ cluster: JSONValue) -> [String] {
    let name = cluster["name"]?.string ?? ""
    let servers = cluster["engine"]?.list("servers").compactMap(\.string).joined(separator: ", ") ?? ""
    let place = cluster["cluster"]?.string.map { "\(name) of \($0)" } ?? name
    let head = "\(place) sees \(cluster["zoneCount"]?.text ?? "0") zones, NATS server \(servers)"
    let troubles = troubles(cluster)
    return [head, ""] + nodes(cluster) + [""] + (troubles.isEmpty ? ["ready"] : troubles)
  }

  /// Whether there is nothing to say of it.
  package static func isWell(_ cluster: JSONValue) -> Bool {
    cluster.says("ready") && troubles(cluster).isEmpty
  }

  private static func nodes(_ cluster: JSONValue) -> [String] {
    let zones = cluster.list("zones")
    let leaders = Dictionary(grouping: zones) { $0["owner"]?.string }
    var rows = cluster.list("nodes").map { node in
      let name = node["name"]?.string ?? ""
      let state =
        node.says("draining") ? "hands over" : node.says("isThis") ? "asked" : ""
      return [
        name, numbers(leaders[name] ?? []), node["devices"]?.text ?? "", node["console"]?.string ?? "–",
        state,
      ]
    }
    let living = Set(cluster.list("nodes").compactMap { $0["name"]?.string })
    let missing = cluster.list("missing").compactMap(\.string)
    for name in Set(leaders.keys.compactMap { $0 } + missing).subtracting(living).sorted() {
      rows.append([name, numbers(leaders[name] ?? []), "", "–", "gone"])
    }
    return TextTable.lines([["NODE", "ZONES", "DEVICES", "CONSOLE", "STATE"]] + rows)
  }

  private static func numbers(_ zones: [JSONValue]) -> String {
    zones.isEmpty ? "none" : "\(zones.count): " + ranges(zones.compactMap { $0["zone"]?.integer })
  }

  /// As people write them: 0-3, 7.
  package static func ranges(_ numbers: [Int64]) -> String {
    var parts: [ClosedRange<Int64>] = []
    for number in numbers.sorted() {
      if let last = parts.last, last.upperBound + 1 == number {
        parts[parts.count - 1] = last.lowerBound...number
      } else {
        parts.append(number...number)
      }
    }
    return parts.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
      .joined(separator: " ")
  }

  /// A sentence each.
  private static func troubles(_ cluster: JSONValue) -> [String] {
    let (zones, name) = (cluster.list("zones"), cluster["name"]?.string ?? "")
    var sentences: [String] = []
    if let because = cluster["because"]?.string { sentences.append("not ready: \(because)") }
    // All else follows of that.
    guard cluster["engine"]?["because"]?.string == nil else { return sentences }
    let waiting = cluster["engine"]?["waitingMs"]?.integer ?? 0
    if waiting >= longWait { sentences.append("\(name) has waited for the NATS server for \(waiting) ms") }
    sentences += cluster.list("missing").compactMap(\.string).map {
      "\($0) is missing: start it again, or, if it will not come back, `cluster forget \($0)`"
    }
    let nowhere = zones.filter { $0["seat"]?.string == "nowhere" && !$0.says("moving") }
      .compactMap { $0["zone"]?.integer }
    if !nowhere.isEmpty { sentences.append("zones without a leader: \(ranges(nowhere))") }
    let moving = zones.filter { $0.says("moving") }.compactMap { $0["zone"]?.integer }
    if !moving.isEmpty { sentences.append("zones that are moving: \(ranges(moving))") }
    return sentences + zoneTroubles(zones)
  }

  /// Zones that have the same trouble are one line.
  private static func zoneTroubles(_ zones: [JSONValue]) -> [String] {
    let troubled = Dictionary(grouping: zones) { $0["trouble"]?.string }
    return troubled.sorted { $0.key ?? "" < $1.key ?? "" }.compactMap { trouble, zones in
      trouble.map { "zone \(ranges(zones.compactMap { $0["zone"]?.integer })): \($0)" }
    }
  }
}
