import Emulator
import LegacyWire
import Platform
import PushModel
import Transport

/// `bench capture`: what watching costs (an open event stream, a capture and a full history against none of them), and
/// how fast a capture is replayed beside the load generator (`Documentation/speed.md`).
public struct CaptureBenchmark {
  /// How much to do.
  public struct Options: Sendable {
    /// Frames in each run to offline tokens.
    public var frames = 4_000_000
    /// Frames in each run to online tokens.
    public var onlineFrames = 2_000_000
    /// Requests in each run over HTTP/2; 0 leaves it out.
    public var requests = 300_000
    /// Pushes that are replayed.
    public var replayed = 4_000_000
    public var tokens = 1000
    public var connections = 100

    public init() {}
  }

  private let options: Options
  private let gateway: GatewayBenchmark
  private let site: BenchmarkSite
  private var table = BenchmarkTable()

  public init(_ options: Options) throws {
    self.options = options
    gateway = try GatewayBenchmark(GatewayBenchmark.Options())
    site = gateway.site
  }

  /// Runs all of it and answers the table. `progress` hears what is being done.
  public mutating func run(progress: (String) -> Void) throws -> String {
    progress("filling a store with \(options.tokens) tokens")
    let store = try site.makeStore(registered: options.tokens, sample: options.tokens)
    try offline(store, progress)
    try online(store, progress)
    try provider(store, progress)
    try replay(store, progress)
    return table.text
  }

  private mutating func add(_ name: String, _ plain: Double, _ watched: Double) {
    table.add(name, BenchmarkTable.grouped(Int(plain)) + "/s", ratio: 1)
    table.add(
      "  watched: stream, capture, history", BenchmarkTable.grouped(Int(watched)) + "/s",
      ratio: watched / plain, aim: "≥ 0.85")
  }

  // MARK: Watching

  /// A server with nothing to look back on, or one that is watched in every way.
  private func serve<Result>(
    data: String, watched: Bool, _ body: (ServerProcess) throws -> Result
  ) throws -> Result {
    let capture = "\(site.folder)/watched.jsonl"
    defer { unlink(capture) }
    let server = try ServerProcess(
      site: site, data: data, extra: watched ? ["--capture", capture] : ["--history", "1"])
    defer { server.stop() }
    let watcher = watched ? try EventWatcher(server.address("console")) : nil
    defer { watcher?.stop() }
    return try body(server)
  }

  private mutating func offline(_ store: (data: String, tokens: [DeviceToken]), _ progress: (String) -> Void)
    throws
  {
    var rates: [Double] = []
    for watched in [false, true] {
      progress(watched ? "offline, watched" : "offline")
      rates.append(
        try serve(data: store.data, watched: watched) { server in
          // The history is full before the run that counts.
          if watched { _ = try send(server, store.tokens, 100_000) }
          return try send(server, store.tokens, options.frames).rate
        })
    }
    add("offline, \(BenchmarkTable.grouped(options.frames)) frames", rates[0], rates[1])
  }

  private mutating func online(_ store: (data: String, tokens: [DeviceToken]), _ progress: (String) -> Void)
    throws
  {
    guard options.onlineFrames > 0 else { return }
    var rates: [Double] = []
    for watched in [false, true] {
      progress(watched ? "online, watched" : "online")
      rates.append(
        try serve(data: store.data, watched: watched) { server in
          try gateway.deliveredRate(
            server, store.tokens, connections: options.connections, frames: options.onlineFrames)
        })
    }
    add("delivered, \(options.connections) connections", rates[0], rates[1])
  }

  private mutating func provider(_ store: (data: String, tokens: [DeviceToken]), _ progress: (String) -> Void)
    throws
  {
    guard options.requests > 0 else { return }
    var rates: [Double] = []
    let bearer = try site.makeBearer()
    try site.write("body", GatewayBenchmark.payload)
    for watched in [false, true] {
      progress(watched ? "HTTP/2, watched" : "HTTP/2")
      rates.append(
        try serve(data: store.data, watched: watched) { server in
          try H2Load.make(site, server.address("provider").port, store.tokens, bearer)
            .run(requests: options.requests).requestsPerSecond
        })
    }
    add("HTTP/2, stored", rates[0], rates[1])
  }

  // MARK: Replaying

  private mutating func replay(_ store: (data: String, tokens: [DeviceToken]), _ progress: (String) -> Void)
    throws
  {
    guard options.replayed > 0 else { return }
    progress("recording \(options.replayed) pushes")
    let capture = "\(site.folder)/replayed.jsonl"
    let recorder = try ServerProcess(site: site, data: store.data, extra: ["--capture", capture])
    _ = try send(recorder, store.tokens, options.replayed)
    recorder.stop()
    let server = try ServerProcess(site: site, data: store.data)
    defer { server.stop() }
    progress("generating as many")
    let generated = try send(server, store.tokens, options.replayed).rate
    progress("replaying them")
    Self.readOnce(capture)
    let (rate, memory) = try Self.replay(capture, site, server)
    table.add("load generator", BenchmarkTable.grouped(Int(generated)) + "/s", ratio: 1)
    table.add(
      "replay --speed max", BenchmarkTable.grouped(Int(rate)) + "/s", ratio: rate / generated, aim: "≥ 0.80")
    table.add("  memory, at most", BenchmarkTable.fixed(Double(memory) / 1_048_576, 1) + " MiB")
  }

  /// Has the system hold a file in memory: it was written past the cache, and the disk is not what is measured.
  private static func readOnce(_ path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    while read(descriptor, &piece, piece.count) > 0 {}
  }

  /// Runs this very program as `replay`; answers pushes a second and its largest resident memory in bytes.
  private static func replay(_ capture: String, _ site: BenchmarkSite, _ server: ServerProcess) throws -> (
    Double, Int
  ) {
    let child = try ChildProcess(
      ChildProcess.ownPath,
      ["replay", capture, "--speed", "max", "--json", "--ports-file", "\(site.folder)/ports.json"])
    var last = ""
    while let line = child.nextLine() { last = line }
    let memory = child.awaitEnd()
    guard let report = JSONReader.read(Array(last.utf8)), let pushes = number(report.member("pushes")),
      let seconds = number(report.member("seconds")), number(report.member("different")) == 0
    else { throw EmulatorError(.failed, "replay did not come out the same: \(last)") }
    return (pushes / max(seconds, 1e-9), memory)
  }

  private static func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .integer(let number)?: Double(number)
    case .number(let number)?: number
    default: nil
    }
  }

  private func send(_ server: ServerProcess, _ tokens: [DeviceToken], _ count: Int) throws -> FrameLoad {
    try FrameLoad.run(
      site, to: server.address("gateway"), tokens: tokens, payload: GatewayBenchmark.payload, count: count,
      ending: GatewayBenchmark.ending)
  }
}

/// Reads the event stream as fast as it comes, as a dashboard does.
final class EventWatcher {
  private let child: ChildProcess

  /// Begins to read.
  init(_ console: SocketAddress) throws {
    child = try ChildProcess(
      "/usr/bin/env", ["curl", "-sN", "-o", "/dev/null", "http://\(console)/api/v1/events"])
  }

  func stop() { child.stop() }
}
