import Basics
import Faults
import ProviderAPI
import PushModel
import Transport

/// Answers channel management on the gateway and feedback ports (`Documentation/provider-api.md#channel-management`).
final class ChannelResponder: HTTP2Responder {
  private let identity: ProviderIdentity
  private let environment: Environment
  private let handler: ChannelRequestHandler
  private let service: ProviderService
  private unowned let owner: HTTP2Connection
  /// The listener that the connection came by.
  private let place: FaultPlace

  init(_ service: ProviderService, _ owner: HTTP2Connection, at place: FaultPlace) {
    (self.service, self.owner, self.place) = (service, owner, place)
    environment = service.environment(serverName: owner.connection.requestedName)
    identity = service.identity(of: owner.connection, environment: environment)
    handler = ChannelRequestHandler(
      identity: identity, environment: environment, directory: service.channels,
      apnsIDs: service.apnsIDs,
      options: service.options.checks)
  }

  var connectionRejection: Rejection? { identity.connectionRejection(in: environment) }
  var initialStreams: Int { StreamThrottle.full }

  func respond(to request: HTTP2Request, on session: HTTP2ServerSession, now: Timestamp) {
    let decision = service.faults.decide(
      request.message, at: place, connection: owner.connection.remoteAddress)
    guard let decision else { return answer(request, handler.answer(request.message, now: now), on: session) }
    owner.inject(request, decision) { [unowned self] fate in
      if let judged = judge(request.message, fate, decision) { answer(request, judged, on: session) }
    }
  }

  /// It is judged when the fault is through with it, so that what is refused has changed nothing; the history is of pushes, and
  /// does not have it. Nil for no answer.
  private func judge(_ message: HTTPMessage, _ fate: FaultFate, _ decision: FaultEngine.Decision)
    -> ChannelAnswer?
  {
    let now = service.clock.now()
    return switch fate {
    case .take: handler.answer(message, now: now)
    case .takeInSilence: carryOut(message, now: now)
    case .refuse(let refusal):
      handler.refuse(message, refusal.rejection, explanation: decision.words, now: now)
    case .swallow: nil
    }
  }

  /// Does what is asked for, and answers nothing.
  private func carryOut(_ message: HTTPMessage, now: Timestamp) -> ChannelAnswer? {
    _ = handler.answer(message, now: now)
    _ = service.channels.takeAsked()
    return nil
  }

  /// Answers now, or when another node has done it.
  private func answer(_ request: HTTP2Request, _ answer: ChannelAnswer, on session: HTTP2ServerSession) {
    guard let asked = service.channels.takeAsked() else { return send(answer, to: request, on: session) }
    asked.then = { [weak self] in self?.settled($0, request, answer, on: session) }
  }

  private func settled(
    _ isDone: Bool, _ request: HTTP2Request, _ answer: ChannelAnswer, on session: HTTP2ServerSession
  ) {
    guard !request.isCancelled else { return session.drop(request) }
    send(isDone ? answer : unanswered(request), to: request, on: session)
    owner.writeOutput()
  }

  /// Nobody knows whether it was done.
  private func unanswered(_ request: HTTP2Request) -> ChannelAnswer {
    let words = Explanation(
      rule: Phrase(Rejection.serviceUnavailable.reason),
      expected: "an answer from the leader of the channel's zone",
      got: "none")
    return handler.refuse(
      request.message, .serviceUnavailable, explanation: words, now: service.clock.now())
  }

  private func send(_ answer: ChannelAnswer, to request: HTTP2Request, on session: HTTP2ServerSession) {
    var response = HTTP2Response(status: answer.status, apnsID: answer.requestID, body: answer.body)
    response.idField = .apnsRequestId
    if let channel = answer.channelID { response.fields = [("apns-channel-id", channel.text)] }
    if service.options.explains, let rejected = answer.rejected {
      response.explanation = rejected.explanation
    }
    session.respond(to: request, with: response)
  }
}
