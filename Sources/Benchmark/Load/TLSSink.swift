import Platform
import Transport

/// The reference of the gateway benchmark: reads and discards on the gateway's TLS settings, and does nothing else.
final class TLSSink: ConnectionHandler {
  func connectionOpened(_ connection: TLSConnection) {}
  func connection(_ connection: TLSConnection, received bytes: UnsafeRawBufferPointer) {}
  func connectionClosed(_ connection: TLSConnection, reason: String) {}

  /// Runs a sink on a thread of its own; answers its port. It ends with its first connection.
  static func start(certificate: String, key: String, policy: @escaping @Sendable () -> TLSPolicy) throws
    -> (port: UInt16, thread: WorkerThread)
  {
    guard let ready = NumberPipe() else { throw SocketError.last("open a pipe for", "the sink") }
    let thread = WorkerThread { serve(certificate, key, policy(), ready) }
    guard let thread, let port = ready.receive(), let number = UInt16(exactly: port), number > 0 else {
      throw SocketError(operation: "start", address: "the sink", sentence: "it did not open a port")
    }
    return (number, thread)
  }

  private static func serve(_ certificate: String, _ key: String, _ policy: TLSPolicy, _ ready: NumberPipe) {
    guard let loop = EventLoop(),
      let context = try? TLSContext.server(certificate: certificate, key: key, policy: policy),
      let listener = try? TLSListener(
        loop: loop, address: SocketAddress(host: "127.0.0.1", port: 0), context: context,
        makeHandler: { _ in OneShot(loop) })
    else { return ready.send(0) }
    ready.send(Int(listener.address.port))
    withExtendedLifetime(listener) { loop.run() }
  }

  /// Stops the loop when its connection ends.
  private final class OneShot: ConnectionHandler {
    private let loop: EventLoop
    init(_ loop: EventLoop) { self.loop = loop }
    func connectionOpened(_ connection: TLSConnection) {}
    func connection(_ connection: TLSConnection, received bytes: UnsafeRawBufferPointer) {}
    func connectionClosed(_ connection: TLSConnection, reason: String) { loop.stop() }
  }
}
