import CourierWire
import Credentials
import Emulator
import Platform
import PushModel
import Transport

/// Sends at a steady rate and measures how long each message takes to arrive. The moment of sending travels in the
/// message, so nothing has to be matched.
final class LatencyLoad {
  /// How often what is due is sent, in nanoseconds.
  private static let tick: Int64 = 1_000_000

  /// Messages a second.
  static let rate = 5000

  private let loop: EventLoop
  private let count: Int
  private var sent = 0
  private var startedAt: Int64 = 0
  private var timer: LoopEvent?
  private let send: (Int) -> Void
  var latencies = Latencies()

  private init(_ loop: EventLoop, seconds: Int, send: @escaping (Int) -> Void) {
    (self.loop, self.send) = (loop, send)
    count = Self.rate * seconds
    timer = LoopEvent(timerOn: loop) { [unowned self] in next() }
  }

  private func start() {
    startedAt = SystemClock.monotonicNanoseconds()
    timer?.start(afterNanoseconds: Self.tick)
  }

  /// What is late because the machine was is sent all the same: the rate is what was asked for.
  private func next() {
    guard sent < count else { return loop.stop() }
    timer?.start(afterNanoseconds: Self.tick)
    let elapsed = SystemClock.monotonicNanoseconds() - startedAt
    let due = min(count, Int(elapsed * Int64(Self.rate) / 1_000_000_000))
    send(due - sent)
    sent = due
  }

  func arrived(sentAt: Int64) { latencies.add(SystemClock.monotonicNanoseconds() - sentAt) }

  // MARK: The reference

  /// There and back through a server that only echoes: as many hops as a push has.
  static func echo(site: BenchmarkSite, seconds: Int) throws -> Latencies {
    guard let loop = EventLoop() else { throw EmulatorError(.failed, "the system has no event interface") }
    let server = try TLSEcho.start(certificate: site.certs.serverCertificate, key: site.certs.serverKey)
    let client = EchoClient()
    let connection = try TLSClient.connect(
      loop: loop, to: SocketAddress(host: "127.0.0.1", port: server.port), serverName: "localhost",
      context: TLSContext.client(ca: site.certs.caCertificate, policy: TLSPolicy()), handler: client)
    let load = LatencyLoad(loop, seconds: seconds) { count in
      for _ in 0..<count { client.send(on: connection) }
    }
    client.onMessage = { [unowned load] in load.arrived(sentAt: $0) }
    client.onOpen = { [unowned load] in load.start() }
    loop.run()
    connection.abort("done")
    server.thread.join()
    return load.latencies
  }

  // MARK: Pushes

  /// From a provider's write to a device's read, over HTTP/2 and the courier.
  static func push(site: BenchmarkSite, server: ServerProcess, seconds: Int) throws -> Latencies {
    guard let loop = EventLoop() else { throw EmulatorError(.failed, "the system has no event interface") }
    let context = try TLSContext.client(ca: site.certs.caCertificate, policy: TLSPolicy())
    let pusher = PushClient(bearer: try site.bearer(), topic: BenchmarkSite.topic)
    let load = LatencyLoad(loop, seconds: seconds) { pusher.push($0) }
    let device = LatencyDevice(identity: try site.makeDevice(), topic: site.topicHash)
    device.onToken = { token in
      pusher.token = token
      load.start()
    }
    device.onMessage = { [unowned load] in load.arrived(sentAt: $0) }
    pusher.connection = try HTTP2ClientConnection(
      loop: loop, to: server.address("provider"), serverName: "api.sandbox.push.apple.com", context: context,
      owner: pusher)
    let connection = try TLSClient.connect(
      loop: loop, to: server.address("courier"), serverName: "courier.sandbox.push.apple.com",
      alpn: ["apns-security-v3"],
      context: context, handler: device)
    loop.run()
    connection.abort("done")
    pusher.connection?.end()
    guard !load.latencies.values.isEmpty else { throw EmulatorError(.failed, "no push arrived") }
    return load.latencies
  }
}

extension BenchmarkPass {
  /// Two rows, for the median and for the 99th percentile, to which the aim applies.
  mutating func add(
    _ name: String, _ latencies: Latencies, of reference: Latencies, load: BenchmarkLoad?,
    aim: BenchmarkAim? = nil
  ) {
    for (percentile, part, aim) in [("p50", 0.5, nil), ("p99", 0.99, aim)] {
      add(
        "\(name), \(percentile)", Double(latencies.percentile(part)) / 1000, .microseconds,
        of: Double(max(1, reference.percentile(part))) / 1000, load: load, aim: aim)
    }
  }
}

/// Measured durations, in nanoseconds.
struct Latencies {
  private(set) var values: [Int64] = []

  mutating func add(_ nanoseconds: Int64) { values.append(nanoseconds) }

  /// The value that `part` of all (0 to 1) don't exceed; 0 if there are none.
  func percentile(_ part: Double) -> Int64 {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
  }
}
