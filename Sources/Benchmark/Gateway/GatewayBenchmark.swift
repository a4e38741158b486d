import Credentials
import Emulator
import LegacyWire
import Platform
import PushModel
import Transport

/// `bench gateway`: how many binary frames a second are taken and stored, or delivered, beside a TLS sink that only
/// reads the same bytes (`Documentation/speed.md`).
public struct GatewayBenchmark {
  /// How much to do.
  public struct Options: Sendable {
    /// Frames to offline tokens, and to the sink.
    public var offlineFrames = 20_000_000
    /// Frames to online tokens.
    public var onlineFrames = 4_000_000
    public var tokens = 1000
    public var connections = 100
    /// Registered tokens in the second offline run.
    public var manyTokens = 1_000_000
    /// Idle courier connections for the memory figure.
    public var idleConnections = 10_000

    public init() {}
  }

  private let options: Options
  let site: BenchmarkSite
  private let topicHash: TopicHash
  private var table = BenchmarkTable()
  /// 66 bytes, so that a frame with all five items has about 140.
  static let payload = Array(
    #"{"aps":{"alert":"A benchmark's message has this many characters"}}"#.utf8)

  public init(_ options: Options) throws {
    self.options = options
    site = try BenchmarkSite()
    topicHash = try IdentityDerivation(secret: TokenSecret(seed: BenchmarkSite.seed)).topicHash(site.topic)
  }

  /// Runs all of it and answers the table. `progress` hears what is being done.
  public mutating func run(progress: (String) -> Void) throws -> String {
    progress("filling a store with \(options.tokens) tokens")
    let few = try site.makeStore(registered: options.tokens, sample: options.tokens)
    progress("TLS sink")
    let sink = try sinkRate(few.tokens)
    addRate("TLS sink (reference)", sink, of: sink)
    progress("offline")
    let offline = try offlineRate(data: few.data, few.tokens)
    addRate("offline, \(options.tokens) tokens", offline, of: sink, aim: "≥ 0.40")
    try online(few.data, few.tokens, sink, progress)
    try many(sink, offline, progress)
    try idle(few.data, progress)
    return table.text
  }

  private mutating func addRate(_ name: String, _ rate: Double, of sink: Double, aim: String = "") {
    table.add(name, BenchmarkTable.grouped(Int(rate)) + "/s", ratio: rate / sink, aim: aim)
  }

  // MARK: The reference

  private func sinkRate(_ tokens: [DeviceToken]) throws -> Double {
    let sink = try TLSSink.start(
      certificate: site.certs.serverCertificate, key: site.certs.serverKey,
      policy: {
        var policy = EmulatorListeners.gatewayTransport
        policy.chainCheck = { _, _ in nil }
        return policy
      })
    let load = try send(
      to: SocketAddress(host: "127.0.0.1", port: sink.port), tokens, options.offlineFrames, ending: [])
    sink.thread.join()
    return rate(load)
  }

  // MARK: Offline

  private func offlineRate(data: String, _ tokens: [DeviceToken]) throws -> Double {
    let server = try ServerProcess(site: site, data: data)
    defer { server.stop() }
    return rate(try send(to: server.address("gateway"), tokens, options.offlineFrames, ending: Self.ending))
  }

  private mutating func many(_ sink: Double, _ few: Double, _ progress: (String) -> Void) throws {
    guard options.manyTokens > 0 else { return }
    progress("filling a store with \(options.manyTokens) tokens")
    let store = try site.makeStore(registered: options.manyTokens, sample: options.tokens)
    progress("offline among \(options.manyTokens) registered tokens")
    let rate = try offlineRate(data: store.data, store.tokens)
    addRate("offline, among \(BenchmarkTable.grouped(options.manyTokens)) tokens", rate, of: sink)
    table.add(
      "cost of a frame, many tokens to few", BenchmarkTable.fixed(few / rate, 2) + " ×", aim: "≤ 1.20 ×")
  }

  // MARK: Online

  private mutating func online(
    _ data: String, _ tokens: [DeviceToken], _ sink: Double, _ progress: (String) -> Void
  ) throws {
    progress("connecting \(options.connections) devices")
    let server = try ServerProcess(site: site, data: data)
    defer { server.stop() }
    table.add("start to ready", "\(server.startTime / 1_000_000) ms", aim: "≤ 150 ms")
    let fleet = try DeviceFleet(
      plan(server, options.connections, identities: options.tokens / options.connections))
    defer { fleet.stop() }
    progress("online")
    let delivery = try deliver(server, fleet, tokens, options.onlineFrames)
    addRate(
      "delivered, \(options.connections) connections",
      Double(delivery.count) * 1e9 / Double(delivery.nanoseconds),
      of: sink, aim: "≥ 0.15")
    table.add("  sent but not delivered", BenchmarkTable.grouped(delivery.sent - delivery.count), aim: "0")
  }

  /// Messages a second that reach the devices of as many connections.
  func deliveredRate(
    _ server: ServerProcess, _ tokens: [DeviceToken], connections: Int, frames: Int
  ) throws -> Double {
    let fleet = try DeviceFleet(plan(server, connections, identities: tokens.count / connections))
    defer { fleet.stop() }
    let delivery = try deliver(server, fleet, tokens, frames)
    return Double(delivery.count) * 1e9 / Double(delivery.nanoseconds)
  }

  /// Messages that were kept by an earlier run reach the devices as they connect, before the load begins.
  private func deliver(
    _ server: ServerProcess, _ fleet: DeviceFleet, _ tokens: [DeviceToken], _ frames: Int
  ) throws -> (count: Int, sent: Int, nanoseconds: Int64) {
    fleet.awaitMessages(options.tokens, patience: Self.deliveryPatience)
    let kept = fleet.received
    let load = try send(to: server.address("gateway"), tokens, frames, ending: Self.ending)
    fleet.awaitMessages(kept + load.total, patience: Self.deliveryPatience)
    return (fleet.received - kept, load.total, max(1, fleet.lastReportAt - load.startedAt))
  }

  /// How long nothing may arrive before the rest counts as lost, in milliseconds.
  private static let deliveryPatience: Int32 = 2000

  private func plan(_ server: ServerProcess, _ connections: Int, identities: Int) throws -> DeviceFleet.Plan {
    DeviceFleet.Plan(
      courier: try server.address("courier"), ca: site.certs.caCertificate, certs: site.certs.path,
      connections: connections, identitiesPerConnection: identities, topic: topicHash, wantsMessages: true)
  }

  // MARK: Memory

  private mutating func idle(_ data: String, _ progress: (String) -> Void) throws {
    guard options.idleConnections > 0 else { return }
    progress("\(options.idleConnections) idle devices")
    SocketCalls.raiseOpenFileLimit()
    let server = try ServerProcess(site: site, data: data, extra: ["--ephemeral"])
    defer { server.stop() }
    let before = server.residentBytes
    let fleet = try DeviceFleet(plan(server, options.idleConnections, identities: 1))
    defer { fleet.stop() }
    let each = Double(server.residentBytes - before) / Double(options.idleConnections) / 1024
    table.add(
      "memory, each of \(BenchmarkTable.grouped(options.idleConnections)) idle devices",
      BenchmarkTable.fixed(each, 1) + " KiB", aim: "≤ 16 KiB")
  }

  // MARK: Sending

  /// A frame without a payload, which is answered with status 4 and its identifier.
  static let ending = LegacyEncoder.frame(
    token: [UInt8](repeating: 0xee, count: 32), payload: [], identifier: .max)

  private func send(to address: SocketAddress, _ tokens: [DeviceToken], _ count: Int, ending: [UInt8]) throws
    -> FrameLoad
  {
    try FrameLoad.run(
      site, to: address, tokens: tokens, payload: Self.payload, count: count, ending: ending)
  }

  private func rate(_ load: FrameLoad) -> Double { load.rate }
}

/// The reference of the gateway benchmark: reads and discards on the gateway's TLS settings, and does nothing else.
/// Ends with its first connection.
final class TLSSink: ConnectionHandler {
  private let loop: EventLoop
  private init(_ loop: EventLoop) { self.loop = loop }

  func connectionOpened(_ connection: SocketConnection) {}
  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {}
  func connectionClosed(_ connection: SocketConnection, reason: String) { loop.stop() }

  static func start(
    certificate: String, key: String, policy: @escaping @Sendable () -> TLSPolicy
  ) throws -> (port: UInt16, thread: WorkerThread) {
    try OneShotServer.start(certificate: certificate, key: key, policy: policy, handler: { TLSSink($0) })
  }
}
