import Basics
import CourierWire
import Credentials
import Emulator
import Platform
import PushModel
import Services
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
  private var startedAt = Instant.distantPast
  private var timer: LoopEvent?
  private let send: (Int) -> Void
  var latencies = Latencies()

  init(_ loop: EventLoop, seconds: Int, send: @escaping (Int) -> Void) {
    (self.loop, self.send) = (loop, send)
    count = Self.rate * seconds
    timer = LoopEvent(timerOn: loop) { [unowned self] in next() }
  }

  func start() {
    startedAt = SystemClock.now()
    timer?.start(afterNanoseconds: Self.tick)
  }

  /// What is late because the machine was is sent all the same: the rate is what was asked for.
  private func next() {
    guard sent < count else { return loop.stop() }
    timer?.start(afterNanoseconds: Self.tick)
    let elapsed = SystemClock.now().nanoseconds(since: startedAt)
    let due = min(count, Int(elapsed * Int64(Self.rate) / 1_000_000_000))
    send(due - sent)
    sent = due
  }

  func arrived(sentAt: Instant) { latencies.add(SystemClock.now().nanoseconds(since: sentAt)) }

  // MARK: The reference

  /// There and back through a server that only echoes: as many hops as a push has.
  static func echo(site: BenchmarkSite, seconds: Int) throws -> Latencies {
    guard let loop = EventLoop() else { throw EmulatorError(.failed, "can't make an event loop") }
    let server = try OneShotServer.start(
      certificate: site.certs.server.certificate, key: site.certs.server.key, echoes: true)
    let client = EchoClient(loop, seconds: seconds)
    let connection = try TLSClient.connect(
      loop: loop, to: SocketAddress(host: "127.0.0.1", port: server.port), serverName: "localhost",
      context: TLSContext.client(ca: site.certs.ca.certificate, policy: TLSPolicy()), handler: client)
    loop.run()
    connection.abort("done")
    server.thread.join()
    return client.load.latencies
  }

  // MARK: Pushes

  /// From a provider's write to a device's read, over HTTP/2 and the courier.
  static func push(site: BenchmarkSite, server: ServerProcess, seconds: Int) throws -> Latencies {
    guard let loop = EventLoop() else { throw EmulatorError(.failed, "can't make an event loop") }
    let context = try TLSContext.client(ca: site.certs.ca.certificate, policy: TLSPolicy())
    let pusher = PushClient(bearer: try site.bearer(), topic: BenchmarkSite.topic)
    let load = LatencyLoad(loop, seconds: seconds) { pusher.push($0) }
    let device = LatencyDevice(identity: try site.makeDevice(), topic: site.topicHash) { token in
      pusher.token = token
      load.start()
    } onMessage: {
      load.arrived(sentAt: $0)
    }
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

/// Messages of a fixed size that begin with the moment of sending.
final class EchoClient: ConnectionHandler {
  /// As large as a small push with its headers, in bytes.
  private static let size = 200

  private let loop: EventLoop
  private let seconds: Int
  private(set) lazy var load = LatencyLoad(loop, seconds: seconds) { [unowned self] in send($0) }
  private var connection: SocketConnection?
  private var held: [UInt8] = []

  init(_ loop: EventLoop, seconds: Int) { (self.loop, self.seconds) = (loop, seconds) }

  private func send(_ count: Int) {
    for _ in 0..<count {
      var message = [UInt8](repeating: 0, count: Self.size)
      message.replace(bigEndian: SystemClock.now().nanoseconds, at: 0)
      connection?.send(message)
    }
  }

  func connectionOpened(_ connection: SocketConnection) {
    self.connection = connection
    load.start()
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    held.append(bytes)
    while held.count >= Self.size {
      load.arrived(sentAt: Instant(nanoseconds: held.span.bigEndian(Int64.self, at: 0)))
      held.removeFirst(Self.size)
    }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) { self.connection = nil }
}

/// A provider that pushes the present moment to one token.
final class PushClient: HTTP2ClientOwner {
  var connection: HTTP2ClientConnection?
  var token: DeviceToken?
  private let head: HTTP2RequestHead

  init(bearer: String, topic: String) {
    head = HTTP2RequestHead(
      authority: "api.sandbox.push.apple.com",
      fields: [("authorization", "bearer \(bearer)"), ("apns-topic", topic), ("apns-push-type", "alert")])
  }

  func push(_ count: Int) {
    guard let token, let connection else { return }
    for _ in 0..<count {
      let body = Array("{\"at\":\(SystemClock.now().nanoseconds)}".utf8)
      _ = connection.send(head, path: "/3/device/\(token.hex)", body: body)
    }
    connection.flush()
  }

  func connection(_ connection: HTTP2ClientConnection, settled context: Int, _ outcome: HTTP2Outcome) {}
  func connectionClosed(_ connection: HTTP2ClientConnection, reason: String) {}
}

/// A device that reads the moment of sending from each message.
final class LatencyDevice: ConnectionHandler {
  private let onToken: (DeviceToken) -> Void
  private let onMessage: (Instant) -> Void
  private let identity: DeviceIdentity
  private let topic: TopicHash
  private var decoder = CourierDecoder()
  private var baseToken: DeviceToken?

  init(
    identity: DeviceIdentity, topic: TopicHash, onToken: @escaping (DeviceToken) -> Void,
    onMessage: @escaping (Instant) -> Void
  ) {
    (self.identity, self.topic, self.onToken, self.onMessage) = (identity, topic, onToken, onMessage)
  }

  func connectionOpened(_ connection: SocketConnection) {
    guard let request = identity.connectRequest() else { return connection.close() }
    connection.send(request.encoded)
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    var decoder = CourierDecoder()
    swap(&decoder, &self.decoder)
    defer { swap(&decoder, &self.decoder) }
    var input = bytes
    while (try? decoder.next(&input, limit: CourierLimits.frameAfterConnect, { take($0, connection) })) != nil
    {}
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {}

  private func take(_ frame: CourierFrame, _ connection: SocketConnection) {
    switch frame.command {
    case .connected:
      baseToken = (try? ConnectedResponse(frame))?.baseToken
      connection.send(AppTokenRequest(baseToken: baseToken, topic: topic).encoded)
    case .appTokenResponse:
      connection.send(FilterUpdate(baseToken: baseToken, enabled: [topic]).encoded)
      if let token = (try? AppTokenResponse(frame))?.appToken { onToken(token) }
    case .message:
      guard let message = try? CourierMessage(frame) else { return }
      let digits = message.payload.filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      if let sentAt = Int64(String(decoding: digits, as: UTF8.self)) {
        onMessage(Instant(nanoseconds: sentAt))
      }
      connection.send(Acknowledgement(messageId: message.messageId).encoded)
    default: break
    }
  }
}
