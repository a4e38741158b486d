import Broker
import CourierWire
import Credentials
import PushModel
import Transport

/// One device connection: TLS bytes to frames to broker calls, and the broker's messages back.
final class CourierConnection: ConnectionHandler, CourierOutlet {
  /// Output that may wait for a device that does not read, in bytes: what the broker lets its messages take (8 MiB), and
  /// room for answers. Beyond it the device is not listened to until it has read.
  static let outputLimit = 9 << 20

  private struct Identity {
    var baseToken: DeviceToken
    var session: DeviceSession
  }

  private let service: CourierService
  private unowned let connection: TLSConnection
  private var decoder = CourierDecoder()
  private var session: CourierServerSession
  private var identities: [Identity] = []
  private lazy var link = DeviceLink(outlet: self, now: service.clock.now())
  /// Frames that nobody asked for and that came too soon after an answer (`spec/device-courier.md` 10.4).
  private var held: [UInt8] = []
  private var release: LoopEvent?
  private var isTouched = false
  /// An answer waits for the end of the turn: the pause behind it begins when it leaves.
  private var hasAnswered = false
  /// What goes wrong here on purpose; nil until something may.
  private var faults: CourierFaults?

  init(_ service: CourierService, _ connection: TLSConnection) {
    (self.service, self.connection) = (service, connection)
    session = CourierServerSession(acceptedAt: CourierService.realNow())
  }

  private var broker: Broker { service.broker }
  /// The devices on this connection.
  var udids: [UDID] {
    let devices = broker.registry.devices
    // A reset may have forgotten the devices of a connection that is ending.
    return identities.map { Int($0.session.device) }.filter(devices.indices.contains).map { devices[$0].udid }
  }

  // MARK: From the device

  func connectionOpened(_ connection: TLSConnection) {}

  func connection(_ connection: TLSConnection, received bytes: UnsafeRawBufferPointer) {
    let real = CourierService.realNow()
    if let reason = session.bytesReceived(bytes.count, at: real) { return close(reason) }
    let now = service.clock.now()
    var input = bytes
    do throws(CourierProtocolError) {
      while connection.isOpen, let frame = try decoder.next(&input, limit: session.frameLimit) {
        if let receipt = try session.acknowledgement(in: frame) {
          acknowledge(receipt, now)
        } else {
          perform(session.frameReceived(frame, at: real), real, now)
        }
      }
    } catch {
      perform(session.decodingFailed(error), real, now)
    }
    guard unsentBytes > Self.outputLimit else { return }
    connection.setPaused(true)
    connection.notifyWhenDrained()
  }

  func connectionDrained(_ connection: TLSConnection) { connection.setPaused(false) }

  func connectionClosed(_ connection: TLSConnection, reason: String) {
    session.connectionClosed()
    faults?.connectionClosed()
    let now = service.clock.now()
    for identity in identities { broker.disconnect(identity.session, now: now) }
    identities = []
    held = []
    release?.cancel()
    release = nil
    service.forget(self)
    service.logger.log(.debug, "device connection ended", [("because", .string(reason))])
  }

  func timePassed(_ now: Timestamp) {
    if let reason = session.timePassed(at: now) { close(reason) }
  }

  private func perform(_ action: CourierServerSession.FrameAction, _ real: Timestamp, _ now: Timestamp) {
    switch action {
    case .nothing: break
    case .send(let bytes): sendAnswer(bytes)
    case .verify(let request): identify(request, real, now)
    case .replaceFilter(let update, let token): replaceFilter(update, token, now)
    case .provideToken(let request, let token): provideToken(request, token, real, now)
    case .acknowledge(let receipt): acknowledge(receipt, now)
    case .subscribe(let subscription): subscribe(subscription, now)
    case .close(let reason): close(reason)
    }
  }

  private func identify(_ request: ConnectRequest, _ real: Timestamp, _ now: Timestamp) {
    switch service.verify(request) {
    case .success(let device): admit(device, request, real, now)
    case .failure(let refusal):
      service.logger.log(.warning, "device refused", [("because", .string(refusal.sentence))])
      answer(session.identityRefused(at: real))
    }
  }

  private func admit(_ device: VerifiedDevice, _ request: ConnectRequest, _ real: Timestamp, _ now: Timestamp)
  {
    let environment =
      connection.serverName.flatMap { Environment(serverName: $0) } ?? service.defaultEnvironment
    guard
      let connected = broker.connect(
        device.udid, keyFingerprint: device.keyFingerprint, environment: environment,
        offeredBaseToken: request.baseToken, link: link, now: now)
    else { return answer(session.identityRefused(at: real)) }
    for topic in request.topicNames { _ = broker.registry.topic(named: topic) }
    identities.removeAll { $0.session.device == connected.session.device }
    identities.append(Identity(baseToken: connected.baseToken, session: connected.session))
    service.logger.log(
      .info, "device connected",
      [("udid", .string(device.udid.text)), ("environment", .string(environment.name))])
    answer(
      session.identityAccepted(
        request, baseToken: connected.baseToken, tokenWasKnown: connected.tokenWasKnown, at: real))
  }

  private func answer(_ action: CourierServerSession.VerdictAction) {
    switch action {
    case .nothing: break
    case .send(let bytes): sendAnswer(bytes)
    case .sendAndClose(let bytes, let reason):
      connection.send(bytes)
      close(reason)
    }
  }

  private func replaceFilter(_ update: FilterUpdate, _ token: DeviceToken, _ now: Timestamp) {
    guard let identity = identity(token) else { return }
    let count = broker.setFilter(identity.session, enabled: update.enabled, now: now)
    if count == 0 { sendUnsolicited(NoStorage(baseToken: token).encoded) }
  }

  private func provideToken(
    _ request: AppTokenRequest, _ token: DeviceToken, _ real: Timestamp, _ now: Timestamp
  ) {
    if let name = request.topicName { _ = broker.registry.topic(named: name) }
    guard let owner = identity(token)?.session else { return }
    if let held = request.heldToken, broker.wasRemoved(held, from: owner) {
      return sendAnswer(
        session.tokenProvided(nil, for: request, refusal: AppTokenResponse.statusRemoved, at: real))
    }
    let appToken = broker.appToken(owner, topic: request.topic, now: now)
    sendAnswer(session.tokenProvided(appToken, for: request, at: real))
  }

  private func acknowledge(_ receipt: Acknowledgement, _ now: Timestamp) {
    if broker.acknowledge(link, messageId: receipt.messageId, status: receipt.status, now: now) {
      service.devicesMadeProgress = true
    }
  }

  /// Joins and leaves channels for one identity; one refusal refuses the whole answer, what could be done stays done.
  private func subscribe(_ subscription: ChannelSubscription, _ now: Timestamp) {
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
    connection.send(
      ChannelConfirmation(
        index: subscription.index, baseToken: subscription.baseToken,
        status: isDone ? 0 : ChannelConfirmation.statusRefused
      ).encoded)
  }

  private func identity(_ token: DeviceToken) -> Identity? { identities.first { $0.baseToken == token } }

  private func close(_ reason: CourierCloseReason) {
    service.logger.log(.info, "device connection closed", [("because", .string(reason.description))])
    connection.close()
  }

  // MARK: To the device

  var unsentBytes: Int { connection.queuedBytes + held.count }

  /// Taken when the turn's messages were flushed.
  private(set) var systemQueuedBytes = 0

  /// Whether what nobody asked for may be sent now, or has to wait behind an answer (`spec/device-courier.md` 10.4).
  private func mayPush(_ now: Timestamp) -> Bool { !hasAnswered && session.mayPush(at: now) }

  private func sendAnswer(_ bytes: [UInt8]) {
    connection.send(bytes)
    hasAnswered = true
    touch()
  }

  func deliver(_ message: OutgoingMessage) {
    if service.faults.engine.strikesDeliveries || faults != nil, isStruck(message) { return touch() }
    let size = CourierMessage.encodedSize(
      payloadCount: message.payload.count, hasApnsId: message.apnsId != (0, 0))
    guard held.isEmpty, mayPush(CourierService.realNow()) else { return hold(message, size) }
    let written = Self.write(message, to: connection.reserve(size))
    connection.commit(written)
    touch()
  }

  func deliver(
    _ broadcast: ChannelTable.Broadcast, channel: [UInt8], token: DeviceToken, topic: TopicHash
  ) {
    // Nothing remembers who got a broadcast, so one for a device that does not read is lost to it.
    guard unsentBytes < Self.outputLimit else { return }
    var message = CourierMessage(
      token: token, topic: topic, payload: broadcast.payload,
      messageId: UInt32(truncatingIfNeeded: broadcast.id))
    message.expiry = broadcast.expiry
    message.timestamp = UInt64(clamping: broadcast.sentAt.nanoseconds)
    message.priority = broadcast.priority.rawValue
    message.channel = CourierChannel(id: channel, lastMessageTime: message.timestamp)
    sendUnsolicited(message.encoded)
    touch()
  }

  private func isStruck(_ message: OutgoingMessage) -> Bool {
    let faults = faults ?? CourierFaults(service.faults, connection)
    self.faults = faults
    let topic = broker.registry.knownTopic(hashed: message.topic)
    return faults.strike(message, topic: topic.map { broker.registry.topics[Int($0)].label })
  }

  func endSession(reason: String) {
    service.logger.log(.info, "device connection closed", [("because", .string(reason))])
    connection.close()
  }

  func appChanged(_ topic: TopicHash, _ change: AppChange) {
    let name = broker.registry.knownTopic(hashed: topic).flatMap { broker.registry.topics[Int($0)].name }
    let state = AppStateChange(
      Self.action(change), topic: change == .erase ? nil : topic, topicName: change == .erase ? nil : name)
    if let bytes = session.appStateChanged(state) { sendUnsolicited(bytes) }
  }

  func flush() {
    isTouched = false
    // Its connection may have gone in this turn, after it was touched.
    guard !session.isClosed else { return }
    guard faults?.isDoomed != true else { return connection.abort("dropped by a fault", reset: true) }
    connection.flushNow()
    systemQueuedBytes = connection.systemQueuedBytes()
    guard hasAnswered else { return }
    hasAnswered = false
    session.answerLeft(at: CourierService.realNow())
  }

  private func touch() {
    guard !isTouched else { return }
    isTouched = true
    service.touch(self)
  }

  private static func write(_ message: OutgoingMessage, to output: UnsafeMutableRawPointer) -> Int {
    CourierMessage.write(
      to: output, token: message.token, topic: message.topic, payload: message.payload,
      messageId: message.messageId, expiry: message.expiry,
      timestampNanoseconds: UInt64(clamping: message.receivedAt.nanoseconds),
      storageFlags: message.storageFlags,
      priority: message.priority.rawValue, apnsId: message.apnsId == (0, 0) ? nil : message.apnsId)
  }

  private func hold(_ message: OutgoingMessage, _ size: Int) {
    let frame = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = buffer.baseAddress.map { Self.write(message, to: $0) } ?? 0
    }
    sendUnsolicited(frame)
  }

  /// Sends what the device did not ask for, at once or when the pause after an answer is over.
  private func sendUnsolicited(_ bytes: [UInt8]) {
    let now = CourierService.realNow()
    guard !mayPush(now) || !held.isEmpty else { return connection.send(bytes) }
    held += bytes
    guard release == nil else { return }
    let timer = LoopEvent(timerOn: service.loop) { [unowned self] in releaseHeld() }
    release = timer
    timer.start(afterNanoseconds: session.holdUntil.nanoseconds - now.nanoseconds)
  }

  private func releaseHeld() {
    let now = CourierService.realNow()
    guard mayPush(now) || session.isClosed else {
      release?.start(afterNanoseconds: session.holdUntil.nanoseconds - now.nanoseconds)
      return
    }
    release = nil
    connection.send(held)
    held = []
  }

  private static func action(_ change: AppChange) -> AppStateChange.Action {
    switch change {
    case .install: .installed
    case .update: .updated
    case .reinstall: .reinstalled
    case .remove: .removed
    case .erase: .erased
    }
  }
}
