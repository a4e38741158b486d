import Platform
import PushModel

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
      guard let report = reports.receive(), report != Report.refused else {
        throw SocketError(
          operation: "connect", address: plan.courier.description, sentence: "a device was refused")
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
      rate: Double(count) * 1e9 / Double(max(1, fleet.lastReportAt - load.startedAt)),
      lost: load.total - count, load: load.meter.load)
  }
}
