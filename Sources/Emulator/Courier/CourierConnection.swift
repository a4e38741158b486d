import Broker
import CourierWire
import Platform
import PushModel
import Transport

/// One device connection: TLS bytes to frames to broker calls, and the broker's messages back.
final class CourierConnection: ConnectionHandler {
  /// Output that may wait for a device that does not read, in bytes: what the broker lets its messages take (8 MiB), and
  /// room for answers. Beyond it the device is not listened to until it has read.
  static let outputLimit = 9 << 20

  /// A device on this connection.
  struct Identity {
    var baseToken: DeviceToken
    var session: DeviceSession
  }

  let service: CourierService
  unowned let connection: TLSConnection
  private var decoder = CourierDecoder()
  /// The packed form of the protocol; nil on nearly every connection.
  private(set) var packing: CourierPacking?
  var session: CourierServerSession
  var identities: [Identity] = []
  private(set) lazy var link = DeviceLink(outlet: self)
  var held = HeldFrames()
  private var isTouched = false
  /// An answer waits for the end of the turn: the pause behind it begins when it leaves.
  var hasAnswered = false
  /// What goes wrong here on purpose; nil until something may.
  var faults: CourierFaults?
  /// Taken when the turn's messages were flushed.
  private(set) var systemQueuedBytes = 0

  init(_ service: CourierService, _ connection: TLSConnection) {
    (self.service, self.connection) = (service, connection)
    session = CourierServerSession(acceptedAt: SystemClock.now())
  }

  var broker: Broker { service.broker }
  /// The devices on this connection.
  var udids: [UDID] {
    // A reset may have forgotten the devices of a connection that is ending.
    identities.map(\.session.device).filter(broker.registry.contains).map { broker.registry[$0].udid }
  }

  func connectionOpened(_ connection: TLSConnection) { packing = CourierPacking(alpn: connection.alpn) }

  func connection(_ connection: TLSConnection, received bytes: UnsafeRawBufferPointer) {
    let instant = SystemClock.now()
    if let reason = session.bytesReceived(bytes.count, at: instant) { return close(reason) }
    broker.noteRead(at: instant)
    let now = service.clock.now()
    do throws(CourierProtocolError) {
      if packing == nil { try takePlain(bytes, instant, now) } else { try takePacked(bytes, instant, now) }
    } catch {
      perform(session.decodingFailed(error), instant, now)
    }
    countMemory()
    guard unsentBytes > Self.outputLimit else { return }
    connection.setPaused(true)
    connection.notifyWhenDrained()
  }

  private func takePlain(
    _ bytes: UnsafeRawBufferPointer, _ instant: Instant, _ now: Timestamp
  ) throws(CourierProtocolError) {
    var input = bytes
    while connection.isOpen, let frame = try decoder.next(&input, limit: session.frameLimit) {
      if let receipt = try session.acknowledgement(in: frame) {
        acknowledge(receipt, now)
      } else {
        perform(session.frameReceived(frame, at: instant), instant, now)
      }
    }
  }

  private func takePacked(
    _ bytes: UnsafeRawBufferPointer, _ instant: Instant, _ now: Timestamp
  ) throws(CourierProtocolError) {
    var input = bytes
    while connection.isOpen, let command = try packing?.decoder.next(&input, limit: session.frameLimit) {
      let action = command.withFrame { session.frameReceived($0, at: instant) }
      perform(action, instant, now)
    }
  }

  /// Queues whole frames in the form that was agreed on.
  func write(_ frames: [UInt8]) {
    guard packing != nil else { return connection.send(frames) }
    connection.send(packing?.encoder.pack(frames) ?? [])
  }

  func connectionDrained(_ connection: TLSConnection) { connection.setPaused(false) }

  func connectionClosed(_ connection: TLSConnection, reason: String) {
    session.connectionClosed()
    faults?.connectionClosed()
    let now = service.clock.now()
    for identity in identities { broker.disconnect(identity.session, now: now) }
    identities = []
    held.drop()
    service.forget(self)
    service.logger.log(.debug, "device connection ended", [("because", .string(reason))])
  }

  /// Says what is held besides the output.
  private func countMemory() { connection.hold(decoder.heldByteCount + held.count + link.heldBytes) }

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
    case .acknowledge(let receipt): acknowledge(receipt, now)
    case .subscribe(let subscription): subscribe(subscription, now)
    case .close(let reason): close(reason)
    }
  }

  func close(_ reason: CourierCloseReason) { endSession(reason: reason.description) }

  /// Ends it at once: an orderly end would go on reading what somebody sends without end.
  func drop(_ reason: CourierCloseReason) {
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
    guard hasAnswered else { return }
    hasAnswered = false
    session.answerLeft(at: SystemClock.now())
  }

  /// Something is queued that is to leave at the end of the turn.
  func touch() {
    guard !isTouched else { return }
    isTouched = true
    service.touch(self)
  }
}
