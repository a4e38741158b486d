import Emulator
import Platform
import PushModel

/// `bench provider`: requests a second over HTTP/2 with provider tokens, everything verified, beside `nghttpd` that gets
/// the same requests and checks nothing (`Documentation/speed.md`).
public struct ProviderBenchmark: RepeatedBenchmark {
  /// How much to do.
  public struct Options: BenchmarkOptions {
    public var requests = 1_000_000
    /// How long latency is measured, in seconds.
    public var latencySeconds = 10
    /// Full TLS handshakes to count; 0 leaves them out.
    public var handshakes = 2000
    /// How long memory is watched under load, in seconds; 0 leaves it out.
    public var soakSeconds = 60

    public init() {}

    public static var quick: Options {
      var options = Options()
      (options.requests, options.latencySeconds) = (120_000, 1)
      (options.handshakes, options.soakSeconds) = (300, 1)
      return options
    }
  }

  public static let name = "provider"

  private let options: Options
  private let site: BenchmarkSite
  private var store = TokenStore()

  public init(_ options: Options) throws {
    self.options = options
    site = try BenchmarkSite()
  }

  public mutating func prepare(_ progress: (String) -> Void) throws {
    store = try site.makeStore(registered: BenchmarkSite.tokens, progress)
  }

  public func measure(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws {
    progress("nghttpd")
    let reference = try measureReference(into: &pass)
    let server = try ServerProcess(site: site, data: store.data)
    defer { server.stop() }
    progress("offline")
    try measure("offline and stored, all checks", server, reference, aim: .atLeast(1.25), into: &pass)
    try measureOnline(into: &pass, server, reference, progress)
    try measureHandshakes(into: &pass, server, progress)
    try measureMemory(into: &pass, server, progress)
    try measureLatency(into: &pass, server, progress)
  }

  // MARK: Throughput

  private func measureReference(into pass: inout BenchmarkPass) throws -> Double {
    let port = try ReferenceServer.freePort()
    let server = try ReferenceServer.nghttpd(site: site, port: port)
    defer { server.stop() }
    let meter = LoadMeter(server: .process(server))
    let rate = try H2Load.make(site, port, store.tokens).run(requests: options.requests, meter: meter)
      .requestsPerSecond
    pass.add("nghttpd, one thread (reference)", rate, .perSecond, of: rate, load: meter.load)
    return rate
  }

  /// Answers how many requests were accepted.
  @discardableResult
  private func measure(
    _ name: String, _ server: ServerProcess, _ reference: Double, aim: BenchmarkAim,
    into pass: inout BenchmarkPass
  ) throws -> Int {
    let meter = LoadMeter(server: .process(server.child))
    let result = try load(server).run(requests: options.requests, meter: meter)
    pass.add(name, result.requestsPerSecond, .perSecond, of: reference, load: meter.load, aim: aim)
    pass.add(
      "  \(name): without a 200", Double(options.requests - result.succeeded), .count, aim: .atMost(0))
    return result.succeeded
  }

  private func measureOnline(
    into pass: inout BenchmarkPass, _ server: ServerProcess, _ reference: Double, _ progress: (String) -> Void
  ) throws {
    let fleet = try DeviceFleet(site.plan(server))
    defer { fleet.stop() }
    progress("online")
    fleet.awaitMessages(BenchmarkSite.tokens, timeout: Self.timeout)
    let before = fleet.received
    let sent = try measure(
      "delivered to \(BenchmarkSite.connections) connections", server, reference, aim: .atLeast(0.9),
      into: &pass)
    fleet.awaitMessages(before + sent, timeout: Self.timeout)
    pass.add("  accepted but not delivered", Double(before + sent - fleet.received), .count, aim: .atMost(0))
  }

  /// How long nothing may arrive before the rest counts as lost, in milliseconds.
  private static let timeout: Int32 = 2000

  private func load(_ server: ServerProcess) throws -> H2Load {
    try H2Load.make(site, server.address("provider").port, store.tokens)
  }

  // MARK: Handshakes, memory, latency

  private func measureHandshakes(
    into pass: inout BenchmarkPass, _ server: ServerProcess, _ progress: (String) -> Void
  ) throws {
    guard options.handshakes > 0 else { return }
    progress("\(options.handshakes) TLS handshakes")
    let port = try ReferenceServer.freePort()
    let reference = try ReferenceServer.openssl(site: site, port: port)
    defer { reference.stop() }
    let theirs = try handshakes(to: SocketAddress(host: "127.0.0.1", port: port), reference)
    let ours = try handshakes(to: server.address("provider"), server.child)
    pass.add(
      "openssl s_server, new connections, RSA (reference)", theirs.rate, .perSecond, of: theirs.rate,
      load: theirs.load)
    pass.add(
      "new connections, P-256", ours.rate, .perSecond, of: theirs.rate, load: ours.load, aim: .atLeast(2))
  }

  private func handshakes(
    to address: SocketAddress, _ server: ChildProcess
  ) throws -> (rate: Double, load: BenchmarkLoad?) {
    let meter = LoadMeter(server: .process(server))
    let rate = try meter.measure {
      try HandshakeLoad.rate(to: address, ca: site.certs.caCertificate, count: options.handshakes)
    }
    return (rate, meter.load)
  }

  private func measureMemory(
    into pass: inout BenchmarkPass, _ server: ServerProcess, _ progress: (String) -> Void
  ) throws {
    guard options.soakSeconds > 0 else { return }
    progress("\(options.soakSeconds) s of load, watching memory")
    let load = try load(server)
    _ = try load.run(requests: 0, seconds: max(1, options.soakSeconds / 10))
    let early = server.residentBytes
    let meter = LoadMeter(server: .process(server.child))
    _ = try load.run(requests: 0, seconds: options.soakSeconds, meter: meter)
    pass.add(
      "memory after \(options.soakSeconds) s of load, of that before",
      Double(server.residentBytes) / 1_048_576, .mebibytes, of: Double(max(1, early)) / 1_048_576,
      load: meter.load, aim: .atMost(1.05))
  }

  private func measureLatency(
    into pass: inout BenchmarkPass, _ server: ServerProcess, _ progress: (String) -> Void
  ) throws {
    progress("latency at \(LatencyLoad.rate) a second")
    let echoMeter = LoadMeter(server: .otherThreads, generator: .mainThread)
    let echo = try echoMeter.measure { try LatencyLoad.echo(site: site, seconds: options.latencySeconds) }
    let pushMeter = LoadMeter(server: .process(server.child))
    let push = try pushMeter.measure {
      try LatencyLoad.push(site: site, server: server, seconds: options.latencySeconds)
    }
    pass.add("TLS echo, there and back (reference)", echo, of: echo, load: echoMeter.load)
    pass.add(
      "push, provider write to device read", push, of: echo, load: pushMeter.load, aim: .atMost(2))
  }
}
