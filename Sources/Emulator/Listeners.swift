import Basics
import Console
import Courier
import Credentials
import Faults
import Node
import Platform
import Services
import Transport
import WaysIn

/// Where peers come in: listeners on one address, by their names in the ports file.
package final class Listeners {
  private let options: ListenerOptions
  private let loop: EventLoop
  private let faults: FaultService
  /// Those that a `SocketListener` is, in the order in which they were opened.
  package private(set) var all: [(name: String, listener: SocketListener)] = []
  /// The console's; nil while it is off.
  package private(set) var console: HTTPServer?
  /// What it answers; without it, those of a node of a cluster.
  private(set) var consoleRoutes: Console?
  /// The proxy; nil while it is off.
  package private(set) var proxy: ProxyService?
  /// Of all, the plain ones too.
  private(set) var addresses: [(name: String, address: SocketAddress)] = []
  private let loadIdentities: () throws -> [TLSIdentity]
  /// The server's certificates, for those with TLS.
  private lazy var identities = Result { try loadIdentities() }

  init(
    _ options: ListenerOptions, _ loop: EventLoop, _ faults: FaultService,
    identities: @escaping () throws -> [TLSIdentity]
  ) {
    (self.options, self.loop, self.faults, loadIdentities) = (options, loop, faults, identities)
  }

  package subscript(name: String) -> SocketListener? { all.first { $0.name == name }?.listener }

  /// Opens one with TLS, unless it is off.
  func open(
    _ name: String, _ port: ListenerPort, _ policy: TLSPolicy,
    _ makeHandler: @escaping (SocketConnection) -> any ConnectionHandler
  ) throws {
    guard case .number(let number) = port else { return }
    let context = try TLSContext.server(identities.get(), policy: policy)
    let listener = try open(name, on: number) {
      try SocketListener(
        loop: loop, address: $0, context: context, name: name,
        watch: FaultPlace(rawValue: name).map { faults.watch(of: $0) } ?? ListenerWatch(),
        makeHandler: makeHandler)
    }
    add(name, listener)
  }

  /// One that somebody else has made.
  func add(_ name: String, _ listener: SocketListener) {
    all.append((name, listener))
    announce(name, at: listener.address)
  }

  func announce(_ name: String, at address: SocketAddress) { addresses.append((name, address)) }

  /// Has one made on a port of the address that is common to all; says which could not be opened, with the exit status for a port
  /// that is taken.
  func open<Listener>(
    _ name: String, on port: UInt16, _ make: (SocketAddress) throws -> Listener
  ) throws -> Listener {
    do {
      return try make(SocketAddress(host: options.bind, port: port))
    } catch let error as SocketError {
      throw Self.inUse(name, error, port)
    }
  }

  // MARK: All of an emulator

  /// Opens every listener that is not off, in the order of the ports file.
  func open(for emulator: Emulator) throws {
    let (gateway, provider) = (emulator.gateway, emulator.provider)
    let check: TLSPolicy.ChainCheck = {
      [trust = emulator.trust, clock = emulator.clock, logger = emulator.logger] in
      trust.handshakeError($0, $1, at: clock.now(), logger)
    }
    let legacy = EmulatorListeners.gateway(legacyTLS: options.legacyTLS, check)
    try open("gateway", options.gateway, legacy) { _ in
      SharedPortConnection(
        legacy: { gateway.makeConnection($0) },
        channels: { provider.makeChannelConnection($0, at: .gateway) })
    }
    try open("feedback", options.feedback, legacy) { [feedback = emulator.feedback] _ in
      SharedPortConnection(
        legacy: { _ in FeedbackConnection(feedback) },
        channels: { provider.makeChannelConnection($0, at: .feedback) })
    }
    try open("provider", options.provider, EmulatorListeners.provider(check), provider.makePushConnection)
    try open("courier", options.courier, CourierProtocol.policy, emulator.courier.makeConnection)
    try openConsole(emulator)
    try openProxy(emulator)
    try openNodes(emulator)
  }

  /// Only for a node of a cluster.
  private func openNodes(_ emulator: Emulator) throws {
    guard let nodes = emulator.nodes else { return }
    let port = emulator.options.cluster?.nodePort ?? 0
    add(
      NodesService.listenerName,
      try open("node", on: port) {
        try nodes.listen(on: $0, links: emulator.paths.node?.leader, for: emulator.host)
      })
  }

  /// The console is plain HTTP/1.1 and has a server of its own. Without it a node of a cluster has the routes all the same, for what
  /// all nodes do.
  private func openConsole(_ emulator: Emulator) throws {
    guard options.console != .off || emulator.nodes != nil else { return }
    let routes = ConsoleService(emulator).makeConsole()
    consoleRoutes = routes
    if case .number(let port) = options.console {
      let server = try open("console", on: port) {
        try HTTPServer(
          loop: loop, address: $0, watch: faults.watchOfConsole(), bodyLimit: routes.bodyLimit(of:),
          handler: routes.handle)
      }
      console = server
      announce("console", at: server.address)
    }
    // After the commit, so that nobody hears of what a crash could still undo.
    // Without the console itself: it holds on to the loop.
    loop.atTurnEnd { [unowned self, unowned shutdown = emulator.shutdown] in
      if shutdown.failure == nil { consoleRoutes?.turnEnded() }
    }
  }

  /// Leads to the others, so it is the last.
  private func openProxy(_ emulator: Emulator) throws {
    switch options.proxy {
    case .off: return
    case .number(let port): proxy = try open(ProxyService.name, on: port) { try makeProxy(emulator, on: $0) }
    case .preferred(let port): proxy = try makeProxy(emulator, preferring: port)
    }
    guard let server = proxy?.server else { return }
    announce(ProxyService.name, at: server.address)
  }

  private func makeProxy(_ emulator: Emulator, preferring port: UInt16) throws -> ProxyService {
    do {
      return try makeProxy(emulator, on: SocketAddress(host: options.bind, port: port))
    } catch let error as SocketError where error.isAddressInUse {
      let proxy = try open(ProxyService.name, on: 0) { try makeProxy(emulator, on: $0) }
      emulator.logger.log(
        .info, "the proxy's default port is in use, so the proxy listens on another",
        [("taken", .integer(Int64(port)))]
          + (proxy.server.map { [("port", .integer(Int64($0.address.port)))] } ?? []))
      return proxy
    }
  }

  private func makeProxy(_ emulator: Emulator, on address: SocketAddress) throws -> ProxyService {
    try ProxyService(
      loop: loop, address: address, rules: ProxyRules(tunnels: options.proxyTunnels),
      access: ProxyAccess(token: emulator.access.console), logger: emulator.logger,
      watch: faults.announcement(of: ProxyService.name),
      listener: { [unowned self] in self[$0] })
  }

  // MARK: The end

  var hasConnections: Bool { !all.allSatisfy { $0.listener.openConnections.isEmpty } }

  package func stopAccepting() { for (_, listener) in all { listener.stopAccepting() } }

  /// Ends all connections without a word of theirs.
  package func abort(_ reason: String, reset: Bool = false) {
    for (_, listener) in all {
      for connection in listener.openConnections { connection.abort(reason, reset: reset) }
    }
  }

  // MARK: Ports

  /// Looks whether the ports are free before anything else is touched: a second emulator in one folder should hear of the
  /// port, not of the store.
  static func probe(_ options: ListenerOptions) throws {
    let listeners = [
      ("gateway", options.gateway), ("feedback", options.feedback), ("provider", options.provider),
      ("courier", options.courier), ("console", options.console), ("proxy", options.proxy),
    ]
    for (name, port) in listeners {
      guard case .number(let number) = port, number > 0 else { continue }
      try probe(name, SocketAddress(host: options.bind, port: number))
    }
  }

  private static func probe(_ name: String, _ address: SocketAddress) throws {
    do {
      SocketCalls.close(try SocketCalls.listen(address, backlog: 1))
    } catch let error as SocketError where error.operation == SocketCalls.listening {
      throw inUse(name, error, address.port)
    } catch is SocketError {
      // Where no socket can be made, the listener says so.
    }
  }

  /// Names the listener, the address and, where the system tells, who has it.
  private static func inUse(_ name: String, _ error: SocketError, _ port: UInt16) -> EmulatorError {
    guard error.isAddressInUse else { return EmulatorError(.failed, "\(name): \(error)") }
    let owner = PortOwner.describe(port: port).map { "; \($0) uses it" } ?? ""
    return EmulatorError(
      .portInUse, "\(name): \(error)\(owner); choose another with --\(name)-port (0: any free port)")
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

  /// Gateway and feedback of an emulator; ALPN `h2` is for channel management, whose clients may bring a provider token instead of a
  /// certificate.
  static func gateway(legacyTLS: Bool, _ check: @escaping TLSPolicy.ChainCheck) -> TLSPolicy {
    var policy = gatewayTransport
    policy.minimum = legacyTLS ? .tls10 : .tls12
    policy.allowsOldCiphers = legacyTLS
    policy.protocols = .http2(clientCertificate: .optional)
    policy.chainCheck = check
    return policy
  }

  /// The provider API: a client certificate is asked for and may be absent; ALPN `h2`, or none at all
  /// (`Documentation/provider-api.md#connection`, `#what-clients-do`).
  static func provider(_ check: @escaping TLSPolicy.ChainCheck) -> TLSPolicy {
    var policy = TLSPolicy()
    policy.clientCertificate = .optional
    policy.readAhead = providerReadAhead
    policy.protocols = .http2()
    policy.chainCheck = check
    return policy
  }
}

/// A connection on a port that speaks two protocols: ALPN `h2` is channel management, anything else the binary protocol
/// that had the port first (`Documentation/coverage.md#channels-and-broadcasts`).
final class SharedPortConnection: ConnectionHandler {
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

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {}
  func connectionClosed(_ connection: SocketConnection, reason: String) {}
}
