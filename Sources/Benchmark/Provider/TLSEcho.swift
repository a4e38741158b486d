import Platform
import Transport

/// A TLS server that sends back what it gets, on a thread of its own; ends with its first connection.
final class TLSEcho: ConnectionHandler {
  private let loop: EventLoop
  private init(_ loop: EventLoop) { self.loop = loop }

  func connectionOpened(_ connection: SocketConnection) {}
  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    connection.send(bytes)
  }
  func connectionClosed(_ connection: SocketConnection, reason: String) { loop.stop() }

  static func start(certificate: String, key: String) throws -> (port: UInt16, thread: WorkerThread) {
    try OneShotServer.start(
      certificate: certificate, key: key, policy: { TLSPolicy() }, handler: { TLSEcho($0) })
  }
}

/// Messages of a fixed size that begin with the moment of sending.
final class EchoClient: ConnectionHandler {
  /// As large as a small push with its headers, in bytes.
  private static let size = 200

  var onOpen: () -> Void = {}
  var onMessage: (Int64) -> Void = { _ in }
  private var held: [UInt8] = []

  func send(on connection: SocketConnection) {
    var message = [UInt8](repeating: 0, count: Self.size)
    message.withUnsafeMutableBytes {
      $0.storeBytes(of: SystemClock.monotonicNanoseconds(), as: Int64.self)
    }
    connection.send(message)
  }

  func connectionOpened(_ connection: SocketConnection) { onOpen() }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    held += bytes
    while held.count >= Self.size {
      onMessage(held.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) })
      held.removeFirst(Self.size)
    }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {}
}
