import Platform
import PushModel

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
    let meter = LoadMeter(server: .process(server.child))
    let load = try FrameLoad.run(
      site, to: server.address("gateway"), tokens: tokens, count: frames, meter: meter)
    fleet.awaitMessages(kept + load.total, timeout: timeout)
    meter.stop()
    let count = fleet.received - kept
    return Delivery(
      rate: Double(count) * 1e9 / Double(max(1, fleet.lastReportAt - load.startedAt)),
      lost: load.total - count, load: meter.load)
  }
}
