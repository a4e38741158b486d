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
    var certs: String
    var connections: Int
    var identitiesPerConnection: Int
    var topic: TopicHash
    var wantsMessages: Bool
  }

  private let thread: WorkerThread
  private let reports: NumberPipe
  private let orders: NumberPipe

  /// Messages received so far, as far as reported.
  private(set) var received = 0 {
    didSet { lastReportAt = SystemClock.monotonicNanoseconds() }
  }
  /// When the last report came; monotonic nanoseconds.
  private(set) var lastReportAt: Int64 = 0

  /// Starts the fleet and waits until every connection is ready.
  init(_ plan: Plan) throws {
    guard let reports = NumberPipe(), let orders = NumberPipe(),
      let thread = WorkerThread({ Self.run(plan, reports, orders) })
    else { throw SocketError.last("start", "the device fleet") }
    (self.thread, self.reports, self.orders) = (thread, reports, orders)
    var ready = 0
    while ready < plan.connections {
      guard let report = reports.receive(), report != -2 else {
        throw SocketError(
          operation: "connect", address: plan.courier.description, sentence: "a device was refused")
      }
      if report == -1 { ready += 1 } else { received = report }
    }
  }

  /// Waits until `count` messages have been received in all, or none came for `milliseconds`.
  func awaitMessages(_ count: Int, patience milliseconds: Int32) {
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

  private static let reportInterval: Int64 = 2_000_000
  /// How many handshakes are under way at once: the listener's queue is finite.
  private static let connectsAtOnce = 64

  private static func run(_ plan: Plan, _ reports: NumberPipe, _ orders: NumberPipe) {
    guard let loop = EventLoop(), let devices = try? makeDevices(plan),
      let context = try? TLSContext.client(ca: plan.ca, policy: TLSPolicy())
    else { return reports.send(-2) }
    var received = 0
    var reported = 0
    var open: [TLSConnection] = []
    func connectNext() {
      guard open.count < plan.connections else { return }
      let first = open.count * plan.identitiesPerConnection
      let device = DeviceLoad(
        identities: Array(devices[first..<first + plan.identitiesPerConnection]), topic: plan.topic,
        wantsMessages: plan.wantsMessages,
        onReady: {
          reports.send(-1)
          connectNext()
        }, onMessages: { received += $0 })
      let connection = try? TLSClient.connect(
        loop: loop, to: plan.courier, serverName: "courier.sandbox.push.apple.com",
        alpn: ["apns-security-v3"],
        context: context, handler: device)
      if let connection { open.append(connection) } else { reports.send(-2) }
    }
    for _ in 0..<min(connectsAtOnce, plan.connections) { connectNext() }
    var timer: LoopEvent?
    timer = LoopEvent(timerOn: loop) {
      if received != reported { reports.send(received) }
      reported = received
      timer?.start(afterNanoseconds: reportInterval)
    }
    timer?.start(afterNanoseconds: reportInterval)
    let order = LoopEvent(loop, descriptor: orders.reader, .read) { loop.stop() }
    order.start()
    loop.run()
    timer = nil
    for connection in open { connection.abort("done") }
  }

  /// Identities that share one key: making a key takes longer than everything else here.
  private static func makeDevices(_ plan: Plan) throws -> [DeviceIdentity] {
    let folder = CertsFolder(path: plan.certs)
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    guard let first = udid(0) else { return [] }
    let request = try DeviceRequest.make(udid: first)
    return try (0..<plan.connections * plan.identitiesPerConnection).compactMap(udid).map {
      let certificate = try folder.signDeviceRequest(csrPEM: request.csrPEM, udid: $0, now: now)
      return try DeviceIdentity(certificatePEM: certificate, keyPEM: request.keyPEM)
    }
  }
}
