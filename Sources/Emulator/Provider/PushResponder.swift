import Basics
import Broker
import ProviderAPI
import PushModel
import Transport

/// Answers `POST /3/device/…` and broadcasts of one connection.
final class PushResponder: HTTP2Responder {
  private let service: ProviderService
  private let requests: ProviderRequests
  private unowned let owner: HTTP2Connection
  private var throttle: StreamThrottle
  private let pushes: RequestWatch
  var watch: RequestWatch? { pushes }

  init(_ service: ProviderService, _ owner: HTTP2Connection) {
    let environment = service.environment(serverName: owner.connection.requestedName)
    let identity = service.identity(of: owner.connection, environment: environment)
    (self.service, self.owner) = (service, owner)
    pushes = RequestWatch(service.traffic, identity, environment, owner.connection)
    requests = ProviderRequests(
      service, identity: identity, environment: environment, interface: .provider, number: pushes.number)
    throttle = StreamThrottle(
      usesTokens: identity.usesTokens, throttlesRejections: service.options.throttlesRejections)
    if connectionRejection == .badCertificateEnvironment {
      service.traffic.advice.saw(.otherEnvironment, on: pushes.number)
    }
  }

  deinit { pushes.ended(nil) }

  var connectionRejection: Rejection? { requests.identity.connectionRejection(in: requests.environment) }
  var initialStreams: Int { throttle.limit }

  func respond(to request: HTTP2Request, on session: HTTP2ServerSession, now: Timestamp) {
    let message = request.message
    let judged = requests.judge(message, now: now)
    pushes.judged(message, now: now)
    let mayInject = service.faults.engine.injectsIntoPushes || judged.mayBeMagic
    if mayInject, faulted(request, judged, session) { return }
    finish(request, judged, requests.act(judged, on: message, now: now), session)
  }

  /// Answers now, or when the verdict is there.
  private func finish(
    _ request: HTTP2Request, _ judged: JudgedRequest, _ action: ProviderAction, _ session: HTTP2ServerSession
  ) {
    switch action {
    case .done(let outcome): answer(request, judged, outcome, session)
    case .outstanding(let push):
      push.then = { [weak self] in self?.settled($0, request, judged, session) }
    }
  }

  private func settled(
    _ result: SubmissionResult?, _ request: HTTP2Request, _ judged: JudgedRequest,
    _ session: HTTP2ServerSession
  ) {
    // Its provider gets no answer, and sends it again.
    guard let result else { return }
    guard !request.isCancelled else { return session.drop(request) }
    answer(request, judged, requests.outcome(result, judged, request.message), session)
    owner.writeOutput()
  }

  private func answer(
    _ request: HTTP2Request, _ judged: JudgedRequest, _ outcome: ProviderOutcome,
    _ session: HTTP2ServerSession
  ) {
    guard let response = outcome.response else { return }
    let isAuthenticated = requests.hasAuthenticated(judged)
    if let limit = throttle.requestJudged(authenticated: isAuthenticated, rejection: outcome.rejection),
      !owner.hasFixedStreams
    {
      session.setMaximumConcurrentStreams(limit)
      pushes.limitsStreams(to: limit)
    }
    session.respond(to: request, with: response)
  }

  @inline(never)
  private func faulted(
    _ request: HTTP2Request, _ judged: JudgedRequest, _ session: HTTP2ServerSession
  ) -> Bool {
    let decision = service.faults.decide(
      request.message, judged, .provider, requests.identity, connection: owner.connection.remoteAddress)
    guard let decision else { return false }
    owner.inject(request, decision) { [unowned self] fate in
      let action = requests.apply(fate, decision, judged, request.message, now: service.clock.now())
      finish(request, judged, action, session)
    } swallow: { [unowned self] words in
      requests.swallow(judged, request.message, decision, words, now: service.clock.now())
    }
    return true
  }
}

extension ProviderIdentity {
  /// The topic by which a capture names a certificate; nil without one.
  var captureTopic: String? {
    guard case .certificate(let certificate) = self else { return nil }
    return certificate.impliedTopic?.name ?? certificate.topics.map(\.name).min()
  }
}
