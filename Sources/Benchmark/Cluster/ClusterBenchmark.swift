import Emulator
import Platform
import PushModel

/// `bench cluster`: two nodes and a NATS server beside a single node without one (`Documentation/speed.md`).
public struct ClusterBenchmark: RepeatedBenchmark {
  /// How much to do.
  public struct Options: BenchmarkOptions {
    /// Requests over HTTP/2, and frames to the gateway, in each load.
    public var requests = 300_000
    public var frames = 2_000_000
    /// How long latency is measured, in seconds.
    public var latencySeconds = 10
    /// Phones on each node that get one push each; 0 leaves it out.
    public var phones = 9500
    /// Messages that are kept in the zone that is taken over; 0 leaves it out.
    public var kept = 100_000

    public init() {}

    public static var quick: Options {
      var options = Options()
      (options.requests, options.frames, options.latencySeconds) = (50_000, 200_000, 2)
      (options.phones, options.kept) = (500, 5000)
      return options
    }
  }

  public static let name = "cluster"
  /// Tokens that get the pushes of a load, in turn.
  private static let tokens = 400

  let options: Options
  let site: BenchmarkSite

  public init(_ options: Options) throws {
    self.options = options
    site = try BenchmarkSite()
  }

  public func prepare(_ progress: (String) -> Void) {}

  public func measure(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws {
    let single = try measureSingle(into: &pass, progress)
    try measureNodes(into: &pass, single, progress)
    try measurePhones(into: &pass, progress)
    try measureFailover(into: &pass, progress)
  }

  // MARK: The reference

  /// What a single node without a NATS server does.
  private struct Single {
    var provider: Found
    var gateway: Found
    var latency: Latencies
  }

  private func measureSingle(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws -> Single {
    progress("a single node")
    let server = try ServerProcess(site: site, data: "\(site.folder)/single-\(pass.run)")
    defer { server.stop() }
    let tokens = try makeTokens(Self.tokens, at: server)
    let provider = try push(tokens, [server], nil)
    add("HTTP/2, a single node (reference)", provider, of: provider, into: &pass)
    let gateway = try send(tokens, [server], nil)
    add("gateway, a single node (reference)", gateway, of: gateway, into: &pass)
    let (latency, load) = try latency(at: server)
    pass.add(
      "push at \(LatencyLoad.rate)/s, a single node (reference)", latency, of: latency, load: load)
    return Single(provider: provider, gateway: gateway, latency: latency)
  }

  // MARK: Two nodes

  private func measureNodes(
    into pass: inout BenchmarkPass, _ single: Single, _ progress: (String) -> Void
  ) throws {
    progress("two nodes")
    let cluster = try ClusterProcesses("speed-\(pass.run)", site: site)
    defer { cluster.stop() }
    // Twice as many and some, so that either node has enough of them.
    let all = try makeTokens(Self.tokens * 3, at: cluster.nodes[0])
    let local = Array(all.filter { cluster.leader(of: $0) == 0 }.prefix(Self.tokens))
    let remote = all.filter { cluster.leader(of: $0) == 1 }.prefix(Self.tokens / 2)
    let half = zip(local, remote).flatMap { [$0, $1] }
    for (name, tokens, aim) in [("local zones", local, 0.8), ("half remote", half, 0.55)] {
      progress("HTTP/2, \(name)")
      let provider = try push(tokens, cluster.nodes, cluster.nats)
      add("HTTP/2, \(name)", provider, of: single.provider, aim: .atLeast(aim), into: &pass)
      progress("gateway, \(name)")
      let gateway = try send(tokens, cluster.nodes, cluster.nats)
      add("gateway, \(name)", gateway, of: single.gateway, aim: .atLeast(aim), into: &pass)
    }
    try measureLatency(into: &pass, cluster, single.latency, progress)
  }

  /// The device's zone is at the node that it and the provider are connected to, and at the other one.
  private func measureLatency(
    into pass: inout BenchmarkPass, _ cluster: ClusterProcesses, _ single: Latencies,
    _ progress: (String) -> Void
  ) throws {
    guard let device = UDID(BenchmarkSite.deviceName) else { return }
    let zone = cluster.leader(of: device)
    for (name, node) in [("local zone", zone), ("provider and device at the other node", 1 - zone)] {
      progress("latency, \(name)")
      let (latency, load) = try latency(at: cluster.nodes[node])
      pass.add("push at \(LatencyLoad.rate)/s, \(name)", latency, of: single, load: load, aim: .atMost(3))
    }
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
    let fleet = try FleetProcess("away", of: count, at: server, site: site)
    fleet.stop()
    return fleet.tokens
  }

  private func push(
    _ tokens: [DeviceToken], _ nodes: [ServerProcess], _ nats: NATSServerProcess?
  ) throws -> Found {
    let load = try H2Load.make(site, nodes[0].address("provider").port, tokens)
    return try measure(nodes, nats) { meter in
      let result = try load.run(requests: options.requests, meter: meter)
      guard result.succeeded == options.requests else {
        throw EmulatorError(
          .failed, "\(options.requests) requests were to be answered with 200, \(result.succeeded) were")
      }
      return (result.requestsPerSecond, result.succeeded)
    }
  }

  private func send(
    _ tokens: [DeviceToken], _ nodes: [ServerProcess], _ nats: NATSServerProcess?
  ) throws -> Found {
    try measure(nodes, nats) { meter in
      let load = try FrameLoad.run(
        site, to: nodes[0].address("gateway"), tokens: tokens, count: options.frames, meter: meter)
      return (load.rate, load.total)
    }
  }

  /// Runs a load, which answers how many pushes a second it had, and how many in all.
  private func measure(
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
      try LatencyLoad.push(site: site, server: server, seconds: options.latencySeconds)
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
