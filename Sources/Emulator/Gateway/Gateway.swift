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
  private static let patience: Int64 = 100_000_000

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
  private let identities: ProviderIdentities
  private let logger: Logger
  private var connections: [ObjectIdentifier: GatewayConnection] = [:]
  private var held: [Held] = []
  private var retry: LoopEvent?
  /// Takes every connection, if there is one.
  var forward: ForwardService?

  init(
    loop: EventLoop, broker: Broker, clock: EmulatorClock, limits: LegacyLimits,
    identities: ProviderIdentities,
    logger: Logger, faults: FaultService
  ) {
    (self.broker, self.clock, self.limits) = (broker, clock, limits)
    (self.identities, self.logger, self.faults) = (identities, logger, faults)
    retry = LoopEvent(timerOn: loop) { [unowned self] in resumeHeld() }
  }

  func makeConnection(_ connection: SocketConnection) -> any ConnectionHandler {
    if let forward { return forward.makeConnection(connection) }
    let gateway = GatewayConnection(self, connection)
    connections[ObjectIdentifier(gateway)] = gateway
    return gateway
  }

  func identify(_ connection: SocketConnection) -> GatewayIdentification {
    identities.identify(connection, listener: "gateway")
  }

  func forget(_ connection: GatewayConnection, _ reason: String) {
    connection.captureEnd()
    connections[ObjectIdentifier(connection)] = nil
    // One that was held back when it ended must not be told to go on.
    held.removeAll { $0.connection === connection }
    logger.log(.debug, "gateway connection ended", [("because", .string(reason))])
  }

  func recordFailure(
    _ failure: LegacyParseFailure, _ frame: [UInt8], from provider: GatewayProvider, now: Timestamp
  ) -> UInt64 {
    broker.recordFailure(failure, frame, from: provider, now: now)
  }

  // MARK: What becomes of a frame

  /// Checks a notification and submits it.
  @inline(__always)
  func submit(_ notification: LegacyNotification, from provider: GatewayProvider, now: Timestamp)
    -> SubmissionResult
  {
    if let early = LegacyCheck.rejection(notification, limits) ?? provider.rejection {
      return refuse(notification, early, detail(early, notification, provider), from: provider, now: now)
    }
    let result = broker.submit(provider.plain(notification), detail: provider.waived, now: now)
    if let rejection = result.rejection {
      broker.journal.attach(detail(rejection, notification, provider), to: result.id)
    }
    return result
  }

  /// Does what a fault wants of one.
  func carryOut(
    _ fate: FaultStep, _ decision: FaultEngine.Decision, _ notification: LegacyNotification,
    from provider: GatewayProvider, now: Timestamp
  ) -> SubmissionResult {
    switch fate {
    case .take where decision.isMagic: return takeAnyway(notification, from: provider, now: now)
    case .take: return submit(notification, from: provider, now: now)
    case .refuse(let refusal):
      let detail = NotificationDetail(decision, isAnswered: true)
      return refuse(notification, refusal.rejection, detail, from: provider, now: now)
    default:
      let detail = NotificationDetail(decision, isAnswered: false)
      return refuse(notification, .internalServerError, detail, from: provider, now: now)
    }
  }

  /// Accepts what no device is there for.
  private func takeAnyway(
    _ notification: LegacyNotification, from provider: GatewayProvider, now: Timestamp
  ) -> SubmissionResult {
    if let early = LegacyCheck.rejection(notification, limits) ?? provider.rejection {
      return refuse(notification, early, detail(early, notification, provider), from: provider, now: now)
    }
    return SubmissionResult(id: broker.recordAccepted(provider.submission(notification), now: now))
  }

  @inline(never)
  private func refuse(
    _ notification: LegacyNotification, _ rejection: Rejection, _ detail: NotificationDetail,
    from provider: GatewayProvider, now: Timestamp
  ) -> SubmissionResult {
    var submission = provider.submission(notification)
    submission.detail = detail
    let id = broker.recordRejection(submission, rejection, now: now)
    return SubmissionResult(id: id, rejection: rejection)
  }

  // MARK: Slowing providers down

  func waitForDevice(_ link: DeviceLink?, _ connection: GatewayConnection) {
    if held.isEmpty { retry?.start(afterNanoseconds: Self.patience) }
    held.append(Held(connection: connection, link: link, since: SystemClock.now()))
  }

  /// Devices have acknowledged something, or the patience is over.
  func resumeHeld() {
    guard !held.isEmpty else { return }
    retry?.cancel()
    let now = SystemClock.now()
    let waiting = held
    held = []
    for provider in waiting {
      provider.link?.providerWaited(from: provider.since, until: now)
      provider.connection.resume()
    }
  }

  /// Tells every provider how far it got, and ends.
  func shutDown() {
    for connection in connections.values { connection.shutDown() }
  }
}
