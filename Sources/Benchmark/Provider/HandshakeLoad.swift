import Basics
import Emulator
import Platform
import Services
import Transport

/// Opens TLS connections, each with a full handshake, and closes them: on two threads, as a client has twice the work of a server that
/// signs with P-256.
final class HandshakeLoad: ConnectionHandler {
  /// Connections that are under way at once on each thread, so that the server need not wait for the next: most of the time they end,
  /// which takes milliseconds (`SocketPhase`). `openssl s_server` has them one after the other all the same.
  private static let atOnce = 32

  private let loop: EventLoop
  private let address: SocketAddress
  private let context: TLSContext
  /// Connections that are still to be begun, and those that are not over.
  private var left: Int
  private var open: [ObjectIdentifier: SocketConnection] = [:]
  private var failure: String?

  /// What became of the second thread's. Written there before it ends, read here behind that; hence `@unchecked Sendable`.
  private final class Second: @unchecked Sendable {
    var result: Result<Void, any Error> = .success(())
  }

  /// Handshakes a second.
  static func rate(to address: SocketAddress, ca: String, count: Int) throws -> Double {
    let second = Second()
    let began = SystemClock.now()
    let thread = WorkerThread {
      second.result = Result { try run(to: address, ca: ca, count: count / 2) }
    }
    guard let thread else { throw EmulatorError(.failed, "can't start a thread for the load") }
    let first = Result { try run(to: address, ca: ca, count: count - count / 2) }
    thread.join()
    try first.get()
    try second.result.get()
    return Double(count) * 1e9 / Double(SystemClock.now().nanoseconds(since: began))
  }

  private static func run(to address: SocketAddress, ca: String, count: Int) throws {
    guard count > 0 else { return }
    guard let loop = EventLoop() else { throw EmulatorError(.failed, "can't make an event loop") }
    var policy = TLSPolicy()
    policy.minimum = .tls13
    let load = HandshakeLoad(loop, address, try TLSContext.client(ca: ca, policy: policy), count)
    for _ in 0..<min(atOnce, count) { try load.next() }
    loop.run()
    if let failure = load.failure { throw EmulatorError(.failed, failure) }
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

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {}

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
