import Basics
import Broker
import Cluster
import Foundation
import LegacyWire
import Platform
import PushModel
import Services
import Testing

import Emulator
import Transport

/// An emulator and its clients on one thread: the test turns the loop, so that everything happens in one order.
final class EmulatorHarness {
  /// A turn that waits is woken at least this often, in nanoseconds.
  private static let heartbeatInterval: Int64 = 10_000_000
  /// The same with another loop, which can't wake this one.
  private static let companyInterval: Int64 = 500_000
  /// How long a test waits for what should happen, in nanoseconds.
  private static let timeout: Int64 = 120_000_000_000

  let emulator: Emulator
  let certs: String
  /// The node that devices connect to, if that is another.
  private let edge: TestEdge?
  private let heartbeat: LoopEvent
  private var contexts: [String: TLSContext] = [:]
  private var clients: [SocketConnection] = []
  private var hasStopped = false

  /// Starts an emulator on free ports. Without a data folder it keeps nothing, without a loop it has one of its own; `prepare` has it
  /// before it starts.
  init(
    certs: String? = nil, data: String? = nil, loop: EventLoop? = nil, among others: (any ClusterView)? = nil,
    _ configure: (inout ServeOptions) -> Void = { _ in }, prepare: (Emulator) -> Void = { _ in },
    sink: ((PushWaiters) -> any PushSink)? = nil
  ) throws {
    self.certs = try certs ?? Site.path()
    var options = ServeOptions()
    options.listeners = ListenerOptions(protocols: .number(0))
    (options.credentials.certs, options.log.level) = (self.certs, .error)
    if let data { options.files.data = data } else { options.files.isEphemeral = true }
    (options.credentials.tokenSeed, options.seed) = ("test", 1)
    // Answers are compared with Apple's, which have no such field.
    options.provider.explains = false
    configure(&options)
    SignalMask.blockSignalsOfWriting()
    emulator = try Emulator(options: options, loop: loop, among: others ?? TestEdge.makeView(), sink: sink)
    heartbeat = LoopEvent(timerOn: emulator.loop) {}
    prepare(emulator)
    try emulator.start()
    edge = try TestEdge(of: emulator, options)
  }

  deinit {
    for client in clients { client.abort("the test is over") }
    edge?.end()
    emulator.listeners.stopAccepting()
    emulator.listeners.abort("the test is over")
  }

  var loop: EventLoop { emulator.loop }
  var broker: Broker { emulator.broker }
  var clock: EmulatorClock { emulator.clock }

  func address(_ listener: String) throws -> SocketAddress { try #require(emulator.ports[listener]) }

  /// The emulator's side of the open connections of one listener.
  func connections(_ name: String) -> [SocketConnection] {
    emulator.listeners[name]?.openConnections ?? []
  }

  // MARK: Time

  /// Turns along, on a loop of its own.
  weak var companion: EmulatorHarness?

  /// One turn; waits for something to happen, but not for long.
  func turn() {
    companion?.loop.runTurn(wait: false)
    heartbeat.start(afterNanoseconds: companion == nil ? Self.heartbeatInterval : Self.companyInterval)
    loop.runTurn()
  }

  /// Turns until `condition` holds; a test that waits in vain fails.
  @discardableResult
  func turn(
    until what: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
  ) -> Bool {
    let end = SystemClock.now().adding(nanoseconds: Self.timeout)
    while !condition() {
      guard SystemClock.now() < end else {
        Issue.record("waited in vain until \(what)", sourceLocation: sourceLocation)
        return false
      }
      turn()
    }
    return true
  }

  /// Turns until nothing is under way: loopback delivers at once, so a few turns that need not wait are enough.
  func settle() {
    for _ in 0..<20 {
      companion?.loop.runTurn(wait: false)
      loop.runTurn(wait: false)
    }
  }

  /// Turns for a while, for what must happen by time or must not happen at all.
  func turn(milliseconds: Int64) {
    let end = SystemClock.now().adding(nanoseconds: milliseconds * 1_000_000)
    while SystemClock.now() < end { turn() }
  }

  /// The orderly end, as a signal would cause it. Returns when everything is closed and written.
  func stop() {
    guard !hasStopped else { return }
    hasStopped = true
    let guardian = LoopEvent(timerOn: loop) { [loop] in
      Issue.record("the emulator does not stop")
      loop.stop()
    }
    guardian.start(afterNanoseconds: Self.timeout)
    emulator.stop()
    emulator.run()
  }

  /// What came of a push for the app that has passed the gateway's checks.
  @discardableResult
  func submit(_ token: [UInt8], _ payload: [UInt8] = Frames.payload) throws -> SubmissionResult {
    let topic = try #require(Topic(Site.topic).flatMap(broker.registry.topic(named:)))
    return token.withUnsafeBytes { token in
      payload.withUnsafeBytes { payload in
        let push = Submission(
          interface: .gateway, topic: topic, environment: .sandbox, token: token.span, payload: payload.span)
        return broker.routing.submit(push, now: clock.now())
      }
    }
  }

  // MARK: Clients

  /// What a client knows and shows. One context for each choice.
  func context(
    _ certificate: ClientCertificate? = nil, from minimum: TLSPolicy.Version = .tls12,
    to maximum: TLSPolicy.Version = .tls13, oldCiphers: Bool = false
  ) throws -> TLSContext {
    let name = "\(certificate?.certificate ?? "") \(minimum) \(maximum) \(oldCiphers)"
    if let known = contexts[name] { return known }
    var policy = TLSPolicy()
    (policy.minimum, policy.maximum, policy.allowsOldCiphers) = (minimum, maximum, oldCiphers)
    let context = try TLSContext.client(
      ca: certs + "/ca.pem", certificate: certificate?.certificate, key: certificate?.key, policy: policy)
    contexts[name] = context
    return context
  }

  /// Connects somebody who only writes down what comes.
  func connect(
    _ listener: String, as recorder: Recorder, context: TLSContext, serverName: String? = nil,
    alpn: [String] = []
  ) throws -> SocketConnection {
    let connection = try TLSClient.connect(
      loop: loop, to: (listener == "courier" ? edge?.courier : nil) ?? address(listener),
      serverName: serverName, alpn: alpn, context: context,
      handler: recorder)
    clients.append(connection)
    return connection
  }
}
