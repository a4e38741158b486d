import Emulator
import Platform
import Transport

/// Opens TLS connections one after another, each with a full handshake, and closes them.
final class HandshakeLoad: ConnectionHandler {
  private let loop: EventLoop
  private let address: SocketAddress
  private let context: TLSContext
  private var left: Int
  private var failure: String?

  /// Handshakes a second.
  static func rate(to address: SocketAddress, ca: String, count: Int) throws -> Double {
    guard let loop = EventLoop() else { throw EmulatorError(.failed, "the system has no event interface") }
    var policy = TLSPolicy()
    policy.minimum = .tls13
    let load = HandshakeLoad(loop, address, try TLSContext.client(ca: ca, policy: policy), count)
    let began = SystemClock.monotonicNanoseconds()
    try load.next()
    loop.run()
    if let failure = load.failure { throw EmulatorError(.failed, failure) }
    return Double(count) * 1e9 / Double(SystemClock.monotonicNanoseconds() - began)
  }

  private init(_ loop: EventLoop, _ address: SocketAddress, _ context: TLSContext, _ count: Int) {
    (self.loop, self.address, self.context, left) = (loop, address, context, count)
  }

  private var current: SocketConnection?

  private func next() throws {
    current = try TLSClient.connect(
      loop: loop, to: address, serverName: "localhost", alpn: ["h2"], context: context, handler: self)
  }

  func connectionOpened(_ connection: SocketConnection) {
    left -= 1
    connection.close()
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {}

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    guard reason == "closed" || reason.hasPrefix("peer closed") else {
      failure = reason
      return loop.stop()
    }
    guard left > 0, (try? next()) != nil else { return loop.stop() }
  }
}
