import Basics
import Emulator
import Platform

/// `bench provider`: requests a second over HTTP/2 with provider tokens, everything verified, beside `nghttpd` that gets
/// the same requests and checks nothing (`Documentation/speed.md`).
package struct ProviderBenchmark: RepeatedBenchmark {
  package static let name = "provider"
  package static let amounts = [requests, handshakes, soakSeconds]

  private static let requests = BenchmarkAmount(
    "requests", 1_000_000, quick: 120_000, "requests in each load")
  private static let handshakes = BenchmarkAmount(
    "handshakes", 2000, quick: 300, "TLS handshakes; 0 leaves them out")
  private static let soakSeconds = BenchmarkAmount(
    "soak", 60, quick: 1, "seconds of load while memory is watched; 0 leaves it out")

  private let plan: BenchmarkPlan
  /// How long latency is measured.
  private var latencySeconds: Int { plan.isQuick ? 1 : 10 }
  private let site: BenchmarkSite
  private let store: TokenStore

  package init(_ plan: BenchmarkPlan, _ progress: (String) -> Void) throws {
    self.plan = plan
    site = try BenchmarkSite()
    store = try site.makeStore(registered: BenchmarkSite.tokens, progress)
  }

  package func measure(into pass: inout BenchmarkPass) throws {
    pass.progress("nghttpd")
    let reference = try measureReference(into: &pass)
    let server = try ServerProcess(site: site, data: store.data)
    defer { server.stop() }
    pass.progress("offline")
    try measureRequests("offline and stored, all checks", server, reference, aim: .atLeast(1.25), into: &pass)
    try measureOnline(into: &pass, server, reference)
    try measureHandshakes(into: &pass, server)
    try measureMemory(into: &pass, server)
    try measureLatency(into: &pass, server)
  }

  // MARK: Throughput

  private func measureReference(into pass: inout BenchmarkPass) throws -> Double {
    let port = try ReferenceServer.freePort()
    let server = try ReferenceServer.nghttpd(site: site, port: port)
    defer { server.stop() }
    let meter = LoadMeter(server: .process(server))
    let rate = try H2Load.make(site, port, store.tokens).run(requests: plan[Self.requests], meter: meter)
      .requestsPerSecond
    pass.add("nghttpd, one thread (reference)", rate, .perSecond, of: rate, load: meter.load)
    return rate
  }

  /// Answers how many requests were accepted.
  @discardableResult
  private func measureRequests(
    _ name: String, _ server: ServerProcess, _ reference: Double, aim: BenchmarkAim,
    into pass: inout BenchmarkPass
  ) throws -> Int {
    let meter = LoadMeter(server: .process(server.child))
    let result = try load(server).run(requests: plan[Self.requests], meter: meter)
    pass.add(name, result.requestsPerSecond, .perSecond, of: reference, load: meter.load, aim: aim)
    pass.add(
      "  \(name): without a 200", Double(plan[Self.requests] - result.succeeded), .count, aim: .atMost(0))
    return result.succeeded
  }

  private func measureOnline(
    into pass: inout BenchmarkPass, _ server: ServerProcess, _ reference: Double
  ) throws {
    let fleet = try DeviceFleet(site.plan(server))
    defer { fleet.stop() }
    pass.progress("online")
    fleet.awaitMessages(BenchmarkSite.tokens, timeout: Self.timeout)
    let before = fleet.received
    let sent = try measureRequests(
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

  private func measureHandshakes(into pass: inout BenchmarkPass, _ server: ServerProcess) throws {
    guard plan[Self.handshakes] > 0 else { return }
    pass.progress("\(plan[Self.handshakes]) TLS handshakes")
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
      try HandshakeLoad.rate(to: address, ca: site.certs.ca.certificate, count: plan[Self.handshakes])
    }
    return (rate, meter.load)
  }

  private func measureMemory(into pass: inout BenchmarkPass, _ server: ServerProcess) throws {
    guard plan[Self.soakSeconds] > 0 else { return }
    pass.progress("\(plan[Self.soakSeconds]) s of load, watching memory")
    let load = try load(server)
    _ = try load.run(requests: 0, seconds: max(1, plan[Self.soakSeconds] / 10))
    let early = server.residentBytes
    let meter = LoadMeter(server: .process(server.child))
    _ = try load.run(requests: 0, seconds: plan[Self.soakSeconds], meter: meter)
    pass.add(
      "memory after \(plan[Self.soakSeconds]) s of load, of that before",
      Double(server.residentBytes) / 1_048_576, .mebibytes, of: Double(max(1, early)) / 1_048_576,
      load: meter.load, aim: .atMost(1.05))
  }

  private func measureLatency(into pass: inout BenchmarkPass, _ server: ServerProcess) throws {
    pass.progress("latency at \(LatencyLoad.rate) a second")
    let echoMeter = LoadMeter(server: .otherThreads, generator: .mainThread)
    let echo = try echoMeter.measure { try LatencyLoad.echo(site: site, seconds: latencySeconds) }
    let pushMeter = LoadMeter(server: .process(server.child))
    let push = try pushMeter.measure {
      try LatencyLoad.push(site: site, server: server, seconds: latencySeconds)
    }
    pass.add("TLS echo, there and back (reference)", echo, of: echo, load: echoMeter.load)
    pass.add(
      "push, provider write to device read", push, of: echo, load: pushMeter.load, aim: .atMost(2))
  }
}
