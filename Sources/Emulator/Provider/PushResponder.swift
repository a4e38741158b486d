import ProviderAPI
import PushModel
import Transport

/// Answers `POST /3/device/…` and broadcasts of one connection.
final class PushResponder: HTTP2Responder {
  private let service: ProviderService
  private let environment: Environment
  private let identity: ProviderIdentity
  private let check: ProviderRequestCheck
  private lazy var broadcasts = BroadcastCheck(
    identity: identity, environment: environment, directory: service.channels, messageIDs: service.messageIDs,
    options: service.options.checks)
  private var throttle: StreamThrottle
  /// In the capture; 0 for none.
  private let number: UInt32

  init(_ service: ProviderService, _ connection: TLSConnection) {
    self.service = service
    environment = service.environment(serverName: connection.serverName)
    identity = service.identity(of: connection, environment: environment)
    check = ProviderRequestCheck(
      identity: identity, environment: environment, directory: service.directory,
      messageIDs: service.messageIDs,
      options: service.options.checks)
    throttle = StreamThrottle(
      usesTokens: identity.usesTokens, throttlesRejections: service.options.throttlesRejections)
    number = service.capture?.connectionOpened(.provider, environment, topic: identity.captureTopic) ?? 0
  }

  deinit { service.capture?.connectionClosed(number) }

  private func source(_ message: HTTPMessage) -> PushSource {
    PushSource(connection: number, message, service.capture)
  }

  var connectionRejection: Rejection? { identity.connectionRejection(in: environment) }
  var initialStreams: Int { throttle.limit }

  func respond(to request: HTTP2Request, on session: HTTP2ServerSession, now: Timestamp) {
    if BroadcastCheck.isBroadcast(request.message) {
      broadcast(request, session, now)
    } else {
      push(request, session, now)
    }
  }

  private func push(_ request: HTTP2Request, _ session: HTTP2ServerSession, _ now: Timestamp) {
    switch check.judge(request.message, now: now) {
    case .accepted(let accepted):
      let result = service.submit(
        accepted, request.message, interface: .provider, environment: environment, now: now,
        source: source(request.message))
      guard let rejection = result.rejection else {
        adjust(session, nil, check.hasAuthenticated)
        session.respond(
          to: request,
          with: HTTP2Response(
            status: 200, messageID: accepted.messageID, uniqueID: service.uniqueID(in: environment)))
        return
      }
      // The broker saw what the checks did not: the token map changed in between, which one thread rules out.
      refuse(
        request, session, check.refuse(request.message, rejection, got: rejection.sentence), .apnsId,
        check.hasAuthenticated)
    case .rejected(let rejected):
      service.record(
        rejected, request.message, interface: .provider, environment: environment, now: now,
        source: source(request.message))
      refuse(request, session, rejected, .apnsId, check.hasAuthenticated)
    }
  }

  private func broadcast(_ request: HTTP2Request, _ session: HTTP2ServerSession, _ now: Timestamp) {
    switch broadcasts.judge(request.message, now: now) {
    case .accepted(let accepted):
      service.broadcast(
        accepted, request.message, environment: environment, now: now, source: source(request.message))
      adjust(session, nil, broadcasts.hasAuthenticated)
      var response = HTTP2Response(
        status: 200, messageID: accepted.requestID, uniqueID: service.uniqueID(in: environment))
      response.idField = .apnsRequestId
      session.respond(to: request, with: response)
    case .rejected(let rejected):
      service.record(
        rejected, request.message, interface: .provider, environment: environment, now: now,
        source: source(request.message))
      refuse(request, session, rejected, .apnsRequestId, broadcasts.hasAuthenticated)
    }
  }

  private func refuse(
    _ request: HTTP2Request, _ session: HTTP2ServerSession, _ rejected: RejectedRequest,
    _ idField: ProviderField, _ isAuthenticated: Bool
  ) {
    adjust(session, rejected.rejection, isAuthenticated)
    var response = HTTP2Response(
      status: rejected.rejection.status, messageID: rejected.messageID, body: rejected.body)
    response.idField = idField
    session.respond(to: request, with: response)
  }

  private func adjust(_ session: HTTP2ServerSession, _ rejection: Rejection?, _ isAuthenticated: Bool) {
    guard let limit = throttle.requestJudged(authenticated: isAuthenticated, rejection: rejection) else {
      return
    }
    session.setMaximumConcurrentStreams(limit)
  }
}

extension ProviderIdentity {
  /// The topic by which a capture names a certificate; nil without one.
  var captureTopic: String? {
    guard case .certificate(let certificate) = self else { return nil }
    return certificate.impliedTopic?.name ?? certificate.topics.map(\.name).min()
  }

  /// Why a connection of this provider can't go on in `environment` (`spec/provider-protocol.md` C.4).
  func connectionRejection(in environment: Environment) -> Rejection? {
    guard case .certificate(let certificate) = self else { return nil }
    return certificate.connectionRejection(in: environment)
  }
}
