import Emulator
import Platform
import Transport

/// Opens TLS connections, each with a full handshake, and closes them.
final class HandshakeLoad: ConnectionHandler {
  /// Handshakes that are under way at once, so that the server need not wait for the next. `openssl s_server` has them one
  /// after the other all the same.
  private static let atOnce = 8

  private let loop: EventLoop
  private let address: SocketAddress
  private let context: TLSContext
  /// Connections that are still to be begun, and those that are not over.
  private var left: Int
  private var open: [ObjectIdentifier: SocketConnection] = [:]
  private var failure: String?

  /// Handshakes a second.
  static func rate(to address: SocketAddress, ca: String, count: Int) throws -> Double {
    guard let loop = EventLoop() else { throw EmulatorError(.failed, "the system has no event interface") }
    var policy = TLSPolicy()
    policy.minimum = .tls13
    let load = HandshakeLoad(loop, address, try TLSContext.client(ca: ca, policy: policy), count)
    let began = SystemClock.monotonicNanoseconds()
    for _ in 0..<min(atOnce, count) { try load.next() }
    loop.run()
    if let failure = load.failure { throw EmulatorError(.failed, failure) }
    return Double(count) * 1e9 / Double(SystemClock.monotonicNanoseconds() - began)
  }

  private init(_ loop: EventLoop, _ address: SocketAddress, _ context: TLSContext, _ count: Int) {
    (self.loop, self.address, self.context, left) = (loop, address, context, count)
  }

  private func next() throws {
    left -= 1
    let connection = try TLSClient.connect(
      loop: loop, to: address, serverName: "localhost", alpn: ["h2"], context: context, handler: self)
    open[ObjectIdentifier(connection)] = connection
  }

  func connectionOpened(_ connection: SocketConnection) { connection.close() }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {}

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    open[ObjectIdentifier(connection)] = nil
    guard reason == "closed" || reason.hasPrefix("peer closed") else { return fail(reason) }
    do {
      if left > 0 { try next() } else if open.isEmpty { loop.stop() }
    } catch {
      fail("\(error)")
    }
  }

  private func fail(_ reason: String) {
    failure = failure ?? reason
    loop.stop()
  }
}
