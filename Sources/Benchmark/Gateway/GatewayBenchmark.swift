import Basics
import Emulator
import Platform

/// `bench gateway`: how many binary frames a second are taken and stored, or delivered, beside a TLS sink that only
/// reads the same bytes (`Documentation/speed.md`).
package struct GatewayBenchmark: RepeatedBenchmark {
  package static let name = "gateway"
  package static let amounts = [offlineFrames, onlineFrames, manyTokens, idleConnections]

  private static let offlineFrames = BenchmarkAmount(
    "frames", 20_000_000, quick: 3_000_000, "frames to offline devices and to the sink")
  private static let onlineFrames = BenchmarkAmount(
    "online-frames", 4_000_000, quick: 600_000, "frames to online devices; 0 leaves it out")
  private static let manyTokens = BenchmarkAmount(
    "many-tokens", 1_000_000, quick: 100_000,
    "registered tokens in the load among many; 0 leaves it out")
  /// For the memory figure; a quarter of them come before it is begun.
  private static let idleConnections = BenchmarkAmount(
    "idle", 4000, quick: 400, "idle device connections; 0 leaves it out")

  private let plan: BenchmarkPlan
  private let site: BenchmarkSite
  private let few: TokenStore
  private let many: TokenStore?

  package init(_ plan: BenchmarkPlan, _ progress: (String) -> Void) throws {
    self.plan = plan
    site = try BenchmarkSite()
    few = try site.makeStore(registered: BenchmarkSite.tokens, progress)
    let count = plan[Self.manyTokens]
    many = count > 0 ? try site.makeStore(registered: count, progress) : nil
  }

  package func measure(into pass: inout BenchmarkPass) throws {
    pass.progress("TLS sink")
    let sink = try measureSink(into: &pass)
    try measureOffline(into: &pass, sink)
    try measureOnline(into: &pass, sink)
    try measureIdle(into: &pass)
  }

  // MARK: The reference

  private func measureSink(into pass: inout BenchmarkPass) throws -> Double {
    let sink = try OneShotServer.start(
      certificate: site.certs.server.certificate, key: site.certs.server.key, echoes: false
    ) {
      var policy = EmulatorListeners.gatewayTransport
      policy.chainCheck = { _, _ in nil }
      return policy
    }
    let meter = LoadMeter(server: .otherThreads, generator: .mainThread)
    let load = try FrameLoad.run(
      site, to: SocketAddress(host: "127.0.0.1", port: sink.port), few.tokens,
      count: plan[Self.offlineFrames], meter, isAnswered: false)
    sink.thread.join()
    pass.add("TLS sink (reference)", load.rate, .perSecond, of: load.rate, load: meter.load)
    return load.rate
  }

  // MARK: Offline

  private func measureOffline(into pass: inout BenchmarkPass, _ sink: Double) throws {
    pass.progress("offline")
    let first = try offline(few)
    pass.add(
      "offline, \(Self.tokens(few))", first.load.rate, .perSecond, of: sink, load: first.load.meter.load,
      aim: .atLeast(0.6))
    pass.add("start to ready", Double(first.startTime) / 1_000_000, .milliseconds, aim: .atMost(30))
    guard let many else { return }
    pass.progress("offline among \(many.registered) registered tokens")
    let second = try offline(many)
    pass.add(
      "offline, among \(Self.tokens(many))", second.load.rate, .perSecond, of: sink,
      load: second.load.meter.load)
    pass.add(
      "  cost of a push, of that among \(NumberText.grouped(few.registered))", 1e9 / second.load.rate,
      .nanoseconds, of: 1e9 / first.load.rate, aim: .atMost(1.1))
  }

  /// Frames a second that a new server takes for tokens of a store, and the time in nanoseconds that it took to start.
  private func offline(_ store: TokenStore) throws -> (load: FrameLoad, startTime: Int64) {
    let server = try ServerProcess(site: site, data: store.data)
    defer { server.stop() }
    return (
      try FrameLoad.run(site, at: server, store.tokens, count: plan[Self.offlineFrames]), server.startTime
    )
  }

  private static func tokens(_ store: TokenStore) -> String {
    "\(NumberText.grouped(store.registered)) tokens"
  }

  // MARK: Online

  private func measureOnline(into pass: inout BenchmarkPass, _ sink: Double) throws {
    guard plan[Self.onlineFrames] > 0 else { return }
    pass.progress("connecting \(BenchmarkSite.connections) devices")
    let server = try ServerProcess(site: site, data: few.data)
    defer { server.stop() }
    pass.progress("online")
    let delivery = try Delivery.measure(site, server, few.tokens, frames: plan[Self.onlineFrames])
    pass.add(
      "delivered, \(BenchmarkSite.connections) connections", delivery.rate, .perSecond, of: sink,
      load: delivery.load, aim: .atLeast(0.25))
    pass.add("  sent but not delivered", Double(delivery.lost), .count, aim: .atMost(0))
  }

  // MARK: Memory

  /// The memory of what comes after the first quarter, so that what a server has once is not in it.
  private func measureIdle(into pass: inout BenchmarkPass) throws {
    let (early, all) = (plan[Self.idleConnections] / 4, plan[Self.idleConnections])
    guard early > 0 else { return }
    pass.progress("\(all) idle devices")
    SocketCalls.raiseOpenFileLimit()
    let server = try ServerProcess(site: site, data: few.data, extra: ["--ephemeral"])
    defer { server.stop() }
    let first = try DeviceFleet(site.plan(server, connections: early, identities: 1))
    defer { first.stop() }
    let before = server.residentBytes
    let second = try DeviceFleet(site.plan(server, connections: all - early, identities: 1, from: early))
    defer { second.stop() }
    let each = Double(server.residentBytes - before) / Double(all - early) / 1024
    pass.add(
      "memory of an idle device, \(NumberText.grouped(early)) to \(NumberText.grouped(all))", each,
      .kibibytes,
      aim: .atMost(10))
  }
}
