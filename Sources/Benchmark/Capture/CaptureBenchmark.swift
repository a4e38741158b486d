import Basics
import Emulator
import Platform
import Services
import Transport

/// `bench capture`: what watching costs (an open event stream, a capture and a full history against none of them), and
/// how fast a capture is replayed beside the load generator (`Documentation/speed.md`).
package struct CaptureBenchmark: RepeatedBenchmark {
  package static let name = "capture"
  package static let amounts = [frames, onlineFrames, requests, replayed]

  private static let frames = BenchmarkAmount(
    "frames", 4_000_000, quick: 1_000_000, "frames to offline devices, in each load")
  private static let onlineFrames = BenchmarkAmount(
    "online-frames", 2_000_000, quick: 300_000, "frames to online devices, in each load; 0 leaves it out")
  private static let requests = BenchmarkAmount(
    "requests", 300_000, quick: 60_000, "requests over HTTP/2, in each load; 0 leaves it out")
  private static let replayed = BenchmarkAmount(
    "replayed", 4_000_000, quick: 1_000_000, "pushes that are replayed; 0 leaves it out")
  /// Frames that fill the history.
  private static let enoughForHistory = 100_000

  private let plan: BenchmarkPlan
  private let site: BenchmarkSite
  private let store: TokenStore
  private let replay: ReplayLoad?

  package init(_ plan: BenchmarkPlan, _ progress: (String) -> Void) throws {
    self.plan = plan
    site = try BenchmarkSite()
    store = try site.makeStore(registered: BenchmarkSite.tokens, progress)
    let count = plan[Self.replayed]
    if count > 0 { progress("recording \(count) pushes") }
    replay = count > 0 ? try ReplayLoad(site, store, pushes: count) : nil
  }

  package func measure(into pass: inout BenchmarkPass) throws {
    try measureOffline(into: &pass)
    try measureOnline(into: &pass)
    try measureProvider(into: &pass)
    try measureReplay(into: &pass)
  }

  // MARK: Watching

  private typealias Rate = (perSecond: Double, load: BenchmarkLoad?)

  /// Measures a server with nothing to look back on, then one that is watched in every way. `load` hears whether it is.
  private func compare(
    _ name: String, into pass: inout BenchmarkPass,
    _ load: (ServerProcess, Bool) throws -> Rate
  ) throws {
    pass.progress(name)
    let plain = try serve(isWatched: false) { try load($0, false) }
    pass.add("\(name) (reference)", plain.perSecond, .perSecond, of: plain.perSecond, load: plain.load)
    pass.progress("\(name), watched")
    let watched = try serve(isWatched: true) { try load($0, true) }
    pass.add(
      "\(name): stream, capture, history", watched.perSecond, .perSecond, of: plain.perSecond,
      load: watched.load, aim: .atLeast(0.85))
  }

  private func serve<Result>(isWatched: Bool, _ body: (ServerProcess) throws -> Result) throws -> Result {
    let capture = "\(site.folder)/watched.jsonl"
    defer { PathCalls.remove(capture) }
    let server = try ServerProcess(
      site: site, data: store.data, extra: isWatched ? ["--capture", capture] : ["--history", "1"])
    defer { server.stop() }
    let watcher = isWatched ? try EventWatcher(server.address("console")) : nil
    defer { watcher?.stop() }
    return try body(server)
  }

  private func measureOffline(into pass: inout BenchmarkPass) throws {
    try compare("offline", into: &pass) { server, isWatched in
      // The history is full before the load that counts.
      if isWatched { _ = try send(server, Self.enoughForHistory) }
      return try send(server, plan[Self.frames])
    }
  }

  private func measureOnline(into pass: inout BenchmarkPass) throws {
    guard plan[Self.onlineFrames] > 0 else { return }
    try compare("delivered, \(BenchmarkSite.connections) connections", into: &pass) { server, _ in
      let delivery = try Delivery.measure(site, server, store.tokens, frames: plan[Self.onlineFrames])
      return (delivery.rate, delivery.load)
    }
  }

  private func measureProvider(into pass: inout BenchmarkPass) throws {
    guard plan[Self.requests] > 0 else { return }
    try compare("HTTP/2, stored", into: &pass) { server, _ in
      let meter = LoadMeter(server: .process(server.child))
      let result = try H2Load.make(site, server.address("provider").port, store.tokens)
        .run(requests: plan[Self.requests], meter: meter)
      return (result.requestsPerSecond, meter.load)
    }
  }

  // MARK: Replaying

  private func measureReplay(into pass: inout BenchmarkPass) throws {
    guard let replay else { return }
    let server = try ServerProcess(site: site, data: store.data)
    defer { server.stop() }
    pass.progress("generating \(plan[Self.replayed]) pushes")
    let generated = try send(server, plan[Self.replayed])
    pass.add(
      "load generator (reference)", generated.perSecond, .perSecond, of: generated.perSecond,
      load: generated.load)
    pass.progress("replaying them")
    let replayed = try replay.run(at: server)
    pass.add(
      "replay --speed max", replayed.perSecond, .perSecond, of: generated.perSecond, load: replayed.load,
      aim: .atLeast(0.9))
    pass.add("  memory, at most", Double(replayed.memory) / 1_048_576, .mebibytes)
  }

  private func send(_ server: ServerProcess, _ count: Int) throws -> Rate {
    let load = try FrameLoad.run(site, at: server, store.tokens, count: count)
    return (load.rate, load.meter.load)
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

/// A capture, and the emulator's program that replays it as fast as it can.
struct ReplayLoad {
  private let site: BenchmarkSite
  private let capture: String

  /// Records so many pushes at a server of its own.
  init(_ site: BenchmarkSite, _ store: TokenStore, pushes: Int) throws {
    self.site = site
    capture = "\(site.folder)/replayed.jsonl"
    let recorder = try ServerProcess(site: site, data: store.data, extra: ["--capture", capture])
    defer { recorder.stop() }
    _ = try FrameLoad.run(site, at: recorder, store.tokens, count: pushes)
  }

  /// Pushes a second, and the largest resident memory of `replay` in bytes.
  func run(at server: ServerProcess) throws -> (perSecond: Double, memory: Int, load: BenchmarkLoad?) {
    readOnce()
    let child = try ChildProcess(
      emulator: ["replay", capture, "--speed", "max", "--json", "--ports-file", server.portsFile])
    let meter = LoadMeter(server: .process(server.child), generator: .process(child))
    let last = meter.measure {
      var last = ""
      while let line = child.nextLine() { last = line }
      return last
    }
    let memory = child.awaitEnd()
    guard let report = JSONReader.read(Array(last.utf8)), let pushes = report.member("pushes")?.double,
      let seconds = report.member("seconds")?.double, report.member("different")?.double == 0
    else { throw EmulatorError(.failed, "expected a replay without differences, got \(last)") }
    return (pushes / max(seconds, 1e-9), memory, meter.load)
  }

  /// Has the system hold the capture in memory: it was written past the cache, and the disk is not what is measured.
  private func readOnce() {
    guard let file = try? OpenFile(reading: capture) else { return }
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    var room = piece.mutableSpan
    while file.read(into: &room) > 0 {}
  }
}
