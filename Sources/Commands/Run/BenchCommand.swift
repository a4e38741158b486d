import Benchmark

/// `bench`: measurements with a reference in the same run (`Documentation/speed.md`).
enum BenchCommand {
  private static let frames = count("frames", "20000000", "frames to offline tokens and to the sink")
  private static let online = count("online-frames", "4000000", "frames to online tokens")
  private static let many = count(
    "many-tokens", "1000000", "registered tokens in the run among many; 0 leaves it out")
  private static let idle = count("idle", "10000", "idle device connections; 0 leaves it out")
  static let gatewayFlags: [any FlagDescription] = [frames, online, many, idle]

  private static let requests = count("requests", "1000000", "requests in each run")
  private static let handshakes = count("handshakes", "2000", "TLS handshakes")
  private static let soak = count("soak", "60", "seconds of load while memory is watched; 0 leaves it out")
  static let providerFlags: [any FlagDescription] = [requests, handshakes, soak]

  private static let captureFrames = count("frames", "4000000", "frames to offline tokens, in each run")
  private static let captureOnline = count(
    "online-frames", "2000000", "frames to online tokens, in each run; 0 leaves it out")
  private static let captureRequests = count(
    "requests", "300000", "requests over HTTP/2, in each run; 0 leaves it out")
  private static let replayed = count("replayed", "4000000", "pushes that are replayed; 0 leaves it out")
  static let captureFlags: [any FlagDescription] = [captureFrames, captureOnline, captureRequests, replayed]

  private static let clusterRequests = count("requests", "300000", "requests over HTTP/2, in each run")
  private static let clusterFrames = count("frames", "2000000", "frames to the gateway, in each run")
  private static let phones = count(
    "phones", "9500", "phones on each of the two nodes that get a push each; 0 leaves it out")
  private static let kept = count(
    "kept", "100000", "messages that are kept in the zone that is taken over; 0 leaves it out")
  static let clusterFlags: [any FlagDescription] = [clusterRequests, clusterFrames, phones, kept]

  /// Everything that needs no engine, as much as the defaults say.
  static func all(_ settings: Settings) throws -> ExitStatus {
    var gateway = try GatewayBenchmark(GatewayBenchmark.Options())
    try Output.line(gateway.run(progress: progress) + "\n")
    var provider = try ProviderBenchmark(ProviderBenchmark.Options())
    try Output.line(provider.run(progress: progress) + "\n")
    var capture = try CaptureBenchmark(CaptureBenchmark.Options())
    try Output.line(capture.run(progress: progress))
    return .success
  }

  static func gateway(_ settings: Settings) throws -> ExitStatus {
    var options = GatewayBenchmark.Options()
    options.offlineFrames = settings[frames] ?? options.offlineFrames
    options.onlineFrames = settings[online] ?? options.onlineFrames
    options.manyTokens = settings[many] ?? options.manyTokens
    options.idleConnections = settings[idle] ?? options.idleConnections
    var benchmark = try GatewayBenchmark(options)
    try Output.line(benchmark.run(progress: progress))
    return .success
  }

  static func provider(_ settings: Settings) throws -> ExitStatus {
    var options = ProviderBenchmark.Options()
    options.requests = settings[requests] ?? options.requests
    options.handshakes = settings[handshakes] ?? options.handshakes
    options.soakSeconds = settings[soak] ?? options.soakSeconds
    var benchmark = try ProviderBenchmark(options)
    try Output.line(benchmark.run(progress: progress))
    return .success
  }

  static func capture(_ settings: Settings) throws -> ExitStatus {
    var options = CaptureBenchmark.Options()
    options.frames = settings[captureFrames] ?? options.frames
    options.onlineFrames = settings[captureOnline] ?? options.onlineFrames
    options.requests = settings[captureRequests] ?? options.requests
    options.replayed = settings[replayed] ?? options.replayed
    var benchmark = try CaptureBenchmark(options)
    try Output.line(benchmark.run(progress: progress))
    return .success
  }

  static func cluster(_ settings: Settings) throws -> ExitStatus {
    var options = ClusterBenchmark.Options()
    options.requests = settings[clusterRequests] ?? options.requests
    options.frames = settings[clusterFrames] ?? options.frames
    options.phones = settings[phones] ?? options.phones
    options.kept = settings[kept] ?? options.kept
    var benchmark = try ClusterBenchmark(options)
    try Output.line(benchmark.run(progress: progress))
    return .success
  }

  private static func progress(_ what: String) { Output.complain("measuring: \(what)") }

  private static func count(_ name: String, _ standard: String, _ help: String) -> Flag<Int> {
    Flag(name, ValueKind<Int>.number("N", 0...1_000_000_000), default: standard, help)
  }
}
