import Emulator
import Platform
import PushModel

/// `bench gateway`: how many binary frames a second are taken and stored, or delivered, beside a TLS sink that only
/// reads the same bytes (`Documentation/speed.md`).
public struct GatewayBenchmark: RepeatedBenchmark {
  /// How much to do.
  public struct Options: BenchmarkOptions {
    /// Frames to offline tokens, and to the sink.
    public var offlineFrames = 20_000_000
    /// Frames to online tokens; 0 leaves it out.
    public var onlineFrames = 4_000_000
    /// Registered tokens in the second offline load; 0 leaves it out.
    public var manyTokens = 1_000_000
    /// Idle courier connections for the memory figure, a quarter of which come before it is begun; 0 leaves it out.
    public var idleConnections = 4000

    public init() {}

    public static var quick: Options {
      var options = Options()
      (options.offlineFrames, options.onlineFrames) = (3_000_000, 600_000)
      (options.manyTokens, options.idleConnections) = (100_000, 400)
      return options
    }
  }

  public static let name = "gateway"

  private let options: Options
  private let site: BenchmarkSite
  private var few = TokenStore()
  private var many: TokenStore?

  public init(_ options: Options) throws {
    self.options = options
    site = try BenchmarkSite()
  }

  public mutating func prepare(_ progress: (String) -> Void) throws {
    few = try site.makeStore(registered: BenchmarkSite.tokens, progress)
    if options.manyTokens > 0 { many = try site.makeStore(registered: options.manyTokens, progress) }
  }

  public func measure(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws {
    progress("TLS sink")
    let sink = try measureSink(into: &pass)
    try measureOffline(into: &pass, sink, progress)
    try measureOnline(into: &pass, sink, progress)
    try measureIdle(into: &pass, progress)
  }

  // MARK: The reference

  private func measureSink(into pass: inout BenchmarkPass) throws -> Double {
    let sink = try TLSSink.start(
      certificate: site.certs.serverCertificate, key: site.certs.serverKey,
      policy: {
        var policy = EmulatorListeners.gatewayTransport
        policy.chainCheck = { _, _ in nil }
        return policy
      })
    let meter = LoadMeter(server: .otherThreads, generator: .mainThread)
    let load = try FrameLoad.run(
      site, to: SocketAddress(host: "127.0.0.1", port: sink.port), tokens: few.tokens,
      count: options.offlineFrames, meter: meter, isAnswered: false)
    sink.thread.join()
    pass.add("TLS sink (reference)", load.rate, .perSecond, of: load.rate, load: meter.load)
    return load.rate
  }

  // MARK: Offline

  private func measureOffline(
    into pass: inout BenchmarkPass, _ sink: Double, _ progress: (String) -> Void
  ) throws {
    progress("offline")
    let first = try offline(few)
    pass.add(
      "offline, \(Self.tokens(few))", first.rate, .perSecond, of: sink, load: first.load, aim: .atLeast(0.6))
    pass.add("start to ready", Double(first.startTime) / 1_000_000, .milliseconds, aim: .atMost(30))
    guard let many else { return }
    progress("offline among \(many.registered) registered tokens")
    let second = try offline(many)
    pass.add(
      "offline, among \(Self.tokens(many))", second.rate, .perSecond, of: sink, load: second.load)
    pass.add(
      "  cost of a push, of that among \(NumberText.grouped(few.registered))", 1e9 / second.rate,
      .nanoseconds, of: 1e9 / first.rate, aim: .atMost(1.1))
  }

  /// Frames a second that a new server takes for tokens of a store, and the time in nanoseconds that it took to start.
  private func offline(
    _ store: TokenStore
  ) throws -> (rate: Double, load: BenchmarkLoad?, startTime: Int64) {
    let server = try ServerProcess(site: site, data: store.data)
    defer { server.stop() }
    let meter = LoadMeter(server: .process(server.child))
    let load = try FrameLoad.run(
      site, to: server.address("gateway"), tokens: store.tokens, count: options.offlineFrames, meter: meter)
    return (load.rate, meter.load, server.startTime)
  }

  private static func tokens(_ store: TokenStore) -> String {
    "\(NumberText.grouped(store.registered)) tokens"
  }

  // MARK: Online

  private func measureOnline(
    into pass: inout BenchmarkPass, _ sink: Double, _ progress: (String) -> Void
  ) throws {
    guard options.onlineFrames > 0 else { return }
    progress("connecting \(BenchmarkSite.connections) devices")
    let server = try ServerProcess(site: site, data: few.data)
    defer { server.stop() }
    progress("online")
    let delivery = try Delivery.measure(site, server, few.tokens, frames: options.onlineFrames)
    pass.add(
      "delivered, \(BenchmarkSite.connections) connections", delivery.rate, .perSecond, of: sink,
      load: delivery.load, aim: .atLeast(0.25))
    pass.add("  sent but not delivered", Double(delivery.lost), .count, aim: .atMost(0))
  }

  // MARK: Memory

  /// The memory of what comes after the first quarter, so that what a server has once is not in it.
  private func measureIdle(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws {
    let (early, all) = (options.idleConnections / 4, options.idleConnections)
    guard early > 0 else { return }
    progress("\(all) idle devices")
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
