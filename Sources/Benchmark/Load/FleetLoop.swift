import Credentials
import Platform
import PushModel
import Transport

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
