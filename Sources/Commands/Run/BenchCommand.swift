import Benchmark
import Platform

/// `bench`: measurements with a reference in the same run (`Documentation/speed.md`).
enum BenchCommand {
  // MARK: Flags

  private static let runs = Flag(
    "runs", ValueKind<Int>.number("N", 1...1000), default: "1", "measure everything N times, and show each")
  private static let quick = Flag(
    "quick", .toggle, "much smaller counts, where flags don't say them: figures are rough")
  private static let json = Flag("json", .toggle, "print one JSON object")
  static let flags: [any FlagDescription] = [runs, quick, json]

  static let gatewayFlags = flags + gatewayAmounts.map(\.flag)
  static let providerFlags = flags + providerAmounts.map(\.flag)
  static let captureFlags = flags + captureAmounts.map(\.flag)
  static let clusterFlags = flags + clusterAmounts.map(\.flag)

  private static let gatewayAmounts: [BenchAmount<GatewayBenchmark.Options>] = [
    BenchAmount("frames", \.offlineFrames, "frames to offline tokens and to the sink"),
    BenchAmount("online-frames", \.onlineFrames, "frames to online tokens; 0 leaves it out"),
    BenchAmount("many-tokens", \.manyTokens, "registered tokens in the load among many; 0 leaves it out"),
    BenchAmount("idle", \.idleConnections, "idle device connections; 0 leaves it out"),
  ]
  private static let providerAmounts: [BenchAmount<ProviderBenchmark.Options>] = [
    BenchAmount("requests", \.requests, "requests in each load"),
    BenchAmount("handshakes", \.handshakes, "TLS handshakes; 0 leaves them out"),
    BenchAmount("soak", \.soakSeconds, "seconds of load while memory is watched; 0 leaves it out"),
  ]
  private static let captureAmounts: [BenchAmount<CaptureBenchmark.Options>] = [
    BenchAmount("frames", \.frames, "frames to offline tokens, in each load"),
    BenchAmount("online-frames", \.onlineFrames, "frames to online tokens, in each load; 0 leaves it out"),
    BenchAmount("requests", \.requests, "requests over HTTP/2, in each load; 0 leaves it out"),
    BenchAmount("replayed", \.replayed, "pushes that are replayed; 0 leaves it out"),
  ]
  private static let clusterAmounts: [BenchAmount<ClusterBenchmark.Options>] = [
    BenchAmount("requests", \.requests, "requests over HTTP/2, in each load"),
    BenchAmount("frames", \.frames, "frames to the gateway, in each load"),
    BenchAmount(
      "phones", \.phones, "phones on each of the two nodes that get a push each; 0 leaves it out"),
    BenchAmount(
      "kept", \.kept, "stored notifications in the zone of the failover; 0 leaves it out"),
  ]

  // MARK: Commands

  /// Everything that needs no NATS server.
  static func all(_ settings: Settings) throws -> ExitStatus {
    try report(
      settings,
      [
        { try measure(GatewayBenchmark.self, [], settings) },
        { try measure(ProviderBenchmark.self, [], settings) },
        { try measure(CaptureBenchmark.self, [], settings) },
      ])
  }

  static func gateway(_ settings: Settings) throws -> ExitStatus {
    try report(settings, [{ try measure(GatewayBenchmark.self, gatewayAmounts, settings) }])
  }

  static func provider(_ settings: Settings) throws -> ExitStatus {
    try report(settings, [{ try measure(ProviderBenchmark.self, providerAmounts, settings) }])
  }

  static func capture(_ settings: Settings) throws -> ExitStatus {
    try report(settings, [{ try measure(CaptureBenchmark.self, captureAmounts, settings) }])
  }

  static func cluster(_ settings: Settings) throws -> ExitStatus {
    try report(settings, [{ try measure(ClusterBenchmark.self, clusterAmounts, settings) }])
  }

  private static func measure<Benchmark: RepeatedBenchmark>(
    _: Benchmark.Type, _ amounts: [BenchAmount<Benchmark.Options>], _ settings: Settings
  ) throws -> BenchmarkSection {
    var options = settings.isOn(quick) ? Benchmark.Options.quick : Benchmark.Options()
    for amount in amounts { amount.read(settings, into: &options) }
    var benchmark = try Benchmark(options)
    return try benchmark.run(settings[runs] ?? 1) { Output.complain("measuring: \($0)") }
  }

  /// Prints each section when it has been measured, or all of them in one document in the end.
  private static func report(
    _ settings: Settings, _ benchmarks: [() throws -> BenchmarkSection]
  ) throws -> ExitStatus {
    var report = BenchmarkReport(
      runs: settings[runs] ?? 1, isQuick: settings.isOn(quick), processors: ProcessStatus.processors)
    for benchmark in benchmarks {
      let section = try benchmark()
      report.sections.append(section)
      if !settings.isOn(json) { try Output.line(BenchmarkText(runs: report.runs).text(section) + "\n") }
    }
    if settings.isOn(json) {
      try Output.line(IndentedJSON.text(report.json))
    } else if report.isQuick {
      try Output.line("With --quick the counts are small and figures rough.")
    }
    return .success
  }
}

/// A flag that says how much of something a benchmark does.
struct BenchAmount<Options: BenchmarkOptions>: Sendable {
  let flag: Flag<Int>
  private let amount: WritableKeyPath<Options, Int> & Sendable

  init(_ name: String, _ amount: WritableKeyPath<Options, Int> & Sendable, _ help: String) {
    flag = Flag(
      name, ValueKind<Int>.number("N", 0...1_000_000_000), default: "\(Options()[keyPath: amount])", help)
    self.amount = amount
  }

  /// What the flag says, if it was given: else it is as much as `--quick` says, or the default.
  func read(_ settings: Settings, into options: inout Options) {
    guard settings.source(flag.name) != .standard, let value = settings[flag] else { return }
    options[keyPath: amount] = value
  }
}
