import Credentials
import Emulator
import Platform
import PushModel

/// `bench cluster`: two nodes and an engine beside a single node without one (`Documentation/speed.md`).
public struct ClusterBenchmark {
  /// How much to do.
  public struct Options: Sendable {
    /// Requests over HTTP/2, and frames to the gateway, in each run.
    public var requests = 300_000
    public var frames = 2_000_000
    /// Tokens that get them.
    public var tokens = 400
    /// Pushes a second in the latency measurement, and for how many seconds.
    public var latencyRate = 5000
    public var latencySeconds = 10
    /// Phones on each node that get one push each; 0 leaves it out.
    public var phones = 9500
    /// Messages that are kept in the zone that is taken over; 0 leaves it out.
    public var kept = 100_000

    public init() {}
  }

  let options: Options
  let site: BenchmarkSite
  let topicHash: TopicHash
  let bearer: String
  var table = BenchmarkTable()

  public init(_ options: Options) throws {
    self.options = options
    site = try BenchmarkSite()
    topicHash = try IdentityDerivation(secret: TokenSecret(seed: BenchmarkSite.seed)).topicHash(site.topic)
    bearer = try site.makeBearer()
  }

  /// Runs all of it and answers the table. `progress` hears what is being done.
  public mutating func run(progress: (String) -> Void) throws -> String {
    try site.write("body", GatewayBenchmark.payload)
    let single = try measureSingle(progress)
    try measureNodes(single, progress)
    try measurePhones(progress)
    try measureTakeover(progress)
    return table.text
  }

  // MARK: The reference

  /// What a single node without an engine does.
  private struct Single {
    var provider: ProcessorTime
    var gateway: ProcessorTime
    var latency: Latencies
  }

  private mutating func measureSingle(_ progress: (String) -> Void) throws -> Single {
    progress("a single node")
    let server = try ServerProcess(site: site, data: "\(site.folder)/single")
    defer { server.stop() }
    let tokens = try makeTokens(options.tokens, at: server)
    let provider = try push(tokens, [server], nil, "HTTP/2, a single node without engine (reference)", nil)
    let gateway = try send(tokens, [server], nil, "gateway, a single node without engine (reference)", nil)
    let latency = try latency(provider: server, courier: server)
    addLatency("push at \(options.latencyRate)/s, a single node (reference)", latency, latency)
    return Single(provider: provider, gateway: gateway, latency: latency)
  }

  // MARK: Two nodes

  private mutating func measureNodes(_ single: Single, _ progress: (String) -> Void) throws {
    progress("two nodes")
    let cluster = try ClusterProcesses("speed", site: site)
    defer { cluster.stop() }
    // Twice as many and some, so that either node has enough of them.
    let all = try makeTokens(options.tokens * 3, at: cluster.nodes[0])
    let local = Array(all.filter { cluster.owner(of: $0) == 0 }.prefix(options.tokens))
    let remote = all.filter { cluster.owner(of: $0) == 1 }.prefix(options.tokens / 2)
    let half = zip(local, remote).flatMap { [$0, $1] }
    for (name, tokens, aim) in [("local zones", local, "≥ 0.80"), ("half remote", half, "≥ 0.55")] {
      progress("HTTP/2, \(name)")
      try push(tokens, cluster.nodes, cluster.engine, "HTTP/2, \(name)", single.provider, aim: aim)
      progress("gateway, \(name)")
      try send(tokens, cluster.nodes, cluster.engine, "gateway, \(name)", single.gateway, aim: aim)
    }
    try measureLatency(cluster, single.latency, progress)
  }

  /// The device's zone is at the node that it and the provider are connected to, and at the other one.
  private mutating func measureLatency(
    _ cluster: ClusterProcesses, _ single: Latencies, _ progress: (String) -> Void
  ) throws {
    guard let device = UDID(BenchmarkSite.deviceName) else { return }
    let zone = cluster.owner(of: device)
    for (name, node) in [("local zone", zone), ("provider and device at the other node", 1 - zone)] {
      progress("latency, \(name)")
      let latency = try latency(provider: cluster.nodes[node], courier: cluster.nodes[node])
      addLatency("push at \(options.latencyRate)/s, \(name)", latency, single, aim: "≤ 3.00")
    }
  }

  // MARK: Loads

  /// Registered tokens of phones that are away.
  private func makeTokens(_ count: Int, at server: ServerProcess) throws -> [DeviceToken] {
    let fleet = try FleetProcess("away", of: count, at: server, site: site)
    fleet.stop()
    return fleet.tokens
  }

  @discardableResult
  private mutating func push(
    _ tokens: [DeviceToken], _ nodes: [ServerProcess], _ engine: EngineProcess?, _ name: String,
    _ reference: ProcessorTime?, aim: String = ""
  ) throws -> ProcessorTime {
    let load = try H2Load.make(site, nodes[0].address("provider").port, tokens, bearer)
    var rate = 0.0
    let time = try ProcessorTime.measure(nodes, engine) {
      let result = try load.run(requests: options.requests)
      guard result.succeeded == options.requests else {
        throw EmulatorError(
          .failed, "\(options.requests) requests were to be answered with 200, \(result.succeeded) were")
      }
      rate = result.requestsPerSecond
      return result.succeeded
    }
    add(name, rate, time, reference, aim: aim)
    return time
  }

  @discardableResult
  mutating func send(
    _ tokens: [DeviceToken], _ nodes: [ServerProcess], _ engine: EngineProcess?, _ name: String,
    _ reference: ProcessorTime?, aim: String = ""
  ) throws -> ProcessorTime {
    var rate = 0.0
    let time = try ProcessorTime.measure(nodes, engine) {
      let load = try FrameLoad.run(
        site, to: nodes[0].address("gateway"), tokens: tokens, payload: GatewayBenchmark.payload,
        count: options.frames, ending: GatewayBenchmark.ending)
      rate = load.rate
      return load.total
    }
    add(name, rate, time, reference, aim: aim)
    return time
  }

  private func latency(provider: ServerProcess, courier: ServerProcess) throws -> Latencies {
    try LatencyLoad.push(
      site: site, provider: provider.address("provider"), courier: courier.address("courier"), bearer: bearer,
      topicHash: topicHash, rate: options.latencyRate, seconds: options.latencySeconds)
  }

  // MARK: Rows

  /// The ratio is of pushes for each second of processors that the emulator's processes take; another line has the engine too.
  private mutating func add(
    _ name: String, _ rate: Double, _ time: ProcessorTime, _ reference: ProcessorTime?, aim: String
  ) {
    let value = "\(BenchmarkTable.grouped(Int(rate)))/s, \(BenchmarkTable.fixed(time.ofNodes, 2)) µs"
    table.add(name, value, ratio: (reference ?? time).ofNodes / time.ofNodes, aim: aim)
    guard let reference else { return }
    table.add(
      "  with the engine's", "\(BenchmarkTable.fixed(time.ofNodes + time.ofEngine, 2)) µs",
      ratio: reference.ofNodes / (time.ofNodes + time.ofEngine))
  }

  private mutating func addLatency(
    _ name: String, _ latency: Latencies, _ reference: Latencies, aim: String = ""
  ) {
    table.add(
      "\(name): p50, p99", "\(latency.percentile(0.5) / 1000), \(latency.percentile(0.99) / 1000) µs",
      ratio: Double(latency.percentile(0.99)) / Double(max(1, reference.percentile(0.99))), aim: aim)
  }
}
