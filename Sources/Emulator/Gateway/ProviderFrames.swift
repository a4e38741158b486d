import Basics
import Broker
import Credentials
import Faults
import LegacyWire
import PushModel

/// Who a gateway connection belongs to, as its certificate says.
struct GatewayProvider {
  /// The topic that the certificate implies; nil if it names none: then every frame gets status 3.
  var topic: TopicID?
  var environment: Environment
  /// All topics of the certificate, for the feedback service.
  var topics: Set<TopicID>
  /// What the topic says of every push, as frames say nothing of it.
  var pushType: PushType?
  /// Its connection, for those who watch providers; 0 for none.
  var connection: UInt32 = 0
  /// What strict has against the certificate; nil unless lenient let it through.
  var waived: NotificationDetail?
  /// What may become of the certificate while the connection is open; nil in lenient mode.
  var standing: StandingCertificate?
  /// The name of its topic; nil where nobody needs it again.
  var name: Topic?

  /// Looks its topic up again if the id is another's by now, as nothing was of it.
  @inline(__always)
  mutating func refresh(_ registry: Registry) {
    guard let name, topic.map(registry.contains) != true else { return }
    topic = registry.topic(named: name)
  }

  /// Whether its certificate was revoked since the handshake, as of the turn's beginning. Compares one number as a rule.
  @inline(__always)
  var isRevoked: Bool {
    guard let standing, standing.mayBeRevoked else { return false }
    return standing.isRevoked
  }

  var rejection: Rejection? { topic == nil ? .missingTopic : nil }

  /// Of a frame alone; nil if it is no notification.
  func withSubmission<Result>(of frame: Span<UInt8>, _ body: (Submission) -> Result) -> Result? {
    guard case .notification(let notification) = LegacyFrameParser.next(in: frame) else { return nil }
    return body(submission(notification))
  }

  @inline(__always)
  @_lifetime(copy notification)
  func submission(_ notification: LegacyNotification) -> Submission {
    Submission(plain(notification), detail: waived)
  }

  @inline(__always)
  @_lifetime(copy notification)
  func plain(_ notification: LegacyNotification) -> PlainSubmission {
    var submission = PlainSubmission(
      interface: .gateway, topic: topic, environment: environment,
      token: notification.token.orNone, payload: notification.payload.orNone)
    submission.command = notification.command.rawValue
    submission.identifier = notification.identifier
    submission.frame = notification.frame
    submission.expiration = notification.expiration
    (submission.priority, submission.saysPriority) = (notification.priority, notification.saysPriority)
    submission.connection = connection
    submission.pushType = pushType
    return submission
  }
}

/// Checks frames and says what becomes of them, whether a connection brings them or a person at the console.
final class ProviderFrames {
  let broker: Broker
  let limits: LegacyLimits
  private let routing: Routing

  init(_ broker: Broker, _ limits: LegacyLimits) {
    (self.broker, self.limits, routing) = (broker, limits, broker.routing)
  }

  /// Why a notification is refused whatever its token is; nil if it is not.
  @inline(__always)
  func refusal(of notification: LegacyNotification, from provider: GatewayProvider) -> Rejection? {
    LegacyCheck.rejection(notification, limits) ?? provider.rejection
  }

  /// Checks a notification and submits it to a sink, or to this emulator's token map.
  @inline(__always)
  func submit(
    _ notification: LegacyNotification, from provider: GatewayProvider, to sink: (any PushSink)?,
    for ticket: PushTicket, now: Timestamp
  ) -> PushVerdict {
    if let early = refusal(of: notification, from: provider) {
      return .now(
        refuse(notification, early, detail(early, notification, provider), from: provider, now: now))
    }
    let push = provider.plain(notification)
    let verdict: PushVerdict =
      if let sink {
        sink.submit(push, detail: provider.waived, for: ticket, now: now)
      } else {
        .now(routing.submit(push, detail: provider.waived, now: now))
      }
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
    case .take, .takeInSilence:
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
    let id = routing.recordRejection(submission, rejection, now: now)
    return SubmissionResult(id: id, rejection: rejection)
  }

  /// A frame that can't be parsed is remembered too, with as much of it as was understood.
  func recordFailure(
    _ failure: LegacyParseFailure, _ frame: [UInt8], from provider: GatewayProvider, now: Timestamp
  ) -> UInt64 {
    var submission = Submission(
      interface: .gateway, topic: provider.topic, environment: provider.environment, token: .none,
      payload: .none)
    submission.plain.command = failure.command
    submission.plain.identifier = failure.identifier
    submission.detail = NotificationDetail(explanation: failure.sentence)
    submission.plain.connection = provider.connection
    submission.plain.frame = frame.span
    return routing.recordRejection(submission, .protocolError, now: now)
  }
}
