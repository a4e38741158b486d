import Credentials
import Emulator
import Platform
import PushModel
import Transport

/// `bench provider`: requests a second over HTTP/2 with provider tokens, everything verified, beside `nghttpd` that gets
/// the same requests and checks nothing (`Documentation/speed.md`).
public struct ProviderBenchmark {
  /// How much to do.
  public struct Options: Sendable {
    public var requests = 1_000_000
    public var tokens = 1000
    public var connections = 100
    /// Pushes a second in the latency measurement, and for how many seconds.
    public var latencyRate = 5000
    public var latencySeconds = 10
    /// Full TLS handshakes to count.
    public var handshakes = 2000
    /// How long memory is watched under load, in seconds; 0 leaves it out.
    public var soakSeconds = 60

    public init() {}
  }

  let options: Options
  let site: BenchmarkSite
  private let topicHash: TopicHash
  private let bearer: String
  private var table = BenchmarkTable()
  static let payload = Array(#"{"aps":{"alert":"A benchmark's message has this many characters"}}"#.utf8)

  public init(_ options: Options) throws {
    self.options = options
    site = try BenchmarkSite()
    topicHash = try IdentityDerivation(secret: TokenSecret(seed: BenchmarkSite.seed)).topicHash(site.topic)
    bearer = try site.makeBearer()
  }

  /// Runs all of it and answers the table. `progress` hears what is being done.
  public mutating func run(progress: (String) -> Void) throws -> String {
    progress("filling a store with \(options.tokens) tokens")
    let store = try site.makeStore(registered: options.tokens, sample: options.tokens)
    try site.write("body", Self.payload)
    progress("nghttpd")
    let reference = try referenceRate(store.tokens)
    add("nghttpd, one thread (reference)", reference.requestsPerSecond, of: reference.requestsPerSecond)
    let server = try ServerProcess(site: site, data: store.data)
    defer { server.stop() }
    progress("offline")
    try checked("offline and stored, all checks", server, store.tokens, reference, aim: "≥ 1.00")
    try handshakes(server, progress)
    try soak(server, store.tokens, progress)
    let fleet = try DeviceFleet(plan(server))
    defer { fleet.stop() }
    progress("online")
    fleet.awaitMessages(options.tokens, patience: 2000)
    let before = fleet.received
    let sent = try checked(
      "delivered to \(options.connections) connections", server, store.tokens, reference, aim: "≥ 0.60")
    fleet.awaitMessages(before + sent, patience: 2000)
    table.add(
      "  accepted but not delivered", BenchmarkTable.grouped(before + sent - fleet.received), aim: "0")
    try latency(server, progress)
    return table.text
  }

  private mutating func add(_ name: String, _ rate: Double, of reference: Double, aim: String = "") {
    table.add(name, BenchmarkTable.grouped(Int(rate)) + "/s", ratio: rate / reference, aim: aim)
  }

  // MARK: Throughput

  private func referenceRate(_ tokens: [DeviceToken]) throws -> H2Load.Result {
    let port = try ReferenceServer.freePort()
    let server = try ReferenceServer.nghttpd(site: site, port: port)
    defer { server.stop() }
    return try load(port, tokens).run(requests: options.requests)
  }

  @discardableResult
  private mutating func checked(
    _ name: String, _ server: ServerProcess, _ tokens: [DeviceToken], _ reference: H2Load.Result, aim: String
  ) throws -> Int {
    let result = try load(server.address("provider").port, tokens).run(requests: options.requests)
    add(name, result.requestsPerSecond, of: reference.requestsPerSecond, aim: aim)
    if result.succeeded != options.requests {
      table.add(
        "  requests without a 200", BenchmarkTable.grouped(options.requests - result.succeeded), aim: "0")
    }
    return result.succeeded
  }

  private func load(_ port: UInt16, _ tokens: [DeviceToken]) throws -> H2Load {
    try H2Load.make(site, port, tokens, bearer)
  }

  private func plan(_ server: ServerProcess) throws -> DeviceFleet.Plan {
    DeviceFleet.Plan(
      courier: try server.address("courier"), ca: site.certs.caCertificate, certs: site.certs.path,
      connections: options.connections, identitiesPerConnection: options.tokens / options.connections,
      topic: topicHash, wantsMessages: true)
  }

  // MARK: Handshakes, memory, latency

  private mutating func handshakes(_ server: ServerProcess, _ progress: (String) -> Void) throws {
    progress("\(options.handshakes) TLS handshakes")
    let port = try ReferenceServer.freePort()
    let reference = try ReferenceServer.openssl(site: site, port: port)
    defer { reference.stop() }
    let theirs = try HandshakeLoad.rate(
      to: SocketAddress(host: "127.0.0.1", port: port), ca: site.certs.caCertificate,
      count: options.handshakes)
    let ours = try HandshakeLoad.rate(
      to: server.address("provider"), ca: site.certs.caCertificate, count: options.handshakes)
    add("openssl s_server, new connections, RSA (reference)", theirs, of: theirs)
    add("new connections, P-256", ours, of: theirs, aim: "≥ 2.00")
  }

  private mutating func soak(_ server: ServerProcess, _ tokens: [DeviceToken], _ progress: (String) -> Void)
    throws
  {
    guard options.soakSeconds > 0 else { return }
    progress("\(options.soakSeconds) s of load, watching memory")
    let load = try load(server.address("provider").port, tokens)
    _ = try load.run(requests: 0, seconds: max(1, options.soakSeconds / 10))
    let early = server.residentBytes
    _ = try load.run(requests: 0, seconds: options.soakSeconds)
    let late = server.residentBytes
    table.add(
      "memory after \(options.soakSeconds) s of load",
      BenchmarkTable.fixed(Double(late) / 1_048_576, 1) + " MiB",
      ratio: Double(late) / Double(max(1, early)), aim: "flat: ≤ 1.05")
  }

  private mutating func latency(_ server: ServerProcess, _ progress: (String) -> Void) throws {
    progress("latency at \(options.latencyRate) a second")
    let echo = try LatencyLoad.echo(site: site, rate: options.latencyRate, seconds: options.latencySeconds)
    let push = try LatencyLoad.push(
      site: site, provider: server.address("provider"), courier: server.address("courier"), bearer: bearer,
      topicHash: topicHash, rate: options.latencyRate, seconds: options.latencySeconds)
    for (name, latencies) in [
      ("TLS echo, there and back", echo), ("push, provider write to device read", push),
    ] {
      table.add(
        "\(name): p50, p99", "\(latencies.percentile(0.5) / 1000), \(latencies.percentile(0.99) / 1000) µs",
        ratio: Double(latencies.percentile(0.99)) / Double(max(1, echo.percentile(0.99))))
    }
  }
}
