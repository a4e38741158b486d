import Emulator
import Platform
import PushModel
import Transport

extension FrameLoad {
  /// Sends over one connection, and waits for the answer.
  static func run(
    _ site: BenchmarkSite, to address: SocketAddress, tokens: [DeviceToken], payload: [UInt8], count: Int,
    ending: [UInt8]
  ) throws -> FrameLoad {
    guard let loop = EventLoop() else { throw EmulatorError(.failed, "the system has no event interface") }
    let load = FrameLoad(loop: loop, tokens: tokens, payload: payload, count: count, ending: ending)
    let context = try TLSContext.client(
      ca: site.certs.caCertificate, certificate: site.credentials.certificate, key: site.credentials.key,
      policy: TLSPolicy())
    let connection = try TLSClient.connect(
      loop: loop, to: address, serverName: "gateway.sandbox.push.apple.com", context: context, handler: load)
    withExtendedLifetime(connection) { loop.run() }
    if let failure = load.failure { throw EmulatorError(.failed, failure) }
    return load
  }

  /// Frames a second, from the first byte to the answer.
  var rate: Double { Double(total) * 1e9 / Double(max(1, answeredAt - startedAt)) }
}
