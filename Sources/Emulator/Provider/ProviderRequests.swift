import Basics
import Broker
import Faults
import ProviderAPI
import PushModel
import Recorder
import Transport

/// A request that was judged. Nothing has been done about it yet.
enum JudgedRequest {
  case push(ProviderVerdict<AcceptedNotification>)
  case broadcast(ProviderVerdict<AcceptedBroadcast>)
}

/// What became of a request.
struct ProviderOutcome {
  /// The notification's id in the history.
  var id: UInt64
  /// What its provider is told; nil for nothing, as a fault wants it.
  var response: HTTP2Response?
  var rejection: Rejection?
}

/// What was done about a request.
enum ProviderAction {
  case done(ProviderOutcome)
  /// The verdict comes later; `ProviderRequests.outcome` says what it means.
  case outstanding(OutstandingPush)
}

/// Judges the requests of one provider and acts on them, whichever HTTP they come by.
final class ProviderRequests {
  let service: ProviderService
  let interface: Interface
  let environment: Environment
  let identity: ProviderIdentity
  /// Their connection, for those who watch providers; 0 for none.
  let number: UInt32
  private let check: ProviderRequestCheck
  private let sink: (any PushSink)?
  private lazy var broadcasts = BroadcastCheck(
    identity: identity, environment: environment, directory: service.channels, apnsIDs: service.apnsIDs,
    options: service.options.checks)

  init(
    _ service: ProviderService, identity: ProviderIdentity, environment: Environment, interface: Interface,
    number: UInt32 = 0
  ) {
    (self.service, self.identity, self.number) = (service, identity, number)
    (self.environment, self.interface, sink) = (environment, interface, service.sink)
    check = ProviderRequestCheck(
      identity: identity, environment: environment, directory: service.directory,
      apnsIDs: service.apnsIDs, options: service.options.checks)
  }

  /// Judges a whole request. Broadcasts are for HTTP/2 alone.
  func judge(_ message: HTTPMessage, now: Timestamp) -> JudgedRequest {
    if interface == .provider, BroadcastCheck.isBroadcast(message) {
      return .broadcast(broadcasts.judge(message, now: now))
    }
    return .push(check.judge(message, now: now))
  }

  /// Whether such a request of this connection has shown a valid provider token.
  func hasAuthenticated(_ judged: JudgedRequest) -> Bool {
    if case .broadcast = judged { return broadcasts.hasAuthenticated }
    return check.hasAuthenticated
  }

  /// Does what the verdict says.
  func act(_ judged: JudgedRequest, on message: HTTPMessage, now: Timestamp) -> ProviderAction {
    switch judged {
    case .push(.accepted(let accepted)): return submit(accepted, judged, message, now: now)
    case .broadcast(.accepted(let accepted)):
      return broadcast(accepted, judged, message, now: now)
    case .push(.rejected(let rejected)), .broadcast(.rejected(let rejected)):
      return .done(reject(rejected, judged, message, now: now))
    }
  }

  @inline(__always)
  private func submit(
    _ accepted: AcceptedNotification, _ judged: JudgedRequest, _ message: HTTPMessage, now: Timestamp
  ) -> ProviderAction {
    // Whoever answers at once needs nobody to tell.
    let ticket = PushTicket(waiter: sink == nil ? 0 : service.waiters.makeNumber(), sequence: 0)
    let verdict = handOver(accepted, message, for: ticket, now: now)
    guard case .now(let result) = verdict else {
      return outstanding(verdict, ticket) { [self] in handOver(accepted, message, for: ticket, now: $0) }
    }
    // Before `judged` is asked for the same, which takes it apart once more.
    if result.rejection == nil { return .done(success(accepted.apnsID, .apnsId, result.id)) }
    return .done(outcome(result, judged, message))
  }

  private func broadcast(
    _ accepted: AcceptedBroadcast, _ judged: JudgedRequest, _ message: HTTPMessage, now: Timestamp
  ) -> ProviderAction {
    let ticket = PushTicket(waiter: service.waiters.makeNumber(), sequence: 0)
    let verdict = handOver(accepted, message, for: ticket, now: now)
    guard case .now(let result) = verdict else {
      return outstanding(verdict, ticket) { [self] in handOver(accepted, message, for: ticket, now: $0) }
    }
    return .done(outcome(result, judged, message))
  }

  private func outstanding(
    _ verdict: PushVerdict, _ ticket: PushTicket, submitAgain: @escaping (Timestamp) -> PushVerdict
  ) -> ProviderAction {
    .outstanding(
      OutstandingPush(verdict, ticket, service.waiters) { [clock = service.clock] in
        submitAgain(clock.now())
      })
  }

  /// What a provider is told of its push.
  func outcome(_ result: SubmissionResult, _ judged: JudgedRequest, _ message: HTTPMessage) -> ProviderOutcome
  {
    guard let rejection = result.rejection else {
      return success(judged.apnsID, judged.idField, result.id)
    }
    // The token map changed since the checks saw it: another push of this turn, or a fault's delay.
    var refused = check.refuse(message, rejection, got: Phrase(rejection.sentence))
    (refused.goneAt, refused.apnsID) = (result.goneAt, judged.apnsID)
    return refusal(refused, judged, result.id)
  }

  /// Does what a fault wants of a push: a magic token that asks for no refusal is taken, though it is nobody's.
  func apply(
    _ fate: FaultFate, _ decision: FaultEngine.Decision, _ judged: JudgedRequest, _ message: HTTPMessage,
    now: Timestamp
  ) -> ProviderAction {
    switch fate {
    case .take: return take(decision, judged, message, now: now)
    case .takeInSilence:
      let id =
        switch take(decision, judged, message, now: now) {
        case .done(let outcome): outcome.id
        // It goes on by itself.
        case .outstanding(let push): push.id ?? 0
        }
      service.broker.journal.note(decision.injected(isAnswered: false), into: id)
      return .done(ProviderOutcome(id: id))
    case .refuse(let refusal):
      let refused = decision.refusal(judged.apnsID, refusal.rejection, now: now)
      return .done(
        reject(refused, judged, message, now: now, fault: decision.injected(isAnswered: true)))
    case .swallow:
      return .done(ProviderOutcome(id: swallow(judged, message, decision, decision.words, now: now)))
    }
  }

  private func take(
    _ decision: FaultEngine.Decision, _ judged: JudgedRequest, _ message: HTTPMessage, now: Timestamp
  ) -> ProviderAction {
    guard decision.isMagic, judged.lacksOnlyToken else { return act(judged, on: message, now: now) }
    let history = service.broker.history
    let id = withSubmission(message, judged.apnsID) { history.recordAccepted($0, now: now) }
    return .done(success(judged.apnsID, judged.idField, id))
  }

  /// Remembers a refusal and answers it.
  private func reject(
    _ rejected: RejectedRequest, _ judged: JudgedRequest, _ message: HTTPMessage, now: Timestamp,
    fault: InjectedFault? = nil
  ) -> ProviderOutcome {
    refusal(rejected, judged, record(rejected, message, now: now, fault: fault))
  }

  /// Remembers a push that a fault left without an answer.
  @discardableResult
  func swallow(
    _ judged: JudgedRequest, _ message: HTTPMessage, _ decision: FaultEngine.Decision, _ words: Explanation,
    now: Timestamp
  ) -> UInt64 {
    let unanswered = RejectedRequest(.internalServerError, apnsID: judged.apnsID, explanation: words)
    return record(unanswered, message, now: now, fault: decision.injected(isAnswered: false))
  }

  private func success(_ apnsID: APNSID, _ idField: ProviderField, _ id: UInt64) -> ProviderOutcome {
    // The sandbox tells an id for its delivery log besides (`Documentation/provider-api.md#response`).
    let uniqueID = environment == .sandbox ? service.uniqueIDs.next() : nil
    var response = HTTP2Response(status: 200, apnsID: apnsID, uniqueID: uniqueID)
    response.idField = idField
    return ProviderOutcome(id: id, response: response)
  }

  private func refusal(_ rejected: RejectedRequest, _ judged: JudgedRequest, _ id: UInt64) -> ProviderOutcome
  {
    var response = HTTP2Response(
      status: rejected.rejection.status, apnsID: rejected.apnsID, body: rejected.body)
    response.idField = judged.idField
    if service.options.explains { response.explanation = rejected.explanation }
    return ProviderOutcome(id: id, response: response, rejection: rejected.rejection)
  }
}

/// Requests as the broker has them.
extension ProviderRequests {
  /// Hands an accepted notification to the sink, or to this emulator's token map.
  private func handOver(
    _ accepted: AcceptedNotification, _ message: HTTPMessage, for ticket: PushTicket, now: Timestamp
  ) -> PushVerdict {
    let registry = service.broker.registry
    let fields = remembered(message)
    return message.withPathToken { token in
      var submission = PlainSubmission(
        interface: interface, topic: accepted.topicHandle, environment: environment,
        token: token, payload: message.body)
      submission.registration = accepted.registration
      // It may have waited for a fault, and nothing here is of the topic of an unknown token: its handle may be nobody's by now.
      if accepted.registration == nil { submission.topic = registry.topic(named: accepted.topic) }
      submission.apnsID = accepted.apnsID
      submission.fields = fields.span
      (submission.connection, submission.credential) = (number, credential(of: message))
      submission.expiration = accepted.expiration.map { UInt32(clamping: $0) }
      (submission.priority, submission.saysPriority) = (accepted.priority, accepted.saysPriority)
      submission.pushType = accepted.pushType
      submission.collapseId = message[.apnsCollapseId].orNone
      let verdict = submit(submission, accepted.waived.first?.detail, for: ticket, now: now)
      if let team = accepted.team, let topic = submission.topic {
        registry.noteFirstUse(of: topic, by: team)
      }
      return verdict
    }
  }

  private func submit(
    _ submission: PlainSubmission, _ detail: NotificationDetail?, for ticket: PushTicket, now: Timestamp
  ) -> PushVerdict {
    if let sink { return sink.submit(submission, detail: detail, for: ticket, now: now) }
    return .now(service.broker.routing.submit(submission, detail: detail, now: now))
  }

  /// Hands an accepted broadcast to the sink; its id in the history is 0 if its channel has gone meanwhile.
  private func handOver(
    _ accepted: AcceptedBroadcast, _ message: HTTPMessage, for ticket: PushTicket, now: Timestamp
  ) -> PushVerdict {
    guard let key = service.channels.key(accepted.channel, accepted.bundle, environment) else {
      return .now(SubmissionResult(id: 0))
    }
    let fields = remembered(message)
    var submission = Submission(
      interface: .provider, topic: key.topic, environment: environment, token: .none,
      payload: message.body)
    submission.plain.apnsID = accepted.requestID
    submission.plain.pushType = .liveactivity
    submission.plain.fields = fields.span
    (submission.plain.connection, submission.plain.credential) = (number, credential(of: message))
    submission.detail = accepted.waived.first?.detail
    submission.plain.priority = accepted.priority
    submission.plain.expiration = UInt32(clamping: accepted.expiration)
    return service.broadcasts.broadcast(
      submission, to: key, storageSeconds: ChannelLimits.storageSeconds, for: ticket, now: now)
  }

  /// Remembers a refused request, with as much of it as can be told.
  private func record(
    _ rejected: RejectedRequest, _ message: HTTPMessage, now: Timestamp, fault: InjectedFault?
  ) -> UInt64 {
    withSubmission(message, rejected.apnsID) {
      var submission = $0
      submission.detail = NotificationDetail(rejected.explanation, fault: fault)
      let id = service.broker.routing.recordRejection(submission, rejected.rejection, now: now)
      if message.bodyByteCount > message.body.count {
        service.broker.journal.noteFullBody(of: id, bytes: message.bodyByteCount)
      }
      return id
    }
  }

  /// Lends as much of a request as can be told without its verdict.
  private func withSubmission(
    _ message: HTTPMessage, _ apnsID: APNSID, _ body: (Submission) -> UInt64
  ) -> UInt64 {
    let fields = remembered(message)
    return message.withPathToken { token in
      var submission = Submission(
        interface: interface, topic: topic(message), environment: environment,
        token: token, payload: message.body)
      submission.plain.apnsID = apnsID
      submission.plain.fields = fields.span
      (submission.plain.connection, submission.plain.credential) = (number, credential(of: message))
      submission.plain.pushType = message[.apnsPushType].flatMap { PushType($0) }
      submission.plain.priority = message.priority ?? .immediate
      return body(submission)
    }
  }

  /// Its header fields as they are remembered. Whoever keeps them makes the next request take memory of its own.
  private func remembered(_ message: HTTPMessage) -> [UInt8] {
    FieldBlock.write(message, to: &service.fields)
    return service.fields
  }

  /// What a capture calls its authorization; 0 for none.
  private func credential(of message: HTTPMessage) -> UInt32 {
    guard let capture = service.capture, let authorization = message[.authorization] else { return 0 }
    return capture.credential(authorization)
  }

  /// The topic that a request names, if it is known.
  private func topic(_ message: HTTPMessage) -> TopicID? {
    message[.apnsTopic].flatMap { Topic($0.text) }
      .flatMap(service.broker.registry.knownTopic)
  }
}

extension HTTPMessage {
  /// Lends the token of the path as bytes, or nothing if it is not hexadecimal.
  fileprivate func withPathToken<Answer>(_ body: (Span<UInt8>) -> Answer) -> Answer {
    let digits = 2 * DeviceToken.byteCount
    if let path = self[.path], path.count > digits, path[path.count - digits - 1] == UInt8(ascii: "/"),
      let token = DeviceToken(hexDigits: path.extracting(last: digits))
    {
      return token.withBytes(body)
    }
    return body(pathToken.span)
  }

  /// The token of the path as bytes, or nothing if it is not hexadecimal.
  var pathToken: [UInt8] {
    guard let path = self[.path] else { return [] }
    var start = path.count
    while start > 0, path[start - 1] != UInt8(ascii: "/") { start -= 1 }
    let digits = path.dropping(start)
    return start > 0 && digits.count <= 2 * Limits.longestToken ? Hex.decode(digits: digits) ?? [] : []
  }
}

extension JudgedRequest {
  /// Whether its token may be a magic one, as that of an accepted push hardly ever is; a rejected one may be anything.
  var mayBeMagic: Bool {
    guard case .push(.accepted(let accepted)) = self else { return true }
    return accepted.token.first == MagicToken.mark
  }

  var apnsID: APNSID {
    switch self {
    case .push(.accepted(let accepted)): accepted.apnsID
    case .broadcast(.accepted(let accepted)): accepted.requestID
    case .push(.rejected(let rejected)), .broadcast(.rejected(let rejected)): rejected.apnsID
    }
  }

  /// Which field the id goes out in.
  var idField: ProviderField {
    if case .broadcast = self { return .apnsRequestId }
    return .apnsId
  }
}
