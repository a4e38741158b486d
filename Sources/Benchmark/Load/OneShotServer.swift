import Platform
import Transport

/// A TLS server on a thread of its own, as a reference: it reads what its first connection brings, sends it back or throws it away,
/// and ends with that connection.
final class OneShotServer: ConnectionHandler {
  private let loop: EventLoop
  private let echoes: Bool

  private init(_ loop: EventLoop, echoes: Bool) { (self.loop, self.echoes) = (loop, echoes) }

  /// Answers its port once it accepts.
  static func start(
    certificate: String, key: String, echoes: Bool,
    policy: @escaping @Sendable () -> TLSPolicy = { TLSPolicy() }
  ) throws -> (port: UInt16, thread: WorkerThread) {
    guard let ready = NumberPipe() else { throw SocketError.last("open a pipe for", "a reference server") }
    let thread = WorkerThread { serve(certificate, key, policy(), echoes: echoes, ready) }
    guard let thread, let port = ready.receive(), let number = UInt16(exactly: port), number > 0 else {
      throw SocketError(operation: "start", address: "a reference server", sentence: "it did not open a port")
    }
    return (number, thread)
  }

  private static func serve(
    _ certificate: String, _ key: String, _ policy: TLSPolicy, echoes: Bool, _ ready: NumberPipe
  ) {
    guard let loop = EventLoop(),
      let context = try? TLSContext.server(certificate: certificate, key: key, policy: policy),
      let listener = try? SocketListener(
        loop: loop, address: SocketAddress(host: "127.0.0.1", port: 0), context: context,
        makeHandler: { _ in OneShotServer(loop, echoes: echoes) })
    else { return ready.send(0) }
    ready.send(Int(listener.address.port))
    loop.run()
    listener.stopAccepting()
  }

  func connectionOpened(_ connection: SocketConnection) {}

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    if echoes { connection.send(bytes) }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) { loop.stop() }
}
