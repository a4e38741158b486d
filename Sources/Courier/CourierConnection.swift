import Basics
import Broker
import Cluster
import CourierWire
import Credentials
import Node
import Platform
import PushModel
import Services
import Transport

/// One device connection: TLS bytes become frames, and its parts do what frames ask for.
///
///     opened ─ a device proves who it is ─┬─ it is of this node ───────────────────────────→ served ⟲ frames, more devices
///                                         └─ of another ─→ arriving ─ its place is known ─┬─ here ─→ served
///                                                                                         ├─ there ─→ its bytes are passed on
///                                                                                         └─ nowhere ─→ ended
///
/// | part | has |
/// |---|---|
/// | `CourierServerSession` | who is there, and what a frame asks for |
/// | `DeviceArrival` | in a cluster, what was said before it is known where the device belongs |
/// | `DeviceIdentities` | the devices, and what each asks the broker for |
/// | `CourierOutput` | what goes to them: answers, deliveries |
/// | `CourierPhone` | the phone of a simulated one |
package final class CourierConnection: ConnectionHandler {
  private let service: CourierService
  /// The link back is cut when it closes, which may be amid any call to it that ends it.
  private let connection: SocketConnection
  /// What is known of the device by the node that it has connected to; nil if that is this one.
  private let told: EdgeDevice?
  private let output: CourierOutput
  /// In a cluster, until the first identity is settled.
  private var arrival: DeviceArrival?
  private var decoder = CourierDecoder()
  /// The packed form of the protocol; nil on nearly every connection.
  private var packing: CourierPacking?
  private var session: CourierServerSession
  /// Largest frame that is taken at the moment, in bytes.
  private var frameLimit: Int
  private var lastHeard: Instant
  private var identities: DeviceIdentities
  /// That of the first device that has one; nil on nearly every connection.
  private var phone: CourierPhone?

  init(_ service: CourierService, _ connection: SocketConnection, told: EdgeDevice? = nil) {
    (self.service, self.connection, self.told) = (service, connection, told)
    output = CourierOutput(service, connection, told)
    if service.relay != nil { arrival = DeviceArrival() }
    lastHeard = SystemClock.now()
    session = CourierServerSession(acceptedAt: lastHeard)
    frameLimit = session.frameLimit
    identities = DeviceIdentities(service.broker)
  }

  private var broker: Broker { service.broker }
  /// The devices on this connection.
  package var udids: [UDID] { identities.udids }
  /// Who is at the other end, if another node has led it here.
  package var relayedFor: SocketAddress? { told?.remoteAddress }

  // MARK: Reading

  package func connectionOpened(_ connection: SocketConnection) {
    packing = CourierPacking(alpn: told == nil ? connection.alpn : told?.alpn)
    output.packing = packing
  }

  package func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    let instant = SystemClock.now()
    lastHeard = instant
    if !output.isListening, let reason = session.bytesReceived(bytes.count) { return close(reason) }
    broker.noteRead(at: instant)
    arrival?.heard(bytes)
    read(bytes, instant, service.clock.now())
  }

  private func read(_ bytes: Span<UInt8>, _ instant: Instant, _ now: Timestamp) {
    guard !hasUnreadReport else { return waitForReading(bytes) }
    var input = bytes
    do throws(CourierProtocolError) {
      if packing == nil {
        try readPlain(&input, instant, now)
      } else {
        try readPacked(&input, instant, now)
      }
    } catch {
      perform(session.decodingFailed(error), instant, now)
    }
    arrival?.keep(input)
    output.countMemory(
      input: decoder.heldByteCount + connection.leftByteCount + (phone?.heldBytes ?? 0)
        + (arrival?.heldBytes ?? 0))
    guard output.isFull else { return }
    connection.setPaused(true)
    connection.notifyWhenDrained()
  }

  /// Its phone's report is to be read before anything that comes behind it.
  private var hasUnreadReport: Bool { phone?.hasUnread ?? false }

  /// Whether what comes next is to be looked at.
  private var isListening: Bool { connection.isOpen && arrival?.pending == nil && !hasUnreadReport }

  private func readPlain(
    _ input: inout Span<UInt8>, _ instant: Instant, _ now: Timestamp
  ) throws(CourierProtocolError) {
    // Nearly all frames are receipts: who they are for is looked up once for all.
    let (deliveries, link) = (broker.deliveries, output.link)
    var decoder = CourierDecoder()
    swap(&decoder, &self.decoder)
    defer { swap(&decoder, &self.decoder) }
    guard isListening else { return }
    while let isReceipt = try decoder.next(
      &input, limit: frameLimit,
      { frame throws(CourierProtocolError) in try take(frame, deliveries, link, instant, now) })
    {
      guard connection.isOpen else { return }
      if !isReceipt, leavesRest(&input) || !isListening { return }
    }
  }

  private func readPacked(
    _ input: inout Span<UInt8>, _ instant: Instant, _ now: Timestamp
  ) throws(CourierProtocolError) {
    while isListening, let command = try packing?.decoder.next(&input, limit: frameLimit) {
      _ = try take(command.frame, broker.deliveries, output.link, instant, now)
      if leavesRest(&input) { return }
    }
  }

  /// Answers whether it is a receipt.
  @inline(__always)
  private func take(
    _ frame: CourierFrame, _ deliveries: Deliveries, _ link: DeviceLink, _ instant: Instant, _ now: Timestamp
  ) throws(CourierProtocolError) -> Bool {
    guard frame.isReceipt else {
      perform(session.frameReceived(frame, at: instant), instant, now)
      return false
    }
    try acknowledge(frame, to: deliveries, link, now)
    return true
  }

  /// Behind a frame that is more than a receipt: leaves the others for the next turn if this device has had its part of this
  /// one. A stranger may not say so much that it would matter.
  private func leavesRest(_ input: inout Span<UInt8>) -> Bool {
    if hasUnreadReport {
      waitForReading(input)
    } else {
      guard !input.isEmpty, isListening, session.isEstablished, arrival == nil, connection.hasReadEnough
      else { return false }
      connection.leave(input)
    }
    input = .none
    return true
  }

  private func waitForReading(_ rest: Span<UInt8>) {
    connection.leave(rest)
    connection.setPaused(true)
  }

  package func connectionDrained(_ connection: SocketConnection) {
    if !hasUnreadReport { connection.setPaused(false) }
  }

  // MARK: Frames

  private func perform(_ action: CourierServerSession.FrameAction, _ instant: Instant, _ now: Timestamp) {
    switch action {
    case .nothing: break
    case .send(let bytes): output.answer(bytes)
    case .verify(let request): identify(request, instant, now)
    case .replaceFilter(let update, let token):
      output.filterRead(instant)
      if let answer = identities.replaceFilter(update, of: token, now: now) { output.tell(answer.encoded) }
    case .provideToken(let request, let token):
      if let answer = identities.answer(request, of: token, now: now) { output.answer(answer.encoded) }
    case .subscribe(let subscription):
      if let answer = identities.answer(subscription, now: now) { output.write(answer.encoded) }
    case .phoneReported(let report):
      if let phone, !phone.reported(report, instant) { drop(.tooManyReports) }
    case .close(let reason): close(reason)
    }
  }

  /// Before connect a receipt means nothing.
  @inline(__always)
  private func acknowledge(
    _ frame: CourierFrame, to deliveries: Deliveries, _ link: DeviceLink, _ now: Timestamp
  ) throws(CourierProtocolError) {
    guard output.isListening else { return }
    let receipt = try Acknowledgement.read(frame)
    switch deliveries.acknowledge(link, messageId: receipt.messageId, status: receipt.status, now: now)
    {
    case .taken: service.devices.madeProgress = true
    case .stray: break
    case .tooManyStrays: drop(.tooManyStrayAcknowledgements)
    }
  }

  /// Phones live on the emulator's clock, which has been moved, stopped or started.
  func clockChanged() { phone?.tellTime() }

  // MARK: Who it is

  private func identify(_ request: ConnectRequest, _ instant: Instant, _ now: Timestamp) {
    switch service.verify(request, told == nil ? connection.peerCertificate : told?.certificate) {
    case .failure(let refusal):
      tellOfRefusal(refusal.sentence)
      perform(session.identityRefused(date: SystemClock.wallTime))
    case .success(let device):
      guard let relay = service.relay else { return admit(device, request, instant, now) }
      place(DeviceArrival.Identity(device: device, request: request), relay, instant, now)
    }
  }

  /// In a cluster: a device is connected to the node that its zone belongs to, with all others on its connection.
  private func place(
    _ identity: DeviceArrival.Identity, _ relay: EdgeTunnels, _ instant: Instant, _ now: Timestamp
  ) {
    let udid = identity.device.udid
    guard !relay.isHere(udid) else {
      arrival = nil
      return admit(identity.device, identity.request, instant, now)
    }
    guard let arrival else {
      tellOfRefusal("it belongs to another node than the first device on its connection", udid)
      return perform(session.identityDeclined(date: SystemClock.wallTime))
    }
    connection.setPaused(true)
    arrival.wait(for: identity, relay, told == nil ? connection : nil) { [weak self] in self?.settle($0) }
  }

  private func tellOfRefusal(_ sentence: String, _ udid: UDID? = nil) {
    service.logger.log(
      .warning, "device refused",
      (udid.map { [("udid", .string($0.text))] } ?? []) + [("because", .string(sentence))])
  }

  private func admit(
    _ device: VerifiedDevice, _ request: ConnectRequest, _ instant: Instant, _ now: Timestamp
  ) {
    let name = told == nil ? connection.requestedName : told?.requestedName
    let environment = name.flatMap { Environment(serverName: $0) } ?? service.defaultEnvironment
    guard
      let connected = broker.devices.connect(
        device.udid, keyFingerprint: device.keyFingerprint, environment: environment,
        offeredBaseToken: request.baseToken, link: output.link, now: now)
    else { return perform(session.identityRefused(date: SystemClock.wallTime)) }
    for topic in request.topicNames { broker.registry.learn(topic) }
    identities.add(connected)
    service.logger.log(
      .info, "device connected",
      [("udid", .string(device.udid.text)), ("environment", .string(environment.name))])
    perform(
      session.identityAccepted(
        request, baseToken: connected.baseToken, tokenWasKnown: connected.tokenWasKnown, at: instant,
        date: SystemClock.wallTime))
    guard session.isEstablished else { return }
    frameLimit = session.frameLimit
    output.begin(session)
    if session.hasPhone, phone == nil { phone = CourierPhone(device.udid, service, connection, output) }
  }

  private func perform(_ verdict: CourierServerSession.VerdictAction) {
    switch verdict {
    case .nothing: break
    case .send(let bytes): output.answer(bytes)
    case .sendAndClose(let bytes, let reason):
      output.write(bytes)
      close(reason)
    }
  }

  /// It is known where the device that waits belongs.
  private func settle(_ place: EdgeTunnels.Place) {
    guard let arrival, let identity = arrival.pending else { return }
    self.arrival = nil
    switch place {
    case .here:
      let (instant, now) = (SystemClock.now(), service.clock.now())
      admit(identity.device, identity.request, instant, now)
      connection.setPaused(false)
      let unread = arrival.unread
      read(unread.span, instant, now)
    case .at(let peer, let node):
      // The connection is the relay's from here on. What was answered here, to keep-alives, will be answered there again.
      let answered = connection.bytesWritten + connection.queuedBytes
      session.connectionClosed()
      output.end()
      service.forget(self)
      service.relay?.join(
        connection, identity.device.udid, peer, node, said: arrival.said, answered: answered)
    case .nobody(let reason): end(reason: reason)
    }
  }

  // MARK: Ending

  /// Ends it in order.
  func end(reason: String) { output.endSession(reason: reason) }

  private func close(_ reason: CourierCloseReason) {
    output.end()
    end(reason: reason.description)
  }

  /// Ends it at once: an orderly end would go on reading what somebody sends without end.
  private func drop(_ reason: CourierCloseReason) {
    service.logger.log(.info, "device connection dropped", [("because", .string(reason.description))])
    connection.abort(reason.description, reset: true)
  }

  func timePassed(_ now: Instant) {
    if let reason = session.timePassed(at: now, lastHeard: lastHeard) { close(reason) }
  }

  package func connectionClosed(_ connection: SocketConnection, reason: String) {
    session.connectionClosed()
    output.connectionClosed()
    phone?.disconnected()
    identities.disconnect(now: service.clock.now())
    arrival?.giveUp()
    service.forget(self)
    service.logger.log(.debug, "device connection ended", [("because", .string(reason))])
  }
}
