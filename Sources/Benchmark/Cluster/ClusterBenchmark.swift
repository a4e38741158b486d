import Basics
import Emulator
import Platform
import PushModel
import Services

/// `bench cluster`: two nodes and a NATS server beside a single node without one (`Documentation/speed.md`).
package struct ClusterBenchmark: RepeatedBenchmark {
  package static let name = "cluster"
  package static let amounts = [requests, frames, phones, stored]

  private static let requests = BenchmarkAmount(
    "requests", 300_000, quick: 50_000, "requests over HTTP/2, in each load")
  private static let frames = BenchmarkAmount(
    "frames", 2_000_000, quick: 200_000, "frames to the gateway, in each load")
  private static let phones = BenchmarkAmount(
    "phones", 9500, quick: 500, "phones on each of the two nodes that get a push each; 0 leaves it out")
  private static let stored = BenchmarkAmount(
    "kept", 100_000, quick: 5000, "stored notifications in the zone of the failover; 0 leaves it out")
  /// Tokens that get the pushes of a load, in turn.
  private static let tokens = 400

  private let plan: BenchmarkPlan
  /// How long latency is measured.
  private var latencySeconds: Int { plan.isQuick ? 2 : 10 }
  private let site: BenchmarkSite

  package init(_ plan: BenchmarkPlan, _ progress: (String) -> Void) throws {
    self.plan = plan
    site = try BenchmarkSite()
  }

  package func measure(into pass: inout BenchmarkPass) throws {
    let single = try measureSingle(into: &pass)
    try measureNodes(into: &pass, single)
    try measurePhones(into: &pass)
    try measureFailover(into: &pass)
  }

  // MARK: The reference

  /// What a single node without a NATS server does.
  private struct Single {
    var provider: Found
    var gateway: Found
    var latency: Latencies
  }

  private func measureSingle(into pass: inout BenchmarkPass) throws -> Single {
    pass.progress("a single node")
    let server = try ServerProcess(site: site, data: "\(site.folder)/single-\(pass.run)")
    defer { server.stop() }
    let tokens = try makeTokens(Self.tokens, at: server)
    let provider = try measureRequests(tokens, [server], nil)
    add("HTTP/2, a single node (reference)", provider, of: provider, into: &pass)
    let gateway = try measureFrames(tokens, [server], nil)
    add("gateway, a single node (reference)", gateway, of: gateway, into: &pass)
    let (latency, load) = try latency(at: server)
    pass.add(
      "push at \(LatencyLoad.rate)/s, a single node (reference)", latency, of: latency, load: load)
    return Single(provider: provider, gateway: gateway, latency: latency)
  }

  // MARK: Two nodes

  private func measureNodes(into pass: inout BenchmarkPass, _ single: Single) throws {
    pass.progress("two nodes")
    let cluster = try ClusterProcesses("speed-\(pass.run)", site: site)
    defer { cluster.stop() }
    // Twice as many and some, so that either node has enough of them.
    let all = try makeTokens(Self.tokens * 3, at: cluster.nodes[0])
    let local = Array(all.filter { cluster.leader(of: $0) == 0 }.prefix(Self.tokens))
    let remote = all.filter { cluster.leader(of: $0) == 1 }.prefix(Self.tokens / 2)
    let half = zip(local, remote).flatMap { [$0, $1] }
    for (name, tokens, aim) in [("local zones", local, 0.8), ("half remote", half, 0.55)] {
      pass.progress("HTTP/2, \(name)")
      let provider = try measureRequests(tokens, cluster.nodes, cluster.nats)
      add("HTTP/2, \(name)", provider, of: single.provider, aim: .atLeast(aim), into: &pass)
      pass.progress("gateway, \(name)")
      let gateway = try measureFrames(tokens, cluster.nodes, cluster.nats)
      add("gateway, \(name)", gateway, of: single.gateway, aim: .atLeast(aim), into: &pass)
    }
    try measureLatency(into: &pass, cluster, single.latency)
  }

  /// The device's zone is at the node that it and the provider are connected to, and at the other one.
  private func measureLatency(
    into pass: inout BenchmarkPass, _ cluster: ClusterProcesses, _ single: Latencies
  ) throws {
    guard let device = UDID(BenchmarkSite.deviceName) else { return }
    let zone = cluster.leader(of: device)
    for (name, node) in [("local zone", zone), ("provider and device at the other node", 1 - zone)] {
      pass.progress("latency, \(name)")
      let (latency, load) = try latency(at: cluster.nodes[node])
      pass.add("push at \(LatencyLoad.rate)/s, \(name)", latency, of: single, load: load, aim: .atMost(3))
    }
  }

  // MARK: Many phones, many notifications

  /// Phones on both nodes get a push each, sent at one of them: until all have it.
  private func measurePhones(into pass: inout BenchmarkPass) throws {
    guard plan[Self.phones] > 0 else { return }
    pass.progress("2 × \(plan[Self.phones]) phones")
    SocketCalls.raiseOpenFileLimit()
    let cluster = try ClusterProcesses("crowd-\(pass.run)", site: site)
    defer { cluster.stop() }
    let before = cluster.nodes.reduce(0) { $0 + $1.residentBytes }
    let fleets = try cluster.nodes.enumerated().map { index, node in
      try FleetProcess(
        "crowd-\(index + 1)", of: plan[Self.phones], at: node, site: site, endsWithOneEach: true)
    }
    let tokens = fleets.flatMap(\.tokens)
    let each = Double(cluster.nodes.reduce(-before) { $0 + $1.residentBytes }) / Double(tokens.count) / 1024
    pass.progress("a push to each")
    let load = try send(tokens, to: cluster.nodes[0])
    for fleet in fleets { try fleet.awaitEnd() }
    let seconds = Double(SystemClock.now().nanoseconds(since: load.startedAt)) / 1e9
    pass.add(
      "2 × \(NumberText.grouped(plan[Self.phones])) phones, a push to each, until all have it", seconds,
      .seconds
    )
    pass.add("  memory of both nodes for each of them", each, .kibibytes)
  }

  /// The leader of a zone with many stored notifications is killed: until the other node accepts a push for it.
  private func measureFailover(into pass: inout BenchmarkPass) throws {
    guard plan[Self.stored] > 0 else { return }
    pass.progress("a zone with \(plan[Self.stored]) stored notifications")
    let cluster = try ClusterProcesses(
      "failover-\(pass.run)", site: site, zones: 1, extra: ["--adopt-tokens"])
    defer { cluster.stop() }
    let tokens = (0..<plan[Self.stored]).compactMap { DeviceToken(bytes: Self.token($0)) }
    _ = try send(tokens, to: cluster.nodes[0])
    pass.progress("killing its leader")
    let leader = cluster.leader(of: tokens[0])
    let killed = SystemClock.now()
    ProcessStatus.kill(cluster.nodes[leader].child.pid)
    while (try? send([tokens[0]], to: cluster.nodes[1 - leader])) == nil {
      guard SystemClock.now().nanoseconds(since: killed) < Self.timeout else {
        throw EmulatorError(.failed, "no node took the zone over")
      }
    }
    let seconds = Double(SystemClock.now().nanoseconds(since: killed)) / 1e9
    pass.add(
      "failover of \(NumberText.grouped(plan[Self.stored])) stored notifications, kill to accepted push",
      seconds,
      .seconds,
      aim: .atMost(5))
  }

  /// How long a failover may last, in nanoseconds.
  private static let timeout: Int64 = 60_000_000_000

  /// A frame to each; throws unless all were taken.
  private func send(_ tokens: [DeviceToken], to node: ServerProcess) throws -> FrameLoad {
    try FrameLoad.run(site, at: node, tokens, count: tokens.count)
  }

  /// Tokens that no device was given.
  private static func token(_ index: Int) -> [UInt8] {
    var token = [UInt8](repeating: 0xa5, count: 24)
    token.append(bigEndian: UInt64(index))
    return token
  }

  // MARK: Loads

  /// What one load found.
  private struct Found {
    var perSecond: Double
    var time: ProcessorTime
    var load: BenchmarkLoad?
  }

  /// Registered tokens of phones that are offline.
  private func makeTokens(_ count: Int, at server: ServerProcess) throws -> [DeviceToken] {
    let fleet = try FleetProcess("offline", of: count, at: server, site: site)
    fleet.stop()
    return fleet.tokens
  }

  private func measureRequests(
    _ tokens: [DeviceToken], _ nodes: [ServerProcess], _ nats: NATSServerProcess?
  ) throws -> Found {
    let load = try H2Load.make(site, nodes[0].address("provider").port, tokens)
    return try measureLoad(nodes, nats) { meter in
      let result = try load.run(requests: plan[Self.requests], meter: meter)
      guard result.succeeded == plan[Self.requests] else {
        throw EmulatorError(
          .failed, "expected \(plan[Self.requests]) answers with 200, got \(result.succeeded)")
      }
      return (result.requestsPerSecond, result.succeeded)
    }
  }

  private func measureFrames(
    _ tokens: [DeviceToken], _ nodes: [ServerProcess], _ nats: NATSServerProcess?
  ) throws -> Found {
    try measureLoad(nodes, nats) { meter in
      let load = try FrameLoad.run(site, at: nodes[0], tokens, count: plan[Self.frames], meter)
      return (load.rate, load.total)
    }
  }

  /// Runs a load, which answers how many pushes a second it had, and how many in all.
  private func measureLoad(
    _ nodes: [ServerProcess], _ nats: NATSServerProcess?,
    _ load: (LoadMeter) throws -> (perSecond: Double, count: Int)
  ) throws -> Found {
    let meter = LoadMeter(server: .processes(nodes.map(\.child.pid)))
    var perSecond = 0.0
    let time = try ProcessorTime.measure(nodes, nats) {
      let result = try load(meter)
      perSecond = result.perSecond
      return result.count
    }
    return Found(perSecond: perSecond, time: time, load: meter.load)
  }

  private func latency(at server: ServerProcess) throws -> (Latencies, BenchmarkLoad?) {
    let meter = LoadMeter(server: .process(server.child))
    let latency = try meter.measure {
      try LatencyLoad.push(site: site, server: server, seconds: latencySeconds)
    }
    return (latency, meter.load)
  }

  // MARK: Rows

  /// The aim is for pushes in each second of processors that the emulator's processes take; another row has NATS too.
  private func add(
    _ name: String, _ found: Found, of reference: Found, aim: BenchmarkAim? = nil,
    into pass: inout BenchmarkPass
  ) {
    pass.add(name, found.perSecond, .perSecond, of: reference.perSecond, load: found.load)
    pass.add(
      "  \(name): a second of processors", found.time.rate(), .perSecond, of: reference.time.rate(), aim: aim)
    guard found.time.ofNATS > 0 else { return }
    pass.add(
      "  \(name): with the NATS server's", found.time.rate(withNATS: true), .perSecond,
      of: reference.time.rate())
  }
}

/// What a load cost the processes that worked for it.
struct ProcessorTime {
  /// Seconds of processors for one push: of the emulator's processes, and of the NATS server's.
  private(set) var ofNodes = 0.0
  private(set) var ofNATS = 0.0

  /// Pushes for each second of processors that the emulator's processes took, or with `nats` these and the NATS server's.
  func rate(withNATS: Bool = false) -> Double {
    1 / max(ofNodes + (withNATS ? ofNATS : 0), .leastNormalMagnitude)
  }

  /// How long what comes after the last answer (the other node reads the log) is waited for, in microseconds.
  private static let settling: UInt32 = 500_000

  /// Runs a load, which answers how many pushes it had.
  static func measure(_ nodes: [ServerProcess], _ nats: NATSServerProcess? = nil, _ load: () throws -> Int)
    rethrows
    -> ProcessorTime
  {
    let before = (spent(nodes.map(\.child)), spent([nats?.child].compactMap { $0 }))
    let pushes = Double(max(1, try load()))
    WorkerThread.sleep(microseconds: settling)
    let after = (spent(nodes.map(\.child)), spent([nats?.child].compactMap { $0 }))
    return ProcessorTime(
      ofNodes: Double(after.0 - before.0) / 1e9 / pushes,
      ofNATS: Double(after.1 - before.1) / 1e9 / pushes)
  }

  private static func spent(_ processes: [ChildProcess]) -> Int64 {
    Worker.processes(processes.map(\.pid)).spent()?.total ?? 0
  }
}
