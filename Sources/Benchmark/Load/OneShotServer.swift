import Platform
import Transport

/// A TLS server on a thread of its own, for references: it ends when its handler stops the loop.
enum OneShotServer {
  /// Answers its port once it accepts.
  static func start(
    certificate: String, key: String, policy: @escaping @Sendable () -> TLSPolicy,
    handler: @escaping @Sendable (EventLoop) -> any ConnectionHandler
  ) throws -> (port: UInt16, thread: WorkerThread) {
    guard let ready = NumberPipe() else { throw SocketError.last("open a pipe for", "a reference server") }
    let thread = WorkerThread { serve(certificate, key, policy(), handler, ready) }
    guard let thread, let port = ready.receive(), let number = UInt16(exactly: port), number > 0 else {
      throw SocketError(operation: "start", address: "a reference server", sentence: "it did not open a port")
    }
    return (number, thread)
  }

  private static func serve(
    _ certificate: String, _ key: String, _ policy: TLSPolicy,
    _ handler: @escaping (EventLoop) -> any ConnectionHandler,
    _ ready: NumberPipe
  ) {
    guard let loop = EventLoop(),
      let context = try? TLSContext.server(certificate: certificate, key: key, policy: policy),
      let listener = try? SocketListener(
        loop: loop, address: SocketAddress(host: "127.0.0.1", port: 0), context: context,
        makeHandler: { _ in handler(loop) })
    else { return ready.send(0) }
    ready.send(Int(listener.address.port))
    loop.run()
    listener.stopAccepting()
  }
}
