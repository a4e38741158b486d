import Broker
import Faults
import LegacyWire
import PushModel
import Transport

/// One provider on the binary gateway.
///
///     TLS up ─→ identified ─ frames accepted, in silence ─→ identified
///        │            └─ first bad frame ─→ six bytes, orderly close; nothing later is looked at
///        └─ certificate for the other environment: silent close (`Documentation/binary-protocol.md#client-certificate`)
final class GatewayConnection: ConnectionHandler {
  private let gateway: Gateway
  private unowned let connection: SocketConnection
  private var decoder = LegacyDecoder()
  private var provider: GatewayProvider?
  /// Identifier of the last accepted notification that has one, for status 10; nil before the first. Command 0 has none,
  /// and a library that is told 0 resends for ever (`Documentation/binary-protocol.md#what-clients-do`).
  private(set) var lastAccepted: UInt32?
  /// What goes wrong here on purpose; nil until something does.
  private var faults: GatewayFaults?
  /// A fault holds frames back, and those that come go behind them. Asked for each frame, so it lies here.
  var framesWait = false

  init(_ gateway: Gateway, _ connection: SocketConnection) {
    (self.gateway, self.connection) = (gateway, connection)
  }

  func connectionOpened(_ connection: SocketConnection) {
    switch gateway.identify(connection) {
    case .provider(var provider):
      provider.connection = gateway.capture?.gatewayOpened(provider) ?? 0
      self.provider = provider
    case .wrongEnvironment: connection.close()
    }
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    guard let provider else { return }
    gateway.broker.noteRead()
    let now = gateway.clock.now()
    let failure = decoder.receive(bytes) { take($0, from: provider, now: now) }
    connection.hold(decoder.heldBytes)
    guard let failure else { return }
    if let faults, framesWait { faults.take(failure) } else { refuse(failure) }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    faults?.connectionClosed()
    gateway.forget(self, reason)
  }

  /// Nothing more comes from this provider.
  func captureEnd() {
    if let provider { gateway.capture?.connectionClosed(provider.connection) }
  }

  /// Lets the provider go on after its device has caught up, or a fault is over.
  func resume() {
    if !framesWait { connection.setPaused(false) }
  }

  /// The provider learns how far it got.
  func giveWay(_ connection: SocketConnection) { shutDown() }

  /// Maintenance: everything up to the last accepted notification went through
  /// (`Documentation/binary-protocol.md#statuses`, 10).
  func shutDown() {
    guard connection.isOpen else { return }
    gateway.broker.gatewayAnswers()
    if let lastAccepted { connection.send(LegacyErrorPacket(.shutdown, lastAccepted).bytes) }
    connection.close()
  }

  @inline(__always)
  private func take(_ notification: LegacyNotification, from provider: GatewayProvider, now: Timestamp)
    -> LegacyDecoder.Next
  {
    if framesWait || gateway.faults.mayStrike(notification.token),
      let next = struck(notification, from: provider)
    {
      return next
    }
    return process(notification, from: provider, now: now)
  }

  @inline(never)
  private func struck(_ notification: LegacyNotification, from provider: GatewayProvider) -> LegacyDecoder
    .Next?
  {
    let faults = faults ?? GatewayFaults(gateway.faults, self, connection)
    self.faults = faults
    return faults.take(notification, provider)
  }

  @inline(__always)
  private func process(_ notification: LegacyNotification, from provider: GatewayProvider, now: Timestamp)
    -> LegacyDecoder.Next
  {
    goOn(notification, gateway.submit(notification, from: provider, now: now))
  }

  @inline(__always)
  private func goOn(_ notification: LegacyNotification, _ result: SubmissionResult) -> LegacyDecoder.Next {
    if let rejection = result.rejection { return answer(notification, rejection) }
    if notification.command != .simple { lastAccepted = notification.identifier }
    if result.isCongested { slowDown(for: notification.token) }
    return .goOn
  }

  private func answer(_ notification: LegacyNotification, _ rejection: Rejection) -> LegacyDecoder.Next {
    let identifier = LegacyCheck.reportedIdentifier(notification, rejection, gateway.limits)
    end(LegacyErrorPacket(rejection, identifier), command: notification.command.rawValue)
    return .stop
  }

  func refuse(_ failure: LegacyParseFailure) {
    guard let provider else { return }
    _ = gateway.recordFailure(failure, decoder.malformedFrame, from: provider, now: gateway.clock.now())
    end(LegacyErrorPacket(.protocolError, failure.identifier), command: failure.command)
  }

  /// The packet and the close leave after the turn's commit, in one write and an orderly end. A bad command 0 gets no
  /// packet (`Documentation/binary-protocol.md#error-packet`).
  private func end(_ packet: LegacyErrorPacket, command: UInt8) {
    send(packet, command: command)
    connection.close()
  }

  func send(_ packet: LegacyErrorPacket, command: UInt8) {
    gateway.broker.gatewayAnswers()
    if command != LegacyCommand.simple.rawValue { connection.send(packet.bytes) }
  }

  /// Called for each frame of what has already been read.
  private func slowDown(for token: UnsafeRawBufferPointer?) {
    guard !connection.isPaused else { return }
    connection.setPaused(true)
    gateway.waitForDevice(token.flatMap { gateway.broker.link(of: $0) }, self)
  }
}

/// What faults do with a notification.
extension GatewayConnection {
  /// As though it came now.
  func take(_ notification: LegacyNotification) -> LegacyDecoder.Next {
    provider.map { take(notification, from: $0, now: gateway.clock.now()) } ?? .stop
  }

  /// Takes it after all, or answers as the checks do.
  func take(_ decision: FaultEngine.Decision, _ notification: LegacyNotification) -> LegacyDecoder.Next {
    guard let provider else { return .stop }
    let result = gateway.carryOut(
      .take, decision, notification, from: provider, now: gateway.clock.now())
    return goOn(notification, result)
  }

  /// Remembers what a fault wants of it.
  func note(_ fate: FaultStep, _ decision: FaultEngine.Decision, _ notification: LegacyNotification) {
    guard let provider else { return }
    _ = gateway.carryOut(fate, decision, notification, from: provider, now: gateway.clock.now())
  }

  func topicName(_ provider: GatewayProvider) -> String? {
    provider.topic.map { gateway.broker.registry[$0].label }
  }
}

extension LegacyErrorPacket {
  init(_ rejection: Rejection, _ identifier: UInt32) {
    self.init(status: rejection.legacyStatus, identifier: identifier)
  }
}
