import Basics
import Credentials
import NATSWire
import Platform
import Transport

/// A node's line to NATS: one connection at a time to one of several servers, made again whenever it is lost.
///
/// Subscriptions come back with the connection. Requests don't: what was asked and not answered when it was lost is told as
/// `late`, for nobody knows whether it was done; what is asked while there is none, as `nobodyListens`, for it certainly was not.
package final class NATSClient: NATSConnectionOwner {
  package struct Settings {
    /// Tried in turn.
    package var servers: [NATSAddress]
    /// For servers that want TLS, or of which it is wanted.
    package var context: TLSContext?
    /// Whether every server without TLS is refused.
    package var wantsTLS = false
    /// Who we are, where a server's address does not say it.
    package var credentials: NATSCredentialsSource?
    package var introduction: NATSIntroduction

    package init(servers: [NATSAddress], _ introduction: NATSIntroduction) {
      (self.servers, self.introduction) = (servers, introduction)
    }

    /// To one of the servers.
    func introduction(to server: NATSAddress, nonce: String?) -> NATSIntroduction {
      var introduction: NATSIntroduction = introduction
      if let login = server.login {
        introduction.credentials = login.credentials
      } else if let credentials, let nonce {
        introduction.credentials = credentials.answer(to: nonce)
      }
      return introduction
    }
  }

  package enum State: Equatable, Sendable {
    case ready(NATSServerInfo)
    /// With the reason why it was lost, or could not be made.
    case unreachable(String)
  }

  /// Somebody who is told what becomes of the connection; ends with `NATSClient.unwatch`.
  package struct Watch: Hashable, Sendable { fileprivate let number: UInt64 }

  private struct Watcher {
    var changed: (State) -> Void
    var ticked: (Instant) -> Void
  }

  /// What was subscribed to; ends with `NATSClient.unsubscribe`.
  package struct Subscription: Hashable, Sendable { fileprivate let number: UInt64 }

  private struct Listener {
    var subject: String
    var handle: (NATSMessage) -> Void
    /// Its number on the connection there is.
    var onWire: UInt64?
  }

  private static let tickInterval: Int64 = 250_000_000
  private static let uniqueBytes = 16

  private let loop: EventLoop
  private let settings: Settings
  private var connection: NATSConnection?
  /// What the server has said of itself; nil while there is none.
  package private(set) var info: NATSServerInfo?
  /// How many connections there have been: what is known of a NATS server may be otherwise on the next.
  private(set) var connections: UInt64 = 0
  private var isClosed = false
  private var backoff = Backoff.ofNATS
  private var failures = 0
  private var round: NATSServerRound
  private let resolver: AddressResolver
  /// The server that is asked, or was last.
  private var server: NATSAddress?
  private var timer: LoopEvent?
  private var ticker: LoopEvent?
  private var listeners: [UInt64: Listener] = [:]
  private var listenersOnWire: [UInt64: UInt64] = [:]
  private var watchers: [UInt64: Watcher] = [:]
  /// Of the next listener or watcher.
  private var nextNumber: UInt64 = 1
  private var waiting: [NATSRequest: (NATSAnswer) -> Void] = [:]

  package init(loop: EventLoop, settings: Settings) {
    (self.loop, self.settings) = (loop, settings)
    (round, resolver) = (NATSServerRound(settings.servers), AddressResolver(loop: loop))
  }

  /// Begins to connect.
  package func start() {
    timer = LoopEvent(timerOn: loop) { [unowned self] in connect() }
    ticker = LoopEvent(timerOn: loop) { [unowned self] in tick() }
    ticker?.start(afterNanoseconds: Self.tickInterval)
    connect()
  }

  /// Ends it for good; whoever waits for an answer hears that it is late.
  package func close() {
    isClosed = true
    timer?.cancel()
    ticker?.cancel()
    connection?.close()
    lose("closed")
  }

  private func tick() {
    let now = SystemClock.now()
    connection?.tick(now)
    for number in watchers.keys.sorted() { watchers[number]?.ticked(now) }
    if !isClosed { ticker?.start(afterNanoseconds: Self.tickInterval) }
  }

  /// Has `changed` told whether NATS is there each time that changes, and `ticked` the time, some times a second.
  package func watch(
    changed: @escaping (State) -> Void, ticked: @escaping (Instant) -> Void = { _ in }
  ) -> Watch {
    defer { nextNumber += 1 }
    watchers[nextNumber] = Watcher(changed: changed, ticked: ticked)
    return Watch(number: nextNumber)
  }

  func unwatch(_ watch: Watch) { watchers[watch.number] = nil }

  /// This host, as NATS sees it; nil while it is not there.
  package var ownHost: String? { info == nil ? nil : connection?.localAddress?.host }

  /// Why NATS is not there; nil while it is, and before the first try.
  package private(set) var unreachableBecause: String?

  private func tell(_ state: State) {
    if case .unreachable(let reason) = state { unreachableBecause = reason } else { unreachableBecause = nil }
    for number in watchers.keys.sorted() { watchers[number]?.changed(state) }
  }

  // MARK: Connecting

  private func connect() {
    guard !isClosed, connection == nil else { return }
    switch round.next() {
    case .lookUp(let server):
      self.server = server
      resolver.resolve(server.server) { [weak self] in self?.resolved($0) }
    case .dial(let server, let address): dial(server, address)
    case .over:
      failures += 1
      round.begin()
      timer?.start(afterNanoseconds: backoff.wait(after: failures))
    }
  }

  private func resolved(_ result: Result<[SocketAddress], SocketError>) {
    guard !isClosed else { return }
    switch result {
    case .success(let addresses):
      round.found(addresses)
      connect()
    case .failure(let error): lose("\(error)")
    }
  }

  private func dial(_ server: NATSAddress, _ address: SocketAddress) {
    let session = NATSClientSession(
      unique: .random(Self.uniqueBytes),
      wantsTLS: settings.wantsTLS || server.isSecure, now: SystemClock.now()
    ) { [settings] nonce in settings.introduction(to: server, nonce: nonce) }
    do {
      connection = try NATSConnection(
        loop: loop, to: address, serverName: server.server.host, context: settings.context, session: session,
        owner: self)
    } catch { lose("\(error)") }
  }

  func connection(_ connection: NATSConnection, heard event: NATSClientSession.Event) {
    guard connection === self.connection else { return }
    switch event {
    case .startTLS: break
    case .ready(let info):
      (self.info, failures) = (info, 0)
      connections += 1
      for number in listeners.keys.sorted() { listen(number) }
      tell(.ready(info))
    case .changed(let info):
      self.info = info
      // The others take us: what is under way there is finished first.
      if info.isLeaving, settings.servers.count > 1 { connection.close() }
    case .message(let message):
      guard let number = listenersOnWire[message.subscription] else { return }
      listeners[number]?.handle(message)
    case .answer(let request, let answer): waiting.removeValue(forKey: request)?(answer)
    }
  }

  func connectionClosed(_ connection: NATSConnection, reason: String) {
    guard connection === self.connection else { return }
    lose(reason)
  }

  private func lose(_ reason: String) {
    let wasReady = info != nil
    let reason = server.map { "\($0): \(reason)" } ?? reason
    (connection, info) = (nil, nil)
    listenersOnWire = [:]
    for number in listeners.keys { listeners[number]?.onWire = nil }
    let unanswered = waiting.sorted { $0.key < $1.key }
    waiting = [:]
    if !isClosed { tell(.unreachable(reason)) }
    for (_, done) in unanswered { done(.late) }
    guard !isClosed else { return }
    if wasReady { round.begin() }
    // Whoever lets us in and throws us out again is not asked all the time.
    timer?.start(afterNanoseconds: wasReady ? backoff.wait(after: 1) : 0)
  }

  // MARK: What it is for

  /// Said if NATS is there and takes messages of this size, and forgotten if not.
  package func publish(_ subject: String, headers: NATSHeaders? = nil, _ payload: [UInt8]) {
    guard let info, Self.size(headers, payload) <= info.maximumPayload else { return }
    connection?.say { $0.publish(subject, headers: headers, payload) }
  }

  /// Asks once, and calls `done` once.
  package func request(
    _ subject: String, headers: NATSHeaders? = nil, _ payload: [UInt8], within nanoseconds: Int64,
    done: @escaping (NATSAnswer) -> Void
  ) {
    guard let info, let connection else { return done(.nobodyListens) }
    // The server would end the connection.
    let size = Self.size(headers, payload)
    guard size <= info.maximumPayload else {
      return done(.tooLarge(size, limit: info.maximumPayload))
    }
    let deadline = SystemClock.now().adding(nanoseconds: nanoseconds)
    let request = connection.say { $0.request(subject, headers: headers, payload, until: deadline) }
    guard let request else { return done(.nobodyListens) }
    waiting[request] = done
  }

  private static func size(_ headers: NATSHeaders?, _ payload: [UInt8]) -> Int {
    (headers?.encodedCount ?? 0) + payload.count
  }

  /// Asks JetStream.
  package func request(
    _ request: JetStreamRequest, within nanoseconds: Int64, done: @escaping (NATSAnswer) -> Void
  ) {
    self.request(request.subject, request.payload, within: nanoseconds, done: done)
  }

  /// Messages of a subject, also on later connections, where those are lost that came between.
  package func subscribe(_ subject: String, handle: @escaping (NATSMessage) -> Void) -> Subscription {
    let number = nextNumber
    nextNumber += 1
    listeners[number] = Listener(subject: subject, handle: handle)
    listen(number)
    return Subscription(number: number)
  }

  package func unsubscribe(_ subscription: Subscription) {
    guard let listener = listeners.removeValue(forKey: subscription.number), let onWire = listener.onWire
    else {
      return
    }
    listenersOnWire[onWire] = nil
    connection?.say { $0.unsubscribe(onWire) }
  }

  private func listen(_ number: UInt64) {
    guard info != nil, let connection, let subject = listeners[number]?.subject else { return }
    let onWire = connection.say { $0.subscribe(subject) }
    listeners[number]?.onWire = onWire
    listenersOnWire[onWire] = number
  }
}

extension Backoff {
  /// What is waited before a NATS server is asked again.
  static var ofNATS: Backoff {
    Backoff(first: 50_000_000, longest: 1_000_000_000, seed: .random(in: .min ... .max))
  }
}

/// In which order the NATS servers are tried: all addresses of a name, then the next server. Only when all have failed is there
/// a wait, so that one that is dead costs nothing as long as another lives.
///
///     begin ─→ name of a server ─→ its addresses, one after the other ─→ next server ─→ … ─→ over
package struct NATSServerRound {
  package enum Step: Equatable {
    case lookUp(NATSAddress)
    case dial(NATSAddress, SocketAddress)
    /// All were tried.
    case over
  }

  private let servers: [NATSAddress]
  /// Servers that were not tried in this round.
  private var waiting: ArraySlice<NATSAddress>
  /// The one whose turn it is, and its addresses that were not tried.
  private var present: NATSAddress?
  private var addresses: ArraySlice<SocketAddress> = []

  package init(_ servers: [NATSAddress]) { (self.servers, waiting) = (servers, servers[...]) }

  /// Begins again, behind the server that was tried last: it is the one that was lost, and the others get its clients.
  package mutating func begin() {
    let next = present.flatMap { servers.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    waiting = (servers[next...] + servers[..<next])[...]
    (present, addresses) = (nil, [])
  }

  package mutating func next() -> Step {
    if let present, let address = addresses.popFirst() { return .dial(present, address) }
    guard let server = waiting.popFirst() else { return .over }
    present = server
    return .lookUp(server)
  }

  /// What the name of the server stands for whose turn it is.
  package mutating func found(_ addresses: [SocketAddress]) { self.addresses = addresses[...] }
}

/// Who we are by a credentials file of NATS, whose key signs what a server makes up for us.
///
/// The file is read again for each connection, as secrets that expire are replaced in their place.
package final class NATSCredentialsSource {
  private static let fileLimit = 64 << 10

  private let path: String
  private var file: NATSCredentialsFile
  private var key: PrivateKey

  /// Reads it; throws a sentence if it is none.
  package init(path: String) throws {
    self.path = path
    (file, key) = try Self.read(path)
  }

  private static func read(_ path: String) throws -> (NATSCredentialsFile, PrivateKey) {
    let text = String(decoding: try TextFile.readPlain(path, limit: fileLimit), as: UTF8.self)
    do {
      let file = try NATSCredentialsFile(text: text)
      guard let key = PrivateKey(ed25519Seed: file.seed) else {
        throw NATSCredentialsProblem("OpenSSL does not take its key")
      }
      return (file, key)
    } catch { throw SocketError(operation: "use", address: path, sentence: "\(error)") }
  }

  /// What to show a server that has made up `nonce`. A file that has become unreadable stands as it was.
  func answer(to nonce: String) -> NATSCredentials? {
    if let (file, key) = try? Self.read(path) { (self.file, self.key) = (file, key) }
    guard let publicKey = key.ed25519PublicKey,
      let signature = try? key.signature(over: Array(nonce.utf8), hash: nil)
    else { return nil }
    return file.credentials(publicKey: publicKey, signature: signature)
  }
}
