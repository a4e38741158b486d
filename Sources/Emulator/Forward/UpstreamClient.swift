import Platform
import PushModel
import Transport

/// Keeps a connection to the other service: makes one when there is work, uses it as long as it lasts, and makes the next
/// one when the peer says that it is leaving.
///
/// One connection at a time takes requests (Apple grants a thousand at once, `Documentation/provider-api.md#settings`);
/// those that are leaving finish theirs.
final class UpstreamClient {
  private let loop: EventLoop
  private let options: ForwardOptions
  private let context: TLSContext
  private let trust: String
  private let logger: Logger
  private let resolver: AddressResolver
  private var backoff: Backoff
  private var current: UpstreamConnection?
  private var leaving: [UpstreamConnection] = []
  /// Addresses of the target that have not been tried since it was looked up.
  private var untried: ArraySlice<SocketAddress> = []
  private var isResolving = false
  private var retry: LoopEvent?
  private var isWaiting = false
  private var isOver = false
  /// Connections in a row that came to nothing.
  private var failures = 0
  private var lastComplaint: String?
  weak var observer: (any UpstreamObserver)?
  /// Whether anybody wants a connection.
  var hasWork: () -> Bool = { false }

  /// Reads the CA; `ownCA` is for targets on loopback.
  init(loop: EventLoop, options: ForwardOptions, ownCA: String, logger: Logger, seed: UInt64) throws {
    (self.loop, self.options, self.logger) = (loop, options, logger)
    resolver = AddressResolver(loop: loop)
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
  var serverName: String { options.serverName ?? options.target.host }
  var isConnected: Bool { current?.isReady ?? false }

  /// The connection that takes requests now, if it has room. Without one, begins to make one.
  func connectionWithRoom() -> UpstreamConnection? {
    guard let current else {
      connect()
      return nil
    }
    return current.room > 0 ? current : nil
  }

  /// Makes a connection unless there is one or will be.
  func connect() {
    guard current == nil, !isResolving, !isWaiting, !isOver else { return }
    isResolving = true
    resolver.resolve(options.target) { [weak self] in self?.resolved($0) }
  }

  /// The peer answered: it is worth to come back at once when the connection ends.
  func noteAnswer() {
    failures = 0
    lastComplaint = nil
  }

  /// No more requests on the present connection; those on it are finished.
  func leaveCurrent() {
    guard let connection = current else { return }
    current = nil
    leaving.append(connection)
    connection.leave()
  }

  func flush() {
    current?.flush()
    for connection in leaving { connection.flush() }
  }

  func checkPatience() {
    let now = SystemClock.monotonicNanoseconds()
    for connection in [current].compactMap(\.self) + leaving { connection.checkPatience(now: now) }
  }

  /// Gives up on one request; the observer hears that it is lost.
  func cancel(_ id: UInt64) {
    for connection in [current].compactMap(\.self) + leaving { connection.cancel(id) }
  }

  func shutDown() {
    isOver = true
    retry?.cancel()
    for connection in [current].compactMap(\.self) + leaving { connection.close() }
  }

  /// `connection` is closed, or takes no more requests.
  func ended(_ connection: UpstreamConnection, reason: String) {
    let isOpenStill = connection.isLeaving
    leaving.removeAll { $0 === connection }
    if isOpenStill { leaving.append(connection) }
    guard connection === current else { return }
    current = nil
    guard !isOver else { return }
    if connection.answers > 0 || connection.wasReady && !hasWork() {
      logger.log(.debug, "forwarding connection ended", [("because", .string(reason))])
      if hasWork() { connect() }
    } else if !connection.wasOpened, connection.certificateProblem == nil, !untried.isEmpty {
      connectToNext()
    } else {
      fail(connection.certificateProblem.map { distrust($0) } ?? reason)
    }
  }

  /// The last answer of a leaving connection is here.
  func closed(_ connection: UpstreamConnection) { leaving.removeAll { $0 === connection } }

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
    guard let address = untried.popFirst(), let observer,
      let connection = UpstreamConnection(observer: observer)
    else { return }
    current = connection
    do {
      try connection.connect(loop, to: address, serverName: serverName, context: context)
    } catch {
      current = nil
      untried.isEmpty ? fail("\(error)") : connectToNext()
    }
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
    if hasWork() { connect() }
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
