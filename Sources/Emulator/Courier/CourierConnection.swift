import Broker
import Cluster
import Console
import CourierWire
import Credentials
import Platform
import PushModel
import Transport

/// One device connection: TLS bytes to frames to broker calls, and the broker's messages back.
final class CourierConnection: ConnectionHandler {
  /// Output that may wait for a device that does not read, in bytes: what the broker lets its messages take (8 MiB), and
  /// room for answers. Beyond it the device is not listened to until it has read.
  static let outputLimit = 9 << 20

  /// A device on this connection.
  private struct Identity {
    var baseToken: DeviceToken
    var session: DeviceSession
  }

  private let service: CourierService
  /// The link back is cut when it closes, which may be amid any call to it that ends it.
  private let connection: SocketConnection
  /// What is known of the device by the node that it has connected to; nil if that is this one.
  private let told: RelayedDevice?
  /// In a cluster, until the first identity is settled.
  private var arrival: DeviceArrival?
  private var decoder = CourierDecoder()
  /// The packed form of the protocol; nil on nearly every connection.
  private var packing: CourierPacking?
  private var session: CourierServerSession
  private var identities: [Identity] = []
  private lazy var link = DeviceLink(outlet: self)
  private var held = HeldFrames()
  private var isTouched = false
  /// An answer waits for the end of the turn: the pause behind it begins when it leaves.
  private var hasAnswered = false
  /// The pause behind the last answer is known to be over, so that the clock need not be asked for each message.
  private var isPauseOver = false
  /// The device that has a phone; nil on nearly every connection.
  private var phone: UDID?
  /// What its phone may tell unasked.
  private var reports = PhoneReportAllowance()
  /// What it has told and nobody has read; it is not listened to meanwhile.
  private var unread: (telling: PhoneTelling, weight: Int64)?
  /// What goes wrong here on purpose; nil until something may.
  private var faults: CourierFaults?
  /// Taken when the turn's messages were flushed.
  private(set) var systemQueuedBytes = 0

  init(_ service: CourierService, _ connection: SocketConnection, told: RelayedDevice? = nil) {
    (self.service, self.connection, self.told) = (service, connection, told)
    if service.relay != nil { arrival = DeviceArrival() }
    session = CourierServerSession(acceptedAt: SystemClock.now())
  }

  private var broker: Broker { service.broker }
  /// The devices on this connection.
  var udids: [UDID] {
    // A reset may have forgotten the devices of a connection that is ending.
    identities.map(\.session.device).filter(broker.registry.contains).map { broker.registry[$0].udid }
  }

  func connectionOpened(_ connection: SocketConnection) {
    packing = CourierPacking(alpn: told == nil ? connection.alpn : told?.alpn)
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    let instant = SystemClock.now()
    if let reason = session.bytesReceived(bytes.count, at: instant) { return close(reason) }
    broker.noteRead(at: instant)
    arrival?.heard(bytes)
    take(bytes, instant, service.clock.now())
  }

  private func take(_ bytes: UnsafeRawBufferPointer, _ instant: Instant, _ now: Timestamp) {
    guard unread == nil else { return waitForReading(bytes) }
    var input = bytes
    do throws(CourierProtocolError) {
      if packing == nil { try takePlain(&input, instant, now) } else { try takePacked(&input, instant, now) }
    } catch {
      perform(session.decodingFailed(error), instant, now)
    }
    arrival?.keep(input)
    countMemory()
    guard unsentBytes > Self.outputLimit else { return }
    connection.setPaused(true)
    connection.notifyWhenDrained()
  }

  /// Whether what comes next is to be looked at.
  private var isListening: Bool { connection.isOpen && arrival?.pending == nil && unread == nil }

  private func takePlain(
    _ input: inout UnsafeRawBufferPointer, _ instant: Instant, _ now: Timestamp
  ) throws(CourierProtocolError) {
    // Nearly all frames are receipts: who they are for is looked up once for all.
    let (broker, link) = (broker, link)
    while isListening, let frame = try decoder.next(&input, limit: session.frameLimit) {
      if let receipt = try session.acknowledgement(in: frame) {
        acknowledge(receipt, to: broker, link, now)
      } else {
        perform(session.frameReceived(frame, at: instant), instant, now)
        if leavesRest(&input) { return }
      }
    }
  }

  /// Behind a frame that is more than a receipt: leaves the others for the next turn if this device has had its part of this
  /// one. A stranger may not say so much that it would matter.
  private func leavesRest(_ input: inout UnsafeRawBufferPointer) -> Bool {
    if unread != nil {
      waitForReading(input)
    } else {
      guard !input.isEmpty, isListening, session.isEstablished, arrival == nil, connection.hasReadEnough
      else { return false }
      connection.leave(input)
    }
    input = UnsafeRawBufferPointer(start: nil, count: 0)
    return true
  }

  /// Its report is read in a later turn, and what comes behind it after that.
  private func waitForReading(_ rest: UnsafeRawBufferPointer) {
    connection.leave(rest)
    connection.setPaused(true)
  }

  private func takePacked(
    _ input: inout UnsafeRawBufferPointer, _ instant: Instant, _ now: Timestamp
  ) throws(CourierProtocolError) {
    while isListening, let command = try packing?.decoder.next(&input, limit: session.frameLimit) {
      let action = command.withFrame { session.frameReceived($0, at: instant) }
      perform(action, instant, now)
      if leavesRest(&input) { return }
    }
  }

  /// Queues whole frames in the form that was agreed on.
  private func write(_ frames: [UInt8]) {
    guard packing != nil else { return connection.send(frames) }
    connection.send(packing?.encoder.pack(frames) ?? [])
  }

  func connectionDrained(_ connection: SocketConnection) {
    if unread == nil { connection.setPaused(false) }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    session.connectionClosed()
    faults?.connectionClosed()
    let now = service.clock.now()
    if let phone { service.phones.disconnected(phone, self) }
    for identity in identities { broker.disconnect(identity.session, now: now) }
    (identities, unread) = ([], nil)
    held.drop()
    if arrival?.pending != nil { service.relay?.forget(self) }
    service.forget(self)
    service.logger.log(.debug, "device connection ended", [("because", .string(reason))])
  }

  /// Says what is held besides the output, and what that is.
  private func countMemory() {
    link.noteUnsent(unsentBytes)
    connection.hold(
      decoder.heldByteCount + held.count + link.heldBytes + connection.leftByteCount
        + (unread.map { $0.telling.events.count + $0.telling.document.count } ?? 0)
        + (arrival?.heldBytes ?? 0))
  }

  func timePassed(_ now: Instant) {
    if let reason = session.timePassed(at: now) { close(reason) }
  }

  private func perform(_ action: CourierServerSession.FrameAction, _ instant: Instant, _ now: Timestamp) {
    switch action {
    case .nothing: break
    case .send(let bytes): sendAnswer(bytes)
    case .verify(let request): identify(request, instant, now)
    case .replaceFilter(let update, let token): replaceFilter(update, token, now)
    case .provideToken(let request, let token): provideToken(request, token, instant, now)
    case .acknowledge(let receipt): acknowledge(receipt, to: broker, link, now)
    case .subscribe(let subscription): subscribe(subscription, now)
    case .phoneReported(let report): tell(of: report, instant)
    case .close(let reason): close(reason)
    }
  }

  private func close(_ reason: CourierCloseReason) { endSession(reason: reason.description) }

  /// Ends it at once: an orderly end would go on reading what somebody sends without end.
  private func drop(_ reason: CourierCloseReason) {
    service.logger.log(.info, "device connection dropped", [("because", .string(reason.description))])
    connection.abort(reason.description, reset: true)
  }

  func flush() {
    isTouched = false
    // Its connection may have gone in this turn, after it was touched.
    guard !session.isClosed else { return }
    guard faults?.isDoomed != true else { return connection.abort("dropped by a fault", reset: true) }
    connection.flushNow()
    countMemory()
    systemQueuedBytes = connection.systemQueuedBytes()
    if hasAnswered { answerLeft() }
  }

  /// Or it waits for a commit still: then it is looked for again behind that.
  private func answerLeft() {
    guard !connection.isHeldBack else { return touch() }
    hasAnswered = false
    let now = SystemClock.now()
    session.answerLeft(at: now)
    held.postpone(by: session.holdUntil.nanoseconds(since: now))
  }

  /// Something is queued that is to leave at the end of the turn.
  private func touch() {
    guard !isTouched else { return }
    isTouched = true
    service.touch(self)
  }
}

/// What a device asks for.
extension CourierConnection {
  private func identify(_ request: ConnectRequest, _ instant: Instant, _ now: Timestamp) {
    switch service.verify(request, told == nil ? connection.peerCertificate : told?.certificate) {
    case .success(let device):
      guard let relay = service.relay else { return admit(device, request, instant, now) }
      place(DeviceArrival.Identity(device: device, request: request), relay, instant, now)
    case .failure(let refusal):
      service.logger.log(.warning, "device refused", [("because", .string(refusal.sentence))])
      answer(session.identityRefused(date: CourierService.worldDate()))
    }
  }

  /// In a cluster: a device is connected to the node that its zone belongs to, with all others on its connection.
  private func place(
    _ identity: DeviceArrival.Identity, _ relay: DeviceRelay, _ instant: Instant, _ now: Timestamp
  ) {
    guard !relay.isHere(identity.device.udid) else {
      arrival = nil
      return admit(identity.device, identity.request, instant, now)
    }
    guard let arrival else { return decline(identity.device) }
    arrival.wait(for: identity)
    connection.setPaused(true)
    relay.place(self, identity.device.udid)
  }

  /// Refuses an identity of another node; the others on the connection stay.
  private func decline(_ device: VerifiedDevice) {
    service.logger.log(
      .warning, "device refused",
      [
        ("udid", .string(device.udid.text)),
        ("because", "it belongs to another node than the first device on its connection"),
      ])
    answer(session.identityDeclined(at: SystemClock.now(), date: CourierService.worldDate()))
  }

  private func admit(
    _ device: VerifiedDevice, _ request: ConnectRequest, _ instant: Instant, _ now: Timestamp
  ) {
    let name = told == nil ? connection.requestedName : told?.requestedName
    let environment = name.flatMap { Environment(serverName: $0) } ?? service.defaultEnvironment
    guard
      let connected = broker.connect(
        device.udid, keyFingerprint: device.keyFingerprint, environment: environment,
        offeredBaseToken: request.baseToken, link: link, now: now)
    else { return answer(session.identityRefused(date: CourierService.worldDate())) }
    for topic in request.topicNames { broker.registry.learn(topic) }
    identities.removeAll { $0.session.device == connected.session.device }
    identities.append(Identity(baseToken: connected.baseToken, session: connected.session))
    service.logger.log(
      .info, "device connected",
      [("udid", .string(device.udid.text)), ("environment", .string(environment.name))])
    answer(
      session.identityAccepted(
        request, baseToken: connected.baseToken, tokenWasKnown: connected.tokenWasKnown, at: instant,
        date: CourierService.worldDate()))
    guard session.hasPhone, phone == nil else { return }
    phone = device.udid
    tellTime()
    service.phones.connected(device.udid, self)
  }

  /// A simulated device tells of its phone.
  private func tell(of report: PhoneReport, _ instant: Instant) {
    guard let udid = phone else { return }
    let telling = PhoneTelling(
      number: report.number, problem: report.problem, events: report.events, document: report.document,
      lost: report.lost ?? 0)
    let weight = PhoneReportAllowance.weight(report)
    guard service.phones.awaits(telling, from: udid, self) || reports.takes(weight, at: instant) else {
      return drop(.tooManyReports)
    }
    unread = (telling, weight)
    service.read(self, weight)
  }

  /// It is the turn of what the device has told of its phone.
  func readReport() {
    guard let (telling, _) = unread else { return }
    unread = nil
    guard let udid = phone, connection.isOpen else { return }
    service.phones.told(telling, by: udid, self)
    if unsentBytes <= Self.outputLimit { connection.setPaused(false) }
  }

  /// What its report counts as; 0 if there is none.
  var unreadWeight: Int64 { unread?.weight ?? 0 }

  /// Says how late it is, to a device that has a phone.
  func tellTime() {
    guard session.hasPhone else { return }
    let now = UInt64(clamping: service.clock.now().nanoseconds)
    order(PhoneOrderCommand(clock: .init(now: now, isFrozen: service.clock.frozenAt != nil)))
  }

  private func order(_ command: PhoneOrderCommand) {
    guard let bytes = session.phoneOrdered(command) else { return }
    sendUnsolicited(bytes)
    touch()
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

  private func replaceFilter(_ update: FilterUpdate, _ token: DeviceToken, _ now: Timestamp) {
    guard let identity = identity(token) else { return }
    let count = broker.setFilter(identity.session, enabled: update.enabled, now: now)
    if count == 0 { sendUnsolicited(NoStorage(baseToken: token).encoded) }
  }

  private func provideToken(
    _ request: AppTokenRequest, _ token: DeviceToken, _ instant: Instant, _ now: Timestamp
  ) {
    guard let owner = identity(token)?.session else { return }
    if let held = request.heldToken, broker.wasRemoved(held, from: owner) {
      return sendAnswer(
        session.tokenProvided(nil, for: request, refusal: AppTokenResponse.statusRemoved, at: instant))
    }
    sendAnswer(answer(request, owner, instant, now))
    // What there is a token of can be shown by its name.
    if let name = request.topicName { broker.registry.learn(name) }
  }

  /// A token, for the topic or for the context of it that the request names; or the end of the latter's.
  private func answer(
    _ request: AppTokenRequest, _ owner: DeviceSession, _ instant: Instant, _ now: Timestamp
  ) -> [UInt8] {
    var context: TokenContext?
    switch request.context {
    case .absent: break
    case .named(let name): context = name
    case .unreadable: return session.tokenProvided(nil, for: request, at: instant)
    }
    if let context, request.isOver {
      broker.endToken(owner, topic: request.topic, context, now: now)
      return session.tokenProvided(
        nil, for: request, refusal: AppTokenResponse.statusRemoved, at: instant)
    }
    let token = broker.appToken(owner, topic: request.topic, context, now: now)
    return session.tokenProvided(token, for: request, at: instant)
  }

  @inline(__always)
  private func acknowledge(
    _ receipt: Acknowledgement, to broker: Broker, _ link: DeviceLink, _ now: Timestamp
  ) {
    switch broker.deliveries.acknowledge(link, messageId: receipt.messageId, status: receipt.status, now: now)
    {
    case .taken: service.devicesMadeProgress = true
    case .stray: break
    case .tooManyStrays: drop(.tooManyStrayAcknowledgements)
    }
  }

  /// Joins and leaves channels for one identity; one refusal refuses the whole answer, what could be done stays done.
  private func subscribe(_ subscription: ChannelSubscription, _ now: Timestamp) {
    guard let session = identity(subscription.baseToken)?.session else { return }
    if subscription.replaces { broker.leaveAll(session) }
    var isDone = true
    for entry in subscription.entries {
      guard let topic = Topic(entry.topic).flatMap({ broker.registry.knownTopic(named: $0) }) else {
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

/// Where the device belongs in a cluster.
extension CourierConnection: ArrivingDevice {
  /// Who is at the other end, whichever node that has connected to.
  var remoteAddress: SocketAddress { told?.remoteAddress ?? connection.remoteAddress }

  /// Whether another node has led it here.
  var isRelayed: Bool { told != nil }

  var toldElsewhere: RelayedDevice? {
    guard told == nil else { return nil }
    return RelayedDevice(
      requestedName: connection.requestedName, alpn: connection.alpn, remoteAddress: connection.remoteAddress,
      certificate: connection.peerCertificate)
  }

  func settle(_ place: DeviceRelay.Place) {
    guard let arrival, let identity = arrival.pending else { return }
    self.arrival = nil
    switch place {
    case .here: goOn(identity, behind: arrival.unread)
    case .at(let peer, let node): leave(for: peer, node, identity.device.udid, arrival.said)
    case .nobody(let reason): endSession(reason: reason)
    }
  }

  private func goOn(_ identity: DeviceArrival.Identity, behind unread: [UInt8]) {
    let (instant, now) = (SystemClock.now(), service.clock.now())
    admit(identity.device, identity.request, instant, now)
    connection.setPaused(false)
    unread.withUnsafeBytes { take($0, instant, now) }
  }

  /// The connection is the relay's from here on. What was answered here, to keep-alives, will be answered there again.
  private func leave(for peer: NodePeer, _ node: SocketConnection, _ udid: UDID, _ said: [UInt8]) {
    let answered = connection.bytesWritten + connection.queuedBytes
    session.connectionClosed()
    service.forget(self)
    service.relay?.join(connection, udid, peer, node, said: said, answered: answered)
  }
}

extension CourierConnection: PhoneLink {
  func order(_ order: [UInt8], number: UInt32) {
    reports.expectOne()
    self.order(PhoneOrderCommand(number: number, order: order))
  }
}

/// What the broker has for the device, and the answers to it.
extension CourierConnection: CourierOutlet {
  var unsentBytes: Int { connection.queuedBytes + held.count }

  func deliver(_ message: OutgoingMessage) -> Int {
    touch()
    if service.faults.engine.strikesDeliveries || faults != nil, isStruck(message) { return unsentBytes }
    let listener = MessageListener(session, isStrict: service.isPushTypeStrict)
    if held.isEmpty, packing == nil, mayPushNow {
      connection.append(atMost: message.frameSize(for: listener)) {
        message.writeFrame(to: $0, for: listener)
      }
    } else {
      sendUnsolicited(message.frame(for: listener))
    }
    return unsentBytes
  }

  func deliver(
    _ broadcast: ChannelTable.Broadcast, channel: [UInt8], token: DeviceToken, topic: TopicHash
  ) {
    // Nothing remembers who got a broadcast, so one for a device that does not read is lost to it.
    guard unsentBytes < Self.outputLimit else { return }
    var message = CourierMessage(
      token: token, topic: topic, payload: broadcast.payload,
      messageId: wireMessageID(broadcast.id))
    message.expiry = broadcast.expiry
    message.timestamp = UInt64(clamping: broadcast.sentAt.nanoseconds)
    message.priority = broadcast.priority.rawValue
    message.channel = CourierChannel(id: channel, lastMessageTime: message.timestamp)
    // There are no others (`Documentation/provider-api.md#broadcast`).
    if session.isSimulated { message.pushType = UInt16(PushType.liveactivity.rawValue) }
    if session.hasPhone { message.notificationId = broadcast.id }
    sendUnsolicited(message.encoded)
    touch()
  }

  func appChanged(_ topic: TopicHash, _ change: AppChange) {
    let name = broker.registry.knownTopic(hashed: topic).flatMap { broker.registry[$0].name }
    let state = AppStateChange(
      AppStateChange.Action(change), topic: change.isOfPhone ? nil : topic,
      topicName: change.isOfPhone ? nil : name)
    guard let bytes = session.appStateChanged(state) else { return }
    // What is done to the phone ends its connection, so that there is no later.
    if change.isOfPhone { write(bytes) } else { sendUnsolicited(bytes) }
  }

  func endSession(reason: String) {
    service.logger.log(.info, "device connection closed", [("because", .string(reason))])
    connection.close()
  }

  /// Sends what the device waits for.
  private func sendAnswer(_ bytes: [UInt8]) {
    write(bytes)
    (hasAnswered, isPauseOver) = (true, false)
    touch()
  }

  /// Sends what the device did not ask for, at once or when the pause after an answer is over.
  private func sendUnsolicited(_ bytes: [UInt8]) {
    let now = SystemClock.now()
    guard !mayPush(now) || !held.isEmpty else { return write(bytes) }
    held.append(bytes, releaseAfter: session.holdUntil.nanoseconds(since: now)) {
      LoopEvent(timerOn: service.loop) { [unowned self] in releaseHeld() }
    }
  }

  private func releaseHeld() {
    let now = SystemClock.now()
    guard mayPush(now) || session.isClosed else {
      // The pause behind an answer that has not left is not known yet.
      return hasAnswered ? () : held.postpone(by: session.holdUntil.nanoseconds(since: now))
    }
    write(held.take())
  }

  /// Whether what nobody asked for may be sent now, or has to wait behind an answer
  /// (`Documentation/device-protocol.md#quiet-after-an-answer`).
  private func mayPush(_ now: Instant) -> Bool { !hasAnswered && session.mayPush(at: now) }

  private var mayPushNow: Bool {
    if isPauseOver { return session.isEstablished }
    isPauseOver = mayPush(SystemClock.now())
    return isPauseOver
  }

  private func isStruck(_ message: OutgoingMessage) -> Bool {
    let faults = faults ?? CourierFaults(service.faults, connection, remoteAddress: remoteAddress)
    self.faults = faults
    let topic = broker.registry.knownTopic(hashed: message.topic)
    return faults.strike(message, topic: topic.map { broker.registry[$0].label })
  }
}

/// How much a device is told of a message.
private struct MessageListener {
  /// A simulated device hears what the protocol has no known place for.
  let isSimulated: Bool
  /// Its phone reports by the notification's id, and goes by what the provider left unsaid.
  let hasPhone: Bool
  /// What a provider does not say is told as what Apple takes it for.
  let isStrict: Bool

  init(_ session: borrowing CourierServerSession, isStrict: Bool) {
    (isSimulated, hasPhone, self.isStrict) = (session.isSimulated, session.hasPhone, isStrict)
  }

  /// nil where there is nothing to tell.
  func said(_ head: MessageHead) -> UInt16? {
    guard isSimulated else { return nil }
    let type = head.pushType ?? (hasPhone && isStrict ? .alert : nil)
    return CourierMessage.said(type, priority: head.saysPriority || isStrict || !hasPhone)
  }
}

/// The frame that carries a message to a device.
extension OutgoingMessage {
  /// In bytes.
  fileprivate func frameSize(for listener: MessageListener) -> Int {
    let common = CourierMessage.encodedSize(
      payloadCount: content.payload.count, hasApnsId: head.apnsId != (0, 0))
    guard listener.isSimulated else { return common }
    return common
      + CourierMessage.privateByteCount(
        hasPushType: listener.said(head) != nil, collapseIdCount: content.collapseId.count,
        hasNotificationId: listener.hasPhone)
  }

  /// Writes the frame and answers its size; `output` has room for `frameSize` bytes.
  fileprivate func writeFrame(to output: UnsafeMutableRawPointer, for listener: MessageListener) -> Int {
    CourierMessage.write(
      to: output, token: token, topic: topic, payload: content.payload, messageId: messageId,
      expiry: head.expiry,
      timestampNanoseconds: UInt64(clamping: head.receivedAt.nanoseconds), storageFlags: origin.rawValue,
      priority: head.priority.rawValue, apnsId: head.apnsId == (0, 0) ? nil : head.apnsId,
      pushType: listener.said(head),
      collapseId: listener.isSimulated ? content.collapseId : UnsafeRawBufferPointer(start: nil, count: 0),
      notificationId: listener.hasPhone ? head.id : nil)
  }

  fileprivate func frame(for listener: MessageListener) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: frameSize(for: listener)) { buffer, count in
      count = buffer.baseAddress.map { writeFrame(to: $0, for: listener) } ?? 0
    }
  }
}

extension AppStateChange.Action {
  /// How a simulated device hears of what a person did.
  fileprivate init(_ change: AppChange) {
    switch change {
    case .install: self = .installed
    case .update: self = .updated
    case .reinstall: self = .reinstalled
    case .remove: self = .removed
    case .erase: self = .erased
    case .restore: self = .restored
    }
  }
}
