import Emulator
import Platform
import PushModel
import Transport

/// `bench capture`: what watching costs (an open event stream, a capture and a full history against none of them), and
/// how fast a capture is replayed beside the load generator (`Documentation/speed.md`).
public struct CaptureBenchmark: RepeatedBenchmark {
  /// How much to do.
  public struct Options: BenchmarkOptions {
    /// Frames in each load to offline tokens.
    public var frames = 4_000_000
    /// Frames in each load to online tokens; 0 leaves it out.
    public var onlineFrames = 2_000_000
    /// Requests in each load over HTTP/2; 0 leaves it out.
    public var requests = 300_000
    /// Pushes that are replayed; 0 leaves it out.
    public var replayed = 4_000_000

    public init() {}

    public static var quick: Options {
      var options = Options()
      (options.frames, options.onlineFrames) = (1_000_000, 300_000)
      (options.requests, options.replayed) = (60_000, 1_000_000)
      return options
    }
  }

  public static let name = "capture"
  /// Frames that fill the history.
  private static let enoughForHistory = 100_000

  private let options: Options
  private let site: BenchmarkSite
  private var store = TokenStore()
  private var replay: ReplayLoad?

  public init(_ options: Options) throws {
    self.options = options
    site = try BenchmarkSite()
  }

  public mutating func prepare(_ progress: (String) -> Void) throws {
    store = try site.makeStore(registered: BenchmarkSite.tokens, progress)
    guard options.replayed > 0 else { return }
    progress("recording \(options.replayed) pushes")
    replay = try ReplayLoad(site, store, pushes: options.replayed)
  }

  public func measure(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws {
    try measureOffline(into: &pass, progress)
    try measureOnline(into: &pass, progress)
    try measureProvider(into: &pass, progress)
    try measureReplay(into: &pass, progress)
  }

  // MARK: Watching

  private typealias Rate = (perSecond: Double, load: BenchmarkLoad?)

  /// Measures a server with nothing to look back on, then one that is watched in every way. `load` hears whether it is.
  private func compare(
    _ name: String, into pass: inout BenchmarkPass, _ progress: (String) -> Void,
    _ load: (ServerProcess, Bool) throws -> Rate
  ) throws {
    progress(name)
    let plain = try serve(isWatched: false) { try load($0, false) }
    pass.add("\(name) (reference)", plain.perSecond, .perSecond, of: plain.perSecond, load: plain.load)
    progress("\(name), watched")
    let watched = try serve(isWatched: true) { try load($0, true) }
    pass.add(
      "\(name): stream, capture, history", watched.perSecond, .perSecond, of: plain.perSecond,
      load: watched.load, aim: .atLeast(0.85))
  }

  private func serve<Result>(isWatched: Bool, _ body: (ServerProcess) throws -> Result) throws -> Result {
    let capture = "\(site.folder)/watched.jsonl"
    defer { unlink(capture) }
    let server = try ServerProcess(
      site: site, data: store.data, extra: isWatched ? ["--capture", capture] : ["--history", "1"])
    defer { server.stop() }
    let watcher = isWatched ? try EventWatcher(server.address("console")) : nil
    defer { watcher?.stop() }
    return try body(server)
  }

  private func measureOffline(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws {
    try compare("offline", into: &pass, progress) { server, isWatched in
      // The history is full before the load that counts.
      if isWatched { _ = try send(server, Self.enoughForHistory) }
      return try send(server, options.frames)
    }
  }

  private func measureOnline(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws {
    guard options.onlineFrames > 0 else { return }
    try compare("delivered, \(BenchmarkSite.connections) connections", into: &pass, progress) { server, _ in
      let delivery = try Delivery.measure(site, server, store.tokens, frames: options.onlineFrames)
      return (delivery.rate, delivery.load)
    }
  }

  private func measureProvider(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws {
    guard options.requests > 0 else { return }
    try compare("HTTP/2, stored", into: &pass, progress) { server, _ in
      let meter = LoadMeter(server: .process(server.child))
      let result = try H2Load.make(site, server.address("provider").port, store.tokens)
        .run(requests: options.requests, meter: meter)
      return (result.requestsPerSecond, meter.load)
    }
  }

  // MARK: Replaying

  private func measureReplay(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws {
    guard let replay else { return }
    let server = try ServerProcess(site: site, data: store.data)
    defer { server.stop() }
    progress("generating \(options.replayed) pushes")
    let generated = try send(server, options.replayed)
    pass.add(
      "load generator (reference)", generated.perSecond, .perSecond, of: generated.perSecond,
      load: generated.load)
    progress("replaying them")
    let replayed = try replay.run(at: server)
    pass.add(
      "replay --speed max", replayed.perSecond, .perSecond, of: generated.perSecond, load: replayed.load,
      aim: .atLeast(0.9))
    pass.add("  memory, at most", Double(replayed.memory) / 1_048_576, .mebibytes)
  }

  private func send(_ server: ServerProcess, _ count: Int) throws -> Rate {
    let meter = LoadMeter(server: .process(server.child))
    let load = try FrameLoad.run(
      site, to: server.address("gateway"), tokens: store.tokens, count: count, meter: meter)
    return (load.rate, meter.load)
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
