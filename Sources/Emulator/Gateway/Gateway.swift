import Broker
import Credentials
import Faults
import LegacyWire
import Platform
import PushModel
import Transport

/// The binary gateway: what its connections share.
final class Gateway {
  /// How long a provider is held back before it may try again, in nanoseconds, if no device makes progress.
  private static let retryInterval: Int64 = 100_000_000

  /// A provider that is held back for a device.
  private struct Held {
    var connection: GatewayConnection
    /// What it waits for; nil if that went in the same moment.
    var link: DeviceLink?
    var since: Instant
  }

  let broker: Broker
  let clock: EmulatorClock
  let limits: LegacyLimits
  /// Where what comes in is captured; nil while it is not.
  var capture: CaptureRecorder?
  let faults: FaultService
  let identities: ProviderIdentities
  private let logger: Logger
  /// Where what has passed the checks goes.
  var sink: any PushSink
  let waiters: PushWaiters
  /// By number. One whose provider has gone is here until all that it sent is settled.
  private var connections: [Int: GatewayConnection] = [:]
  private var held: [Held] = []
  private var retry: LoopEvent?

  init(
    loop: EventLoop, broker: Broker, clock: EmulatorClock, limits: LegacyLimits,
    identities: ProviderIdentities, logger: Logger, faults: FaultService, sink: any PushSink,
    waiters: PushWaiters
  ) {
    (self.broker, self.clock, self.limits) = (broker, clock, limits)
    (self.sink, self.waiters) = (sink, waiters)
    (self.identities, self.logger, self.faults) = (identities, logger, faults)
    retry = LoopEvent(timerOn: loop) { [unowned self] in resumeHeld() }
  }

  func makeConnection(_ connection: SocketConnection) -> any ConnectionHandler {
    let number = waiters.makeNumber()
    let gateway = GatewayConnection(self, number: number, connection)
    connections[number] = gateway
    return gateway
  }

  /// The connection is gone; what came on it may go on.
  func noteEnd(of connection: GatewayConnection, _ reason: String) {
    // One that was held back when it ended must not be told to go on.
    held.removeAll { $0.connection === connection }
    logger.log(.debug, "gateway connection ended", [("because", .string(reason))])
  }

  /// Nothing more comes of the connection, in the capture under `number`.
  func forget(_ connection: Int, capturedAs number: UInt32) {
    guard connections.removeValue(forKey: connection) != nil else { return }
    waiters.remove(connection)
    if number != 0 { capture?.connectionClosed(number) }
  }

  /// A frame that can't be parsed is remembered too, with as much of it as was understood.
  func recordFailure(
    _ failure: LegacyParseFailure, _ frame: [UInt8], from provider: GatewayProvider, now: Timestamp
  ) -> UInt64 {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    var submission = Submission(
      interface: .gateway, topic: provider.topic, environment: provider.environment, token: nothing,
      payload: nothing)
    submission.command = failure.command
    submission.identifier = failure.identifier
    submission.detail = NotificationDetail(explanation: failure.sentence)
    submission.connection = provider.connection
    return frame.withUnsafeBytes {
      submission.frame = $0
      return broker.routing.recordRejection(submission, .protocolError, now: now)
    }
  }

  // MARK: What becomes of a frame

  /// Why a notification is refused whatever its token is; nil if it is not.
  @inline(__always)
  func refusal(of notification: LegacyNotification, from provider: GatewayProvider) -> Rejection? {
    LegacyCheck.rejection(notification, limits) ?? provider.rejection
  }

  /// Checks a notification and submits it.
  @inline(__always)
  func submit(
    _ notification: LegacyNotification, from provider: GatewayProvider, to sink: any PushSink,
    for ticket: PushTicket, now: Timestamp
  ) -> PushVerdict {
    if let early = refusal(of: notification, from: provider) {
      return .now(
        refuse(notification, early, detail(early, notification, provider), from: provider, now: now))
    }
    let verdict = sink.submit(
      provider.plain(notification), detail: provider.waived, for: ticket, now: now)
    if case .now(let result) = verdict, let rejection = result.rejection {
      broker.journal.attach(detail(rejection, notification, provider), to: result.id)
    }
    return verdict
  }

  /// Does what a fault wants of one; nil if it is to be submitted after all. A magic token is taken though it is nobody's.
  func apply(
    _ fate: FaultFate, _ decision: FaultEngine.Decision, _ notification: LegacyNotification,
    from provider: GatewayProvider, now: Timestamp
  ) -> SubmissionResult? {
    switch fate {
    case .take:
      return decision.isMagic ? takeAnyway(notification, from: provider, now: now) : nil
    case .refuse(let refusal):
      let detail = NotificationDetail(decision, isAnswered: true)
      return refuse(notification, refusal.rejection, detail, from: provider, now: now)
    case .swallow:
      let detail = NotificationDetail(decision, isAnswered: false)
      return refuse(notification, .internalServerError, detail, from: provider, now: now)
    }
  }

  /// Accepts what no device is there for.
  private func takeAnyway(
    _ notification: LegacyNotification, from provider: GatewayProvider, now: Timestamp
  ) -> SubmissionResult {
    if let early = refusal(of: notification, from: provider) {
      return refuse(notification, early, detail(early, notification, provider), from: provider, now: now)
    }
    return SubmissionResult(id: broker.history.recordAccepted(provider.submission(notification), now: now))
  }

  @inline(never)
  private func refuse(
    _ notification: LegacyNotification, _ rejection: Rejection, _ detail: NotificationDetail,
    from provider: GatewayProvider, now: Timestamp
  ) -> SubmissionResult {
    var submission = provider.submission(notification)
    submission.detail = detail
    let id = broker.routing.recordRejection(submission, rejection, now: now)
    return SubmissionResult(id: id, rejection: rejection)
  }

  // MARK: Slowing providers down

  func waitForDevice(_ link: DeviceLink?, _ connection: GatewayConnection) {
    if held.isEmpty { retry?.start(afterNanoseconds: Self.retryInterval) }
    held.append(Held(connection: connection, link: link, since: SystemClock.now()))
  }

  /// Devices have acknowledged something, or the retry interval is over.
  func resumeHeld() {
    guard !held.isEmpty else { return }
    retry?.cancel()
    let now = SystemClock.now()
    let waiting = held
    held = []
    for provider in waiting {
      provider.link?.providerWaited(from: provider.since, until: now)
      provider.connection.deviceCaughtUp()
    }
  }

  /// Tells every provider how far it got, and ends, once the verdicts are here that are outstanding.
  func shutDown() {
    for connection in connections.values { connection.shutDown() }
  }
}
