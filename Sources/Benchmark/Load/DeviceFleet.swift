import Basics
import CourierWire
import Credentials
import Platform
import PushModel
import Transport

/// Many device connections on a thread of their own.
final class DeviceFleet {
  /// What one fleet is to do.
  struct Plan: Sendable {
    var courier: SocketAddress
    var ca: String
    /// Of each identity, PEM.
    var certificates: [[UInt8]]
    /// The key of all of them, PEM.
    var key: [UInt8]
    var identitiesPerConnection: Int
    var topic: TopicHash

    var connections: Int { certificates.count / identitiesPerConnection }
  }

  /// What the thread reports: one of these, or how many messages it has received.
  enum Report {
    /// One more connection is ready.
    static let ready = -1
    /// A connection can't be had.
    static let refused = -2
  }

  private let thread: WorkerThread
  private let reports: NumberPipe
  private let orders: NumberPipe

  /// Messages received so far, as far as reported.
  private(set) var received = 0 {
    didSet { lastReportAt = SystemClock.now() }
  }
  /// When the last report came; monotonic nanoseconds.
  private(set) var lastReportAt = Instant.distantPast

  /// Starts the fleet and waits until every connection is ready.
  init(_ plan: Plan) throws {
    guard let reports = NumberPipe(), let orders = NumberPipe(),
      let thread = WorkerThread({ Self.run(plan, reports, orders) })
    else { throw SocketError.last("start", "the device fleet") }
    (self.thread, self.reports, self.orders) = (thread, reports, orders)
    var ready = 0
    while ready < plan.connections {
      guard let report = reports.receive(), report != Report.refused else {
        throw SocketError(
          operation: "connect", address: plan.courier.description, sentence: "the courier rejected a device")
      }
      if report == Report.ready { ready += 1 } else { received = report }
    }
  }

  /// Waits until `count` messages have been received in all, or none came for `milliseconds`.
  func awaitMessages(_ count: Int, timeout milliseconds: Int32) {
    while received < count, let report = reports.receive(within: milliseconds) {
      received = max(received, report)
    }
  }

  /// Ends all connections.
  func stop() {
    orders.send(0)
    thread.join()
    reports.close()
    orders.close()
  }

  static func udid(_ index: Int) -> UDID? { UDID("bench-\(index)") }

  private static func run(_ plan: Plan, _ reports: NumberPipe, _ orders: NumberPipe) {
    guard let loop = try? FleetLoop(plan, reports) else { return reports.send(Report.refused) }
    loop.run(until: orders)
  }
}

/// Frames that reach the devices of many connections.
struct Delivery {
  /// Messages a second, from the first byte sent to the last message read.
  let rate: Double
  /// Frames that were sent, and whose messages did not come.
  let lost: Int
  let load: BenchmarkLoad?

  /// How long nothing may arrive before the rest counts as lost, in milliseconds.
  private static let timeout: Int32 = 2000

  /// Connects the devices that the tokens belong to, and sends. Messages that an earlier load left come before it begins.
  static func measure(
    _ site: BenchmarkSite, _ server: ServerProcess, _ tokens: [DeviceToken], frames: Int
  ) throws -> Delivery {
    let fleet = try DeviceFleet(site.plan(server))
    defer { fleet.stop() }
    fleet.awaitMessages(tokens.count, timeout: timeout)
    let kept = fleet.received
    let load = try FrameLoad.run(site, at: server, tokens, count: frames)
    fleet.awaitMessages(kept + load.total, timeout: timeout)
    load.meter.stop()
    let count = fleet.received - kept
    return Delivery(
      rate: Double(count) * 1e9 / Double(max(1, fleet.lastReportAt.nanoseconds(since: load.startedAt))),
      lost: load.total - count, load: load.meter.load)
  }
}

/// The connections of a device fleet, on the loop of the fleet's thread.
final class FleetLoop {
  /// How often what came is reported, in nanoseconds.
  private static let reportInterval: Int64 = 2_000_000
  /// How many handshakes are under way at once: the listener's queue is finite.
  private static let connectsAtOnce = 64

  private let plan: DeviceFleet.Plan
  private let reports: NumberPipe
  private let loop: EventLoop
  private let devices: [DeviceIdentity]
  private let context: TLSContext
  private var open: [SocketConnection] = []
  private var received = 0
  private var reported = 0
  private var timer: LoopEvent?

  /// Makes the devices' identities; what happens is told through `reports`. Throws if a certificate is none.
  init(_ plan: DeviceFleet.Plan, _ reports: NumberPipe) throws {
    guard let loop = EventLoop() else { throw SocketError.last("start", "an event loop") }
    (self.plan, self.reports, self.loop) = (plan, reports, loop)
    devices = try Self.makeDevices(plan)
    context = try TLSContext.client(ca: plan.ca, policy: TLSPolicy())
  }

  /// Connects all devices and serves them until anything comes through `orders`.
  func run(until orders: NumberPipe) {
    for _ in 0..<min(Self.connectsAtOnce, plan.connections) { connectNext() }
    timer = LoopEvent(timerOn: loop) { [unowned self] in report() }
    timer?.start(afterNanoseconds: Self.reportInterval)
    let order = LoopEvent(loop, descriptor: orders.reader, .read) { [loop] in loop.stop() }
    order.start()
    loop.run()
    for connection in open { connection.abort("done") }
  }

  private func connectNext() {
    guard open.count < plan.connections else { return }
    let connection = try? TLSClient.connect(
      loop: loop, to: plan.courier, serverName: "courier.sandbox.push.apple.com", alpn: ["apns-security-v3"],
      context: context, handler: nextDevice())
    if let connection { open.append(connection) } else { reports.send(DeviceFleet.Report.refused) }
  }

  private func nextDevice() -> DeviceLoad {
    let first = open.count * plan.identitiesPerConnection
    return DeviceLoad(
      identities: Array(devices[first..<first + plan.identitiesPerConnection]), topic: plan.topic,
      onReady: { [unowned self] in
        reports.send(DeviceFleet.Report.ready)
        connectNext()
      }, onMessages: { [unowned self] in received += $0 })
  }

  private func report() {
    if received != reported { reports.send(received) }
    reported = received
    timer?.start(afterNanoseconds: Self.reportInterval)
  }

  private static func makeDevices(_ plan: DeviceFleet.Plan) throws -> [DeviceIdentity] {
    guard let certificate = plan.certificates.first else { return [] }
    let first = try DeviceIdentity(certificatePEM: certificate, keyPEM: plan.key)
    return try [first]
      + plan.certificates.dropFirst().map { try DeviceIdentity(certificatePEM: $0, keyOf: first) }
  }
}

/// One courier connection with several device identities that acknowledges everything at once.
final class DeviceLoad: ConnectionHandler {
  private let identities: [DeviceIdentity]
  private let topic: TopicHash
  private var connected = 0
  private var decoder = CourierDecoder()
  /// The shortest, `0b 0000000b 04 0004 <id> 08 0001 00` (`Documentation/device-protocol.md#hex-examples`), of the last message.
  private var receipt: [UInt8] = [0x0b, 0, 0, 0, 11, 4, 0, 4, 0, 0, 0, 0, 8, 0, 1, 0]
  private let onReady: () -> Void
  private let onMessages: (Int) -> Void

  /// `onReady` is called when all identities are connected and have enabled the topic.
  init(
    identities: [DeviceIdentity], topic: TopicHash, onReady: @escaping () -> Void,
    onMessages: @escaping (Int) -> Void
  ) {
    (self.identities, self.topic) = (identities, topic)
    (self.onReady, self.onMessages) = (onReady, onMessages)
  }

  func connectionOpened(_ connection: SocketConnection) { connectNext(connection) }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    var decoder = CourierDecoder()
    swap(&decoder, &self.decoder)
    defer { swap(&decoder, &self.decoder) }
    var input = bytes
    var count = 0
    while let messages = try? decoder.next(
      &input, limit: CourierLimits.frameAfterConnect, { take($0, on: connection) })
    {
      count += messages
    }
    if count > 0 { onMessages(count) }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {}

  private func connectNext(_ connection: SocketConnection) {
    guard connected < identities.count else { return onReady() }
    let identity = identities[connected]
    connected += 1
    guard let request = identity.connectRequest() else { return connection.close() }
    connection.send(request.encoded)
  }

  /// Answers how many messages it was.
  private func take(_ frame: CourierFrame, on connection: SocketConnection) -> Int {
    switch frame.command {
    case .message: return acknowledge(frame, on: connection)
    case .connected: enable(frame, on: connection)
    default: break
    }
    return 0
  }

  private func enable(_ frame: CourierFrame, on connection: SocketConnection) {
    guard let response = try? ConnectedResponse(frame), response.status == 0 else {
      return connection.close()
    }
    if let token = response.baseToken {
      connection.send(FilterUpdate(baseToken: token, enabled: [topic]).encoded)
    }
    connectNext(connection)
  }

  private func acknowledge(_ frame: CourierFrame, on connection: SocketConnection) -> Int {
    var items = frame.items
    while let item = try? items.next() {
      guard item.id == 4, let id: UInt32 = item.integer() else { continue }
      receipt.replace(bigEndian: id, at: 8)
      connection.send(receipt)
      return 1
    }
    return 0
  }
}

extension DeviceIdentity {
  /// What says that the device is there, with a proof made now; nil if it can't be signed.
  func connectRequest() -> ConnectRequest? {
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    let nonce = DeviceNonce.make(now: now)
    guard let signature = try? sign(nonce: nonce) else { return nil }
    var request = ConnectRequest()
    (request.state, request.flags) = (1, 0x41)
    (request.certificate, request.nonce, request.signature) = (certificateDER, nonce, signature)
    return request
  }
}
