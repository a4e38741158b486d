import Emulator
import Platform
import PushModel

/// What takes many phones, or many messages.
extension ClusterBenchmark {
  /// Phones on both nodes get a push each, sent at one of them: until all have it.
  func measurePhones(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws {
    guard options.phones > 0 else { return }
    progress("2 × \(options.phones) phones")
    SocketCalls.raiseOpenFileLimit()
    let cluster = try ClusterProcesses("crowd-\(pass.run)", site: site)
    defer { cluster.stop() }
    let before = cluster.nodes.reduce(0) { $0 + $1.residentBytes }
    let fleets = try cluster.nodes.enumerated().map { index, node in
      try FleetProcess(
        "crowd-\(index + 1)", of: options.phones, at: node, site: site, endsWithOneEach: true)
    }
    let tokens = fleets.flatMap(\.tokens)
    let each = Double(cluster.nodes.reduce(-before) { $0 + $1.residentBytes }) / Double(tokens.count) / 1024
    progress("a push to each")
    let load = try send(tokens, to: cluster.nodes[0])
    for fleet in fleets { try fleet.awaitEnd() }
    let seconds = Double(SystemClock.monotonicNanoseconds() - load.startedAt) / 1e9
    pass.add(
      "2 × \(NumberText.grouped(options.phones)) phones, a push to each, until all have it", seconds, .seconds
    )
    pass.add("  memory of both nodes for each of them", each, .kibibytes)
  }

  /// The leader of a zone with many stored notifications is killed: until the other node accepts a push for it.
  func measureFailover(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws {
    guard options.kept > 0 else { return }
    progress("a zone with \(options.kept) stored notifications")
    let cluster = try ClusterProcesses(
      "failover-\(pass.run)", site: site, zones: 1, extra: ["--adopt-tokens"])
    defer { cluster.stop() }
    let tokens = (0..<options.kept).compactMap { DeviceToken(bytes: Self.token($0)) }
    _ = try send(tokens, to: cluster.nodes[0])
    progress("killing its leader")
    let leader = cluster.leader(of: tokens[0])
    let killed = SystemClock.monotonicNanoseconds()
    kill(cluster.nodes[leader].child.pid, SIGKILL)
    while (try? send([tokens[0]], to: cluster.nodes[1 - leader])) == nil {
      guard SystemClock.monotonicNanoseconds() - killed < Self.timeout else {
        throw EmulatorError(.failed, "nobody took the zone over")
      }
    }
    let seconds = Double(SystemClock.monotonicNanoseconds() - killed) / 1e9
    pass.add(
      "failover of \(NumberText.grouped(options.kept)) stored notifications, kill to accepted push", seconds,
      .seconds,
      aim: .atMost(5))
  }

  /// How long a failover may last, in nanoseconds.
  private static let timeout: Int64 = 60_000_000_000

  /// A frame to each; throws unless all were taken.
  private func send(_ tokens: [DeviceToken], to node: ServerProcess) throws -> FrameLoad {
    try FrameLoad.run(
      site, to: node.address("gateway"), tokens: tokens, count: tokens.count,
      meter: LoadMeter(server: .process(node.child)))
  }

  /// Tokens that no device was given.
  private static func token(_ index: Int) -> [UInt8] {
    [UInt8](repeating: 0xa5, count: 24) + withUnsafeBytes(of: UInt64(index).bigEndian) { Array($0) }
  }
}
