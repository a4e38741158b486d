import Broker
import Faults
import ProviderAPI
import PushModel
import Transport

/// A request that was judged. Nothing has been done about it yet; what it lends stays until its message is reset.
enum JudgedRequest {
  case push(ProviderVerdict)
  case broadcast(BroadcastVerdict)
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
  /// Their connection in the capture; 0 for none.
  let number: UInt32
  private let check: ProviderRequestCheck
  private let sink: any PushSink
  private lazy var broadcasts = BroadcastCheck(
    identity: identity, environment: environment, directory: service.channels, messageIDs: service.messageIDs,
    options: service.options.checks)

  init(
    _ service: ProviderService, identity: ProviderIdentity, environment: Environment, interface: Interface,
    number: UInt32 = 0
  ) {
    (self.service, self.identity, self.number) = (service, identity, number)
    (self.environment, self.interface, sink) = (environment, interface, service.sink)
    check = ProviderRequestCheck(
      identity: identity, environment: environment, directory: service.directory,
      messageIDs: service.messageIDs, options: service.options.checks)
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
    let ticket = PushTicket(waiter: service.waiters.makeNumber(), sequence: 0)
    let verdict = service.submit(
      accepted, message, to: sink, interface: interface, environment: environment, now: now,
      source: source(message), for: ticket)
    guard case .now(let result) = verdict else {
      return .outstanding(wait(verdict, ticket, accepted, message))
    }
    // Before `judged` is asked for the same, which takes it apart once more.
    if result.rejection == nil { return .done(success(accepted.messageID, .apnsId, result.id)) }
    return .done(outcome(result, judged, message))
  }

  private func broadcast(
    _ accepted: AcceptedBroadcast, _ judged: JudgedRequest, _ message: HTTPMessage, now: Timestamp
  ) -> ProviderAction {
    let ticket = PushTicket(waiter: service.waiters.makeNumber(), sequence: 0)
    let send = { [self] (now: Timestamp) in
      service.broadcast(
        accepted, message, environment: environment, now: now, source: source(message), for: ticket)
    }
    let verdict = send(now)
    guard case .now(let result) = verdict else {
      return .outstanding(
        OutstandingPush(verdict, ticket, service.waiters) { [service] in send(service.clock.now()) })
    }
    return .done(outcome(result, judged, message))
  }

  private func wait(
    _ verdict: PushVerdict, _ ticket: PushTicket, _ accepted: AcceptedNotification, _ message: HTTPMessage
  ) -> OutstandingPush {
    OutstandingPush(verdict, ticket, service.waiters) { [self] in
      service.submit(
        accepted, message, to: sink, interface: interface, environment: environment, now: service.clock.now(),
        source: source(message), for: ticket)
    }
  }

  /// What a provider is told of its push.
  func outcome(_ result: SubmissionResult, _ judged: JudgedRequest, _ message: HTTPMessage) -> ProviderOutcome
  {
    guard let rejection = result.rejection else {
      return success(judged.messageID, judged.idField, result.id)
    }
    // The token map changed since the checks saw it: another push of this turn, or a fault's delay.
    var refused = check.refuse(message, rejection, got: Phrase(rejection.sentence))
    (refused.goneAt, refused.messageID) = (result.goneAt, judged.messageID)
    return refusal(refused, judged, result.id)
  }

  /// Does what a fault wants of a push: a magic token that asks for no refusal is taken, though it is nobody's.
  func apply(
    _ fate: FaultFate, _ decision: FaultEngine.Decision, _ judged: JudgedRequest, _ message: HTTPMessage,
    now: Timestamp
  ) -> ProviderAction {
    switch fate {
    case .take where decision.isMagic && judged.lacksOnlyToken:
      let id = acceptAnyway(judged, message, now: now)
      return .done(success(judged.messageID, judged.idField, id))
    case .take: return act(judged, on: message, now: now)
    case .refuse(let refusal):
      let refused = decision.refusal(judged.messageID, refusal.rejection, now: now)
      return .done(
        reject(refused, judged, message, now: now, fault: decision.struck(isAnswered: true)))
    case .swallow:
      return .done(ProviderOutcome(id: swallow(judged, message, decision, decision.words, now: now)))
    }
  }

  /// Remembers a refusal and answers it.
  private func reject(
    _ rejected: RejectedRequest, _ judged: JudgedRequest, _ message: HTTPMessage, now: Timestamp,
    fault: StruckFault? = nil
  ) -> ProviderOutcome {
    let id = service.record(
      rejected, message, interface: interface, environment: environment, now: now, source: source(message),
      fault: fault)
    return refusal(rejected, judged, id)
  }

  /// Remembers a push that a fault left without an answer.
  @discardableResult
  func swallow(
    _ judged: JudgedRequest, _ message: HTTPMessage, _ decision: FaultEngine.Decision, _ words: Explanation,
    now: Timestamp
  ) -> UInt64 {
    let unanswered = RejectedRequest(.internalServerError, messageID: judged.messageID, explanation: words)
    return service.record(
      unanswered, message, interface: interface, environment: environment, now: now, source: source(message),
      fault: decision.struck(isAnswered: false))
  }

  /// Remembers a push as accepted that no device is there for.
  private func acceptAnyway(_ judged: JudgedRequest, _ message: HTTPMessage, now: Timestamp) -> UInt64 {
    service.recordAccepted(
      message, messageID: judged.messageID, interface: interface, environment: environment, now: now,
      source: source(message))
  }

  private func source(_ message: HTTPMessage) -> PushSource {
    PushSource(connection: number, message, service.capture)
  }

  private func success(_ messageID: MessageID, _ idField: ProviderField, _ id: UInt64) -> ProviderOutcome {
    var response = HTTP2Response(
      status: 200, messageID: messageID, uniqueID: service.uniqueID(in: environment))
    response.idField = idField
    return ProviderOutcome(id: id, response: response)
  }

  private func refusal(_ rejected: RejectedRequest, _ judged: JudgedRequest, _ id: UInt64) -> ProviderOutcome
  {
    var response = HTTP2Response(
      status: rejected.rejection.status, messageID: rejected.messageID, body: rejected.body)
    response.idField = judged.idField
    if service.options.explains { response.explanation = rejected.explanation }
    return ProviderOutcome(id: id, response: response, rejection: rejected.rejection)
  }
}

extension JudgedRequest {
  var messageID: MessageID {
    switch self {
    case .push(.accepted(let accepted)): accepted.messageID
    case .broadcast(.accepted(let accepted)): accepted.requestID
    case .push(.rejected(let rejected)), .broadcast(.rejected(let rejected)): rejected.messageID
    }
  }

  /// Which field the id goes out in.
  var idField: ProviderField {
    if case .broadcast = self { return .apnsRequestId }
    return .apnsId
  }
}
