import Basics
import NATSWire
import Platform
import Transport

/// Whoever uses a connection to NATS. Calls come on the loop.
protocol NATSConnectionOwner: AnyObject {
  func connection(_ connection: NATSConnection, heard event: NATSClientSession.Event)
  /// It is gone, for good. What was asked and not answered may have been done.
  func connectionClosed(_ connection: NATSConnection, reason: String)
}

/// One connection to a NATS server: a session and its socket, with TLS from where the server or we want it.
final class NATSConnection: ConnectionHandler {
  private var session: NATSClientSession
  private let serverName: String
  private let context: TLSContext?
  private weak var owner: (any NATSConnectionOwner)?
  private var connection: SocketConnection?
  /// Whether TLS has begun.
  private var isSecuring = false
  private var end: String?

  /// Begins to connect; throws if the system refuses at once. `context` is for TLS, if there is to be any.
  init(
    loop: EventLoop, to address: SocketAddress, serverName: String, context: TLSContext?,
    session: consuming NATSClientSession, owner: any NATSConnectionOwner
  ) throws {
    self.session = session
    (self.serverName, self.context, self.owner) = (serverName, context, owner)
    connection = try TLSClient.connect(loop: loop, to: address, serverName: nil, context: nil, handler: self)
  }

  /// Says something with the session, which goes out at the end of the turn.
  func say<Result>(_ speak: (inout NATSClientSession) -> Result) -> Result {
    defer { flush() }
    return speak(&session)
  }

  /// To be called about once a second.
  func tick(_ now: Instant) {
    guard connection != nil else { return }
    do throws(NATSSessionEnd) {
      try session.tick(now)
      flush()
      try tellEvents()
    } catch { abort("\(error)") }
  }

  /// Where this side of it is.
  var localAddress: SocketAddress? { connection?.localAddress }

  func close() { connection?.close() }

  // MARK: The socket

  func connectionOpened(_ connection: SocketConnection) {
    guard isSecuring else { return }
    session.tlsIsUp()
    flush()
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    session.receive(bytes, now: SystemClock.now())
    do throws(NATSSessionEnd) {
      try tellEvents()
      flush()
    } catch { abort("\(error)") }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    guard self.connection === connection else { return }
    self.connection = nil
    owner?.connectionClosed(self, reason: end ?? disbelief(connection) ?? reason)
  }

  /// Whether it is the server's certificate that we did not believe.
  private func disbelief(_ connection: SocketConnection) -> String? {
    guard isSecuring, let problem = connection.peerCertificateProblem else { return nil }
    return "the certificate of the NATS server is not trusted: \(problem) (--nats-ca names its CA)"
  }

  private func tellEvents() throws(NATSSessionEnd) {
    while let event = try session.next() {
      guard event == .startTLS else {
        owner?.connection(self, heard: event)
        continue
      }
      return secure()
    }
  }

  private func secure() {
    guard let plain = connection else { return }
    guard let context else {
      return abort("the NATS server requires TLS: --nats-ca names its CA")
    }
    isSecuring = true
    do {
      connection = try TLSClient.secure(plain, serverName: serverName, context: context, handler: self)
    } catch { abort("\(error)") }
  }

  private func flush() {
    guard let connection, connection.isOpen else { return }
    connection.send(session.output)
    session.output.removeAll(keepingCapacity: true)
  }

  private func abort(_ reason: String) {
    end = reason
    connection?.abort(reason)
  }
}
