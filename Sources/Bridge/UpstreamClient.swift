import Basics
import Platform
import Services
import Transport

/// The way to the other service, with provider tokens that are good there: makes a connection when there is work, uses it as long
/// as it lasts, and makes the next one when the peer says that it is leaving.
///
/// One connection at a time takes requests (Apple grants a thousand at once, `Documentation/provider-api.md#settings`);
/// those that are leaving finish theirs.
final class UpstreamClient: HTTP2ClientOwner {
  /// How long a request may go without any sign of life on the connection, in nanoseconds. Apple answers within a second;
  /// a dead connection would otherwise hold its requests for a quarter of an hour of TCP retransmissions.
  static let timeout: Int64 = 30_000_000_000

  private let loop: EventLoop
  private let options: ForwardOptions
  private let context: TLSContext
  private let trust: String
  private let logger: Logger
  private let resolver: AddressResolver
  private var tokens: ProviderTokenSource
  private var backoff: Backoff
  private var current: HTTP2ClientConnection?
  private var leaving: [HTTP2ClientConnection] = []
  /// Addresses of the target, or of the proxy that leads to it, that have not been tried since it was looked up.
  private var untried: ArraySlice<SocketAddress> = []
  private var isResolving = false
  private var retry: LoopEvent?
  private var isWaiting = false
  private var isOver = false
  /// Connections in a row that came to nothing.
  private var failures = 0
  private var lastComplaint: String?
  /// What it works for, and is made after it.
  weak var service: ForwardService?
  private var hasWork: Bool { service?.hasWork ?? false }

  /// Reads key and CA; `ownCA` is for targets on loopback.
  init(loop: EventLoop, options: ForwardOptions, ownCA: String, logger: Logger, seed: UInt64) throws {
    (self.loop, self.options, self.logger) = (loop, options, logger)
    resolver = AddressResolver(loop: loop)
    let signer = try options.signer()
    tokens = ProviderTokenSource { try signer.token(at: $0) }
    backoff = Backoff.forwarding(seed: seed)
    let ca = options.ca ?? (options.target.isLoopback ? ownCA : nil)
    trust = ca.map { "the CA \($0)" } ?? "a CA that this system trusts"
    do {
      context =
        try ca.map { try TLSContext.client(ca: $0, policy: TLSPolicy()) }
        ?? TLSContext.clientOfSystemTrust(policy: TLSPolicy())
    } catch {
      throw EmulatorError(.failed, "--forward can't use \(trust): \(error)")
    }
    retry = LoopEvent(timerOn: loop) { [unowned self] in retryNow() }
  }

  /// Name that the peer's certificate must have.
  private var serverName: String { options.serverName ?? options.target.host }
  /// The host that requests name, with the port where it is not HTTPS' own (RFC 9110 4.2.2).
  private var authority: String {
    let port = options.target.port
    return port == 443 ? serverName : SocketAddress(host: serverName, port: port).description
  }
  var isConnected: Bool { current?.isReady ?? false }

  /// Whether a push may be sent now. Without a connection, begins to make one.
  func takesMore() -> Bool {
    if current == nil { connect() }
    return (current?.room ?? 0) > 0
  }

  /// Sends a push; answers the number of the provider token that it went with, nil if the connection has none for it any more: the
  /// next may take it. Throws if no token can be made.
  func send(_ push: ForwardPush) throws -> Int? {
    let token = try tokens.token(now: SystemClock.wallTime)
    let head = push.head(authority: authority, providerToken: token)
    let context = Int(truncatingIfNeeded: push.id)
    if current?.send(head, path: push.path, body: push.payload, context: context) == true {
      return tokens.number
    }
    // Its stream numbers are used up, or it has failed.
    leaveCurrent()
    return nil
  }

  /// The other service says that the provider token of a push has expired; answers whether there is a newer one to try. A
  /// connection on which one has expired stays of no use (`Documentation/provider-api.md#renewal`).
  func renewToken(of push: ForwardPush) -> Bool {
    if push.tokenNumber < tokens.number { return true }
    guard (try? tokens.expired(now: SystemClock.wallTime)) == true else { return false }
    leaveCurrent()
    return true
  }

  /// Makes a connection unless there is one or will be.
  func connect() {
    guard current == nil, !isResolving, !isWaiting, !isOver else { return }
    isResolving = true
    resolver.resolve(options.proxy ?? options.target) { [weak self] in self?.resolved($0) }
  }

  /// No more requests on the present connection; those on it are finished.
  private func leaveCurrent() {
    guard let connection = current else { return }
    current = nil
    leaving.append(connection)
    connection.leave()
  }

  /// Hands what was sent to the connections.
  func flush() {
    current?.flush()
    for connection in leaving { connection.flush() }
  }

  func endSilent() {
    let now = SystemClock.now()
    for connection in connections { connection.endIfSilent(for: Self.timeout, now: now) }
  }

  /// Gives up on one request; the service hears that it is lost.
  func cancel(_ id: UInt64) {
    for connection in connections { connection.cancel(Int(truncatingIfNeeded: id)) }
  }

  func shutDown() {
    isOver = true
    retry?.cancel()
    for connection in connections { connection.close() }
  }

  private var connections: [HTTP2ClientConnection] { [current].compactMap(\.self) + leaving }

  // MARK: What connections tell

  func connectionAdvanced(_ connection: HTTP2ClientConnection) {
    if connection.room > 0 { service?.upstreamHasRoom() }
  }

  func connection(
    _ connection: HTTP2ClientConnection, settled context: Int, _ outcome: HTTP2Outcome
  ) {
    // It is worth to come back at once when the connection ends.
    if case .answered = outcome { (failures, lastComplaint) = (0, nil) }
    service?.upstream(settled: UInt64(context), outcome)
  }

  func connectionLeaving(_ connection: HTTP2ClientConnection) {
    guard connection === current else { return }
    leaving.append(connection)
    let reason = connection.goAway.flatMap { JSONReader.read($0.debugData)?.string("reason") }
    if let reason { service?.upstreamTurnedAway(reason) }
    replaceCurrent(because: reason.map { "GOAWAY \($0)" } ?? "GOAWAY")
  }

  func connectionClosed(_ connection: HTTP2ClientConnection, reason: String) {
    leaving.removeAll { $0 === connection }
    if connection === current { replaceCurrent(because: reason) }
  }

  /// The present connection is closed, or takes no more requests.
  private func replaceCurrent(because reason: String) {
    guard let connection = current else { return }
    current = nil
    defer { service?.upstreamHasRoom() }
    guard !isOver else { return }
    if connection.answers > 0 || connection.isReady && !hasWork {
      logger.log(.debug, "forwarding connection ended", [("because", .string(reason))])
      if hasWork { connect() }
    } else if !connection.wasOpened, connection.certificateProblem == nil, !untried.isEmpty {
      connectToNext()
    } else {
      fail(connection.certificateProblem.map { distrust($0) } ?? reason)
    }
  }

  // MARK: Connecting

  private func resolved(_ result: Result<[SocketAddress], SocketError>) {
    isResolving = false
    guard !isOver else { return }
    switch result {
    case .failure(let error): fail(error.description)
    case .success(let addresses):
      untried = addresses[...]
      connectToNext()
    }
  }

  private func connectToNext() {
    guard let address = untried.popFirst() else { return }
    do {
      current = try HTTP2ClientConnection(
        loop: loop, to: address, through: route, serverName: serverName, context: context, owner: self)
    } catch {
      untried.isEmpty ? fail("\(error)") : connectToNext()
    }
  }

  /// What a proxy is asked for, if there is one.
  private var route: ProxyRoute? {
    options.proxy.map { _ in ProxyRoute(to: options.target, authorization: options.proxyAuthorization) }
  }

  private func distrust(_ problem: String) -> String {
    "its certificate was not accepted (\(problem)); expected one for \(serverName) by \(trust);"
      + " --forward-ca FILE names another CA, --forward-name NAME another name"
  }

  /// Says so once, and tries again later.
  private func fail(_ reason: String) {
    failures += 1
    let wait = backoff.wait(after: failures)
    logger.log(
      lastComplaint == reason ? .debug : .warning, "can't forward for now",
      [
        ("to", .string(options.target.description)), ("because", .string(reason)),
        ("nextTry", .string("\(wait / 1_000_000) ms")),
      ])
    lastComplaint = reason
    isWaiting = true
    retry?.start(afterNanoseconds: wait)
  }

  private func retryNow() {
    isWaiting = false
    if hasWork { connect() }
  }
}

extension Backoff {
  /// Between tries to reach the other service or to have it take a push. Apple asks for 15 minutes after a 500 or 503
  /// (`Documentation/provider-api.md#reasons`); a program that waits for its gateway would take that for a dead one, so the first
  /// tries come soon and then ever more rarely.
  static func forwarding(seed: UInt64) -> Backoff {
    Backoff(first: 500_000_000, longest: 60_000_000_000, seed: seed)
  }
}
