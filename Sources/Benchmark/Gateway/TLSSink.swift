import Emulator
import Platform
import Transport

/// The reference of the gateway benchmark: reads and discards on the gateway's TLS settings, and does nothing else.
/// Ends with its first connection.
final class TLSSink: ConnectionHandler {
  private let loop: EventLoop
  private init(_ loop: EventLoop) { self.loop = loop }

  func connectionOpened(_ connection: SocketConnection) {}
  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {}
  func connectionClosed(_ connection: SocketConnection, reason: String) { loop.stop() }

  static func start(
    certificate: String, key: String, policy: @escaping @Sendable () -> TLSPolicy
  ) throws -> (port: UInt16, thread: WorkerThread) {
    try OneShotServer.start(certificate: certificate, key: key, policy: policy, handler: { TLSSink($0) })
  }
}
