import Broker
import CourierWire
import Credentials
import PushModel

/// What a device asks for.
extension CourierConnection {
  func identify(_ request: ConnectRequest, _ instant: Instant, _ now: Timestamp) {
    switch service.verify(request, connection.peerCertificate) {
    case .success(let device): admit(device, request, instant, now)
    case .failure(let refusal):
      service.logger.log(.warning, "device refused", [("because", .string(refusal.sentence))])
      answer(session.identityRefused(date: CourierService.worldDate()))
    }
  }

  private func admit(
    _ device: VerifiedDevice, _ request: ConnectRequest, _ instant: Instant, _ now: Timestamp
  ) {
    let environment =
      connection.serverName.flatMap { Environment(serverName: $0) } ?? service.defaultEnvironment
    guard
      let connected = broker.connect(
        device.udid, keyFingerprint: device.keyFingerprint, environment: environment,
        offeredBaseToken: request.baseToken, link: link, now: now)
    else { return answer(session.identityRefused(date: CourierService.worldDate())) }
    for topic in request.topicNames { _ = broker.registry.topic(named: topic) }
    identities.removeAll { $0.session.device == connected.session.device }
    identities.append(Identity(baseToken: connected.baseToken, session: connected.session))
    service.logger.log(
      .info, "device connected",
      [("udid", .string(device.udid.text)), ("environment", .string(environment.name))])
    answer(
      session.identityAccepted(
        request, baseToken: connected.baseToken, tokenWasKnown: connected.tokenWasKnown, at: instant,
        date: CourierService.worldDate()))
  }

  private func answer(_ action: CourierServerSession.VerdictAction) {
    switch action {
    case .nothing: break
    case .send(let bytes): sendAnswer(bytes)
    case .sendAndClose(let bytes, let reason):
      write(bytes)
      close(reason)
    }
  }

  func replaceFilter(_ update: FilterUpdate, _ token: DeviceToken, _ now: Timestamp) {
    guard let identity = identity(token) else { return }
    let count = broker.setFilter(identity.session, enabled: update.enabled, now: now)
    if count == 0 { sendUnsolicited(NoStorage(baseToken: token).encoded) }
  }

  func provideToken(
    _ request: AppTokenRequest, _ token: DeviceToken, _ instant: Instant, _ now: Timestamp
  ) {
    if let name = request.topicName { _ = broker.registry.topic(named: name) }
    guard let owner = identity(token)?.session else { return }
    if let held = request.heldToken, broker.wasRemoved(held, from: owner) {
      return sendAnswer(
        session.tokenProvided(nil, for: request, refusal: AppTokenResponse.statusRemoved, at: instant))
    }
    let appToken = broker.appToken(owner, topic: request.topic, now: now)
    sendAnswer(session.tokenProvided(appToken, for: request, at: instant))
  }

  func acknowledge(_ receipt: Acknowledgement, _ now: Timestamp) {
    switch broker.acknowledge(link, messageId: receipt.messageId, status: receipt.status, now: now) {
    case .taken: service.devicesMadeProgress = true
    case .stray: break
    case .tooManyStrays: drop(.tooManyStrayAcknowledgements)
    }
  }

  /// Joins and leaves channels for one identity; one refusal refuses the whole answer, what could be done stays done.
  func subscribe(_ subscription: ChannelSubscription, _ now: Timestamp) {
    guard let session = identity(subscription.baseToken)?.session else { return }
    if subscription.replaces { broker.leaveAll(session) }
    var isDone = true
    for entry in subscription.entries {
      guard let topic = Topic(entry.topic).flatMap({ broker.registry.topic(named: $0) }) else {
        isDone = false
        continue
      }
      let key = { ChannelTable.Key(topic: topic, environment: session.environment, id: $0) }
      for channel in entry.leave { broker.leave(session, key(channel.id)) }
      for channel in entry.join {
        let seen = channel.lastMessageTime.map { Timestamp(nanoseconds: Int64(clamping: $0)) }
        isDone = broker.join(session, key(channel.id), seenUntil: seen, now: now) && isDone
      }
    }
    write(
      ChannelConfirmation(
        index: subscription.index, baseToken: subscription.baseToken,
        status: isDone ? 0 : ChannelConfirmation.statusRefused
      ).encoded)
  }

  private func identity(_ token: DeviceToken) -> Identity? { identities.first { $0.baseToken == token } }
}
