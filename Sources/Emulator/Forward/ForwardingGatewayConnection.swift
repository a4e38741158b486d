import Broker
import LegacyWire
import PushModel
import Transport

/// One provider on the binary gateway while its notifications are forwarded.
///
///     TLS up ─→ identified ─ frame ─→ waiting ─ window and queue have room ─→ under way ─ taken, in silence ─→ done
///                                                                                └─ rejected ─→ six bytes, close
///
/// The provider is not read from while frames wait, so it feels the other service's pace through TCP; at most what one
/// read brings waits here. A provider that closes has still sent what it sent: its frames go on without it.
final class ForwardingGatewayConnection: ConnectionHandler {
  /// What has been read and not begun.
  private enum Waiting {
    /// With the id under which it is kept; nil for one that will be refused.
    case frame([UInt8], kept: Int64?)
    case failure(LegacyParseFailure)

    var kept: Int64? { if case .frame(_, let kept) = self { kept } else { nil } }
  }

  let number: Int
  let service: ForwardService
  /// nil once the provider has gone.
  var connection: TLSConnection?
  private var decoder = LegacyDecoder()
  private var provider: GatewayProvider?
  private var waiting: ArraySlice<Waiting> = []
  var window: ForwardWindow
  /// Kept ones that the provider is told it must send again, or that are to go wrong: they are kept until it has had the chance
  /// to hear of that.
  private var forgotten: [Int64] = []
  /// The emulator is ending.
  private var isShuttingDown = false
  private var isAdvancing = false
  /// No more frames are taken: an error packet has been sent, or the emulator is ending.
  var isEnding = false
  /// The provider has ended its side.
  private var hasHeardAll = false
  /// What holds the first of those that wait up on purpose.
  var fault: ForwardFault?

  init(_ service: ForwardService, number: Int, _ connection: TLSConnection) {
    (self.service, self.number, self.connection) = (service, number, connection)
    window = ForwardWindow(size: service.options.window)
  }

  var forgottenCount: Int { forgotten.count }
  var capturedAs: UInt32 { provider?.connection ?? 0 }

  // MARK: The provider's side

  func connectionOpened(_ connection: TLSConnection) {
    switch service.identify(connection) {
    case .wrongEnvironment: connection.close()
    case .provider(let provider):
      self.provider = provider
      self.provider?.connection = service.capture?.gatewayOpened(provider) ?? 0
      service.connections[number] = self
    }
  }

  func connection(_ connection: TLSConnection, received bytes: UnsafeRawBufferPointer) {
    guard let provider, !isEnding else { return }
    service.broker.noteRead()
    let failure = decoder.receive(bytes) {
      let frame = Array($0.frame)
      let isRefused = (LegacyCheck.rejection($0, service.limits) ?? provider.rejection) != nil
      waiting.append(.frame(frame, kept: isRefused ? nil : service.keep(frame, of: provider)))
      return .goOn
    }
    if let failure { waiting.append(.failure(failure)) }
    advance()
    connection.hold(decoder.heldBytes)
  }

  /// It may still read, and hears of a rejection of what it sent.
  func connectionPeerEnded(_ connection: TLSConnection) {
    hasHeardAll = true
    advance()
  }

  func connectionClosed(_ connection: TLSConnection, reason: String) {
    self.connection = nil
    giveUpStalled()
    forget(kept: [])
    advance()
  }

  /// These need not outlive the process once the connection is closed: until then its provider may not have heard of it.
  func forget(kept: [Int64]) {
    forgotten += kept
    guard connection == nil else { return }
    service.forget(kept: forgotten)
    forgotten = []
  }

  // MARK: Going on

  /// Begins what may begin, and reads on if nothing waits.
  func advance() {
    guard !isAdvancing else { return }
    isAdvancing = true
    // Beginning one may end the connection, and nothing waits then.
    while let next = waiting.first, window.mayBegin, begin(next) { waiting = waiting.dropFirst() }
    isAdvancing = false
    if waiting.isEmpty { waiting = [] }
    connection?.setPaused(!waiting.isEmpty && !isEnding)
    service.pump()
    if hasHeardAll, waiting.isEmpty, window.isEmpty { connection?.close() }
    forgetIfDone()
  }

  /// The verdict on one that was under way: no rejection means accepted, `push` if it was by the other service.
  func settled(_ sequence: UInt64, _ rejection: Rejection?, _ push: ForwardPush?) {
    if let ending = window.settle(sequence, rejection, push) {
      end(ending)
    } else if isEnding, window.isEmpty {
      endNow()
    }
    advance()
  }

  private func forgetIfDone() {
    if connection == nil, waiting.isEmpty, window.isEmpty { service.forget(self) }
  }

  // MARK: Frames

  /// False if it must wait.
  private func begin(_ next: Waiting) -> Bool {
    guard let provider, !isEnding else { return false }
    switch next {
    case .failure(let failure):
      _ = service.broker.recordFailure(
        failure, decoder.malformedFrame, from: provider, now: service.clock.now())
      refuse(failure.command, failure.identifier, .protocolError)
      return true
    case .frame(let bytes, let kept):
      return bytes.withUnsafeBytes { bytes in
        guard case .notification(let notification) = LegacyFrameParser.next(in: bytes) else { return true }
        return begin(notification, kept, provider)
      }
    }
  }

  private func begin(_ notification: LegacyNotification, _ kept: Int64?, _ provider: GatewayProvider) -> Bool
  {
    var submission = provider.submission(notification)
    if let rejection = LegacyCheck.rejection(notification, service.limits) ?? provider.rejection {
      submission.detail = NotificationDetail(rejection, notification, service.limits)
      _ = service.broker.recordRejection(submission, rejection, now: service.clock.now())
      let identifier = LegacyCheck.reportedIdentifier(notification, rejection, service.limits)
      refuse(notification.command.rawValue, identifier, rejection)
      return true
    }
    guard !window.holds(notification.token) else { return false }
    guard service.hasRoom else {
      service.waitForRoom(self)
      return false
    }
    guard !service.restored.holds(notification.token) else {
      service.waitForRestored(self)
      return false
    }
    if let isDone = strike(notification, provider) {
      if isDone, let kept { service.forget(kept: [kept]) }
      return isDone
    }
    let sequence = window.begin(
      command: notification.command.rawValue, identifier: notification.identifier,
      token: Array(submission.token))
    service.take(submission, kept: kept ?? 0, connection: number, sequence: sequence)
    return true
  }

  /// Refused by the gateway itself; those before it come first all the same.
  private func refuse(_ command: UInt8, _ identifier: UInt32, _ rejection: Rejection) {
    let sequence = window.begin(command: command, identifier: identifier, token: [])
    if let ending = window.settle(sequence, rejection) { end(ending) }
  }

  // MARK: The end

  /// The error packet, then nothing more: what waits is thrown away. What is under way already can't be called back. A bad
  /// command 0 gets no packet (`Documentation/binary-protocol.md#error-packet`).
  func end(_ ending: ForwardWindow.Ending) {
    isEnding = true
    dropWaiting()
    service.throwAway(of: number, accepted: ending.thrownAway)
    if ending.command != LegacyCommand.simple.rawValue {
      connection?.send(LegacyErrorPacket(status: ending.status, identifier: ending.identifier).bytes)
    }
    if ending.halfCloses { connection?.halfClose() } else { connection?.close() }
  }

  /// Maintenance: what has not begun is thrown away, and the provider hears how far it got once the rest is answered.
  func shutDown() {
    guard let connection, connection.isOpen else { return }
    (isEnding, isShuttingDown) = (true, true)
    dropWaiting()
    if window.isEmpty { endNow() }
  }

  func dropWaiting() {
    let kept = waiting.compactMap(\.kept)
    waiting = []
    forget(kept: kept)
    if let fault { service.faults.forget(self, fault.decision) }
    fault = nil
  }

  /// Everything up to the last accepted notification went through (`Documentation/binary-protocol.md#statuses`, 10).
  func endNow() {
    guard let connection, connection.isOpen else { return }
    isEnding = true
    if let last = window.lastAccepted {
      connection.send(LegacyErrorPacket(.shutdown, last).bytes)
      forgotten += service.kept(of: number)
    } else if isShuttingDown {
      // It hears nothing, and takes everything for accepted.
      forgotten = []
    }
    connection.close()
  }
}
