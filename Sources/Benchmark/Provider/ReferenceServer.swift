import Platform
import PushModel

/// Other people's servers that the benchmark compares with.
enum ReferenceServer {
  /// A port that was free a moment ago.
  static func freePort() throws -> UInt16 {
    let descriptor = try SocketCalls.listen(SocketAddress(host: "127.0.0.1", port: 0), backlog: 1)
    defer { SocketCalls.close(descriptor) }
    return SocketAddress.of(descriptor, peer: false).port
  }

  static func nghttpd(site: BenchmarkSite, port: UInt16) throws -> ChildProcess {
    try started(
      ChildProcess(
        "/usr/bin/env",
        [
          "nghttpd", "-n", "1", "-d", site.folder, "-a", "127.0.0.1", "\(port)", site.certs.server.key,
          site.certs.server.certificate,
        ]), port
    ) { accepts(port) }
  }

  /// Tried with a whole handshake, as it complains on standard error of a client that leaves before.
  static func openssl(site: BenchmarkSite, port: UInt16) throws -> ChildProcess {
    let address = SocketAddress(host: "127.0.0.1", port: port)
    return try started(
      ChildProcess(
        "/usr/bin/env",
        [
          "openssl", "s_server", "-quiet", "-accept", "127.0.0.1:\(port)", "-cert",
          site.certs.server.certificate,
          "-key", site.certs.server.key, "-no_ticket",
        ]), port
    ) { (try? HandshakeLoad.rate(to: address, ca: site.certs.ca.certificate, count: 1)) != nil }
  }

  /// How often a server that is starting is tried, and how long between, in microseconds. These programs don't say when
  /// they are ready.
  private static let attempts = 200
  private static let pause: UInt32 = 10_000

  private static func started(
    _ child: ChildProcess, _ port: UInt16, isReady: () -> Bool
  ) throws -> ChildProcess {
    for _ in 0..<attempts {
      if isReady() { return child }
      WorkerThread.sleep(microseconds: pause)
    }
    throw SocketError(
      operation: "start", address: "a reference server", sentence: "it accepts no connection on port \(port)")
  }

  private static func accepts(_ port: UInt16) -> Bool {
    PortOwner.isTaken(SocketAddress(host: "127.0.0.1", port: port))
  }
}

/// Runs `h2load` (Debian's nghttp2-client) against one port and reads its report.
struct H2Load {
  /// What one run found.
  struct Result {
    var requestsPerSecond: Double
    /// Answers with a 2xx status.
    var succeeded: Int
  }

  /// Eight connections of a hundred streams (`Documentation/speed.md`).
  private static let shape = ["-c", "8", "-m", "100", "-t", "1"]

  /// File with one URI a line; its host and port are the first one's.
  var uris: String
  /// File with the request body.
  var body: String
  var headers: [String]

  /// Pushes to each of the tokens in turn.
  static func make(_ site: BenchmarkSite, _ port: UInt16, _ tokens: [DeviceToken]) throws -> H2Load {
    let uris = tokens.map { "https://127.0.0.1:\(port)/3/device/\($0.hex)" }.joined(separator: "\n")
    let (list, body) = ("\(site.folder)/uris-\(port)", "\(site.folder)/body")
    try TextFile.write(list, Array(uris.utf8))
    try TextFile.write(body, BenchmarkSite.payload)
    return try H2Load(
      uris: list, body: body,
      headers: [
        "authorization: bearer \(site.bearer())", "apns-topic: \(BenchmarkSite.topic)",
        "apns-push-type: alert",
        "apns-priority: 10",
      ])
  }

  /// Sends `requests` in all, or for `seconds` if given. `meter` watches while it sends.
  func run(requests: Int, seconds: Int? = nil, meter: LoadMeter? = nil) throws -> Result {
    let amount = seconds.map { ["-D", "\($0)"] } ?? ["-n", "\(requests)"]
    let child = try ChildProcess(
      "/usr/bin/env",
      ["h2load"] + Self.shape + amount + ["-i", uris, "-d", body] + headers.flatMap { ["-H", $0] })
    var result = Result(requestsPerSecond: 0, succeeded: 0)
    while let line = child.nextLine() {
      if line.hasPrefix("starting benchmark") { meter?.start(generator: .process(child)) }
      if line.hasPrefix("finished in") { meter?.stop() }
      Self.read(line, into: &result)
    }
    guard result.requestsPerSecond > 0 else {
      throw SocketError(
        operation: "run", address: "h2load",
        sentence: "expected a rate, got none; is nghttp2-client installed?")
    }
    return result
  }

  /// `finished in 2.84s, 105454.53 req/s, 17.70MB/s` and `status codes: 300000 2xx, 0 3xx, 0 4xx, 0 5xx`.
  private static func read(_ line: String, into result: inout Result) {
    let words = line.split(separator: " ").map(String.init)
    if line.hasPrefix("finished in"), let rate = words.firstIndex(of: "req/s,"), rate > 0 {
      result.requestsPerSecond = Double(words[rate - 1]) ?? 0
    } else if line.hasPrefix("status codes:") {
      result.succeeded = words.lazy.compactMap { Int($0) }.first ?? 0
    }
  }
}
