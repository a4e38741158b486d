import Console
import Credentials
import Faults
import Platform
import Transport
import WaysIn

extension Emulator {
  /// Opens every listener that is not off, in the order of the ports file.
  func openListeners() throws {
    ports.ca = Self.absolute(certs.ca.certificate)
    ports.certs = Self.absolute(certs.path)
    ports.environment = options.environment
    ports.access = accessToken
    try tellOfSingleCertificate()
    let identities = try serverIdentities()
    try open("gateway", options.listeners.gateway, identities, legacyPolicy()) { [gateway, provider] _ in
      SharedPortConnection(
        legacy: { gateway.makeConnection($0) },
        channels: { provider.makeChannelConnection($0, at: .gateway) })
    }
    try open("feedback", options.listeners.feedback, identities, legacyPolicy()) { [feedback, provider] _ in
      SharedPortConnection(
        legacy: { _ in FeedbackConnection(feedback) },
        channels: { provider.makeChannelConnection($0, at: .feedback) })
    }
    try open("provider", options.listeners.provider, identities, providerPolicy()) { [provider] in
      provider.makePushConnection($0)
    }
    try open("courier", options.listeners.courier, identities, CourierProtocol.policy) { [courier] in
      courier.makeConnection($0)
    }
    try openConsole()
    try openProxy()
    try openNodes()
  }

  /// Only for a node of a cluster.
  private func openNodes() throws {
    guard let nodes else { return }
    let port = options.cluster?.nodePort ?? 0
    let listener = try naming("node", port) {
      try nodes.listen(on: SocketAddress(host: options.listeners.bind, port: port))
    }
    listeners.append((NodesService.listenerName, listener))
    ports.listeners.append((NodesService.listenerName, listener.address))
  }

  /// The console is plain HTTP/1.1 and has a server of its own.
  private func openConsole() throws {
    guard case .number(let port) = options.listeners.console else { return }
    let console = ConsoleService(self).makeConsole()
    let address = SocketAddress(host: options.listeners.bind, port: port)
    let server = try naming("console", port) {
      try HTTPServer(
        loop: loop, address: address, watch: faults.watchOfConsole(), bodyLimit: console.bodyLimit(of:),
        handler: console.handle)
    }
    self.console = server
    consoleRoutes = console
    // After the commit, so that nobody hears of what a crash could still undo.
    // Without the console itself: it holds on to the loop.
    loop.atTurnEnd { [unowned self] in if failure == nil { consoleRoutes?.turnEnded() } }
    ports.listeners.append(("console", server.address))
  }

  /// Leads to the others, so it is the last.
  private func openProxy() throws {
    switch options.listeners.proxy {
    case .off: return
    case .number(let port): proxy = try naming(ProxyService.name, port) { try makeProxy(on: port) }
    case .preferred(let port): proxy = try makeProxy(preferring: port)
    }
    guard let server = proxy?.server else { return }
    ports.listeners.append((ProxyService.name, server.address))
  }

  private func makeProxy(preferring port: UInt16) throws -> ProxyService {
    do {
      return try makeProxy(on: port)
    } catch let error as SocketError where error.isAddressInUse {
      let proxy = try naming(ProxyService.name, 0) { try makeProxy(on: 0) }
      logger.log(
        .info, "the proxy's usual port is taken, so it is on another",
        [("taken", .integer(Int64(port)))]
          + (proxy.server.map { [("port", .integer(Int64($0.address.port)))] } ?? []))
      return proxy
    }
  }

  private func makeProxy(on port: UInt16) throws -> ProxyService {
    try ProxyService(
      loop: loop, address: SocketAddress(host: options.listeners.bind, port: port),
      rules: ProxyRules(tunnels: options.listeners.proxyTunnels), access: ProxyAccess(token: consoleToken),
      logger: logger, watch: faults.announcement(of: ProxyService.name),
      listener: { [unowned self] name in listeners.first { $0.name == name }?.listener })
  }

  /// Says which listener could not be opened, with the exit status for a port that is taken.
  private func naming<Listener>(
    _ name: String, _ port: UInt16, _ body: () throws -> Listener
  ) throws -> Listener {
    do {
      return try body()
    } catch let error as SocketError {
      throw PortProbe.inUse(name, error, port)
    }
  }

  private func open(
    _ name: String, _ port: ListenerPort, _ identities: [TLSIdentity], _ policy: TLSPolicy,
    _ makeHandler: @escaping (SocketConnection) -> any ConnectionHandler
  ) throws {
    guard case .number(let number) = port else { return }
    let context = try TLSContext.server(identities, policy: policy)
    let address = SocketAddress(host: options.listeners.bind, port: number)
    let listener = try naming(name, number) {
      try SocketListener(
        loop: loop, address: address, context: context, name: name,
        watch: FaultPlace(rawValue: name).map { faults.watch(of: $0) } ?? ListenerWatch(),
        makeHandler: makeHandler)
    }
    listeners.append((name, listener))
    ports.listeners.append((name, listener.address))
  }

  private func serverIdentities() throws -> [TLSIdentity] {
    try certs.loadedServer(now: clock.now()).files.map {
      try TLSIdentity(certificate: $0.certificate, key: $0.key)
    }
  }

  private func tellOfSingleCertificate() throws {
    guard let reason = try certs.loadedServer(now: clock.now()).reasonAlone else { return }
    logger.log(.info, "all clients get the same server certificate", [("because", .string(reason))])
  }

  /// Gateway and feedback as they were then; ALPN `h2` is for channel management, whose clients may bring a provider
  /// token instead of a certificate.
  private func legacyPolicy() -> TLSPolicy {
    var policy = EmulatorListeners.gatewayTransport
    policy.minimum = options.listeners.legacyTLS ? .tls10 : .tls12
    policy.allowsOldCiphers = options.listeners.legacyTLS
    policy.selectALPN = { $0.contains("h2") ? "h2" : nil }
    policy.clientCertificateWithALPN = { $0 == "h2" ? .optional : nil }
    policy.chainCheck = { [trust, clock, logger] leaf, intermediates in
      trust.handshakeError(leaf, intermediates, at: clock.now(), logger)
    }
    return policy
  }

  /// The provider API: a client certificate is asked for and may be absent; ALPN `h2`, or none at all
  /// (`Documentation/provider-api.md#connection`, `#what-clients-do`).
  private func providerPolicy() -> TLSPolicy {
    var policy = TLSPolicy()
    policy.clientCertificate = .optional
    policy.readAhead = EmulatorListeners.providerReadAhead
    policy.selectALPN = { $0.contains("h2") ? "h2" : nil }
    policy.chainCheck = { [trust, clock, logger] leaf, intermediates in
      trust.handshakeError(leaf, intermediates, at: clock.now(), logger)
    }
    return policy
  }

  static func absolute(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// Transport settings of the listeners, for whoever must compare with them.
package enum EmulatorListeners {
  /// Bytes read from a gateway socket at once: few connections, much traffic.
  private static let gatewayReadAhead = 128 << 10
  /// The same of a provider's: a record's head and body, or several small records, in one call of the system. No more than what
  /// OpenSSL holds for a record anyway.
  static let providerReadAhead = 16 << 10
  /// Between the last data and the TLS close, in nanoseconds: enough for a reader on the same machine or network to wake up
  /// for the data alone, too little to be felt.
  private static let closeDelay: Int64 = 20_000_000

  /// Gateway and feedback as they were then: TLS 1.2 at most, a client certificate required
  /// (`Documentation/binary-protocol.md#transport`, `#what-clients-do`).
  package static var gatewayTransport: TLSPolicy {
    var policy = TLSPolicy()
    policy.maximum = .tls12
    policy.clientCertificate = .required
    policy.readAhead = gatewayReadAhead
    policy.closeDelay = closeDelay
    return policy
  }
}

/// A connection on a port that speaks two protocols: ALPN `h2` is channel management, anything else the binary protocol
/// that had the port first (`README.md#what-is-emulated`).
private final class SharedPortConnection: ConnectionHandler {
  private let makeLegacy: (SocketConnection) -> any ConnectionHandler
  private let makeChannels: (SocketConnection) -> any ConnectionHandler

  init(
    legacy: @escaping (SocketConnection) -> any ConnectionHandler,
    channels: @escaping (SocketConnection) -> any ConnectionHandler
  ) {
    (makeLegacy, makeChannels) = (legacy, channels)
  }

  /// Hands the connection over to whom its client wants.
  func connectionOpened(_ connection: SocketConnection) {
    let handler = connection.alpn == "h2" ? makeChannels(connection) : makeLegacy(connection)
    connection.handler = handler
    handler.connectionOpened(connection)
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {}
  func connectionClosed(_ connection: SocketConnection, reason: String) {}
}
