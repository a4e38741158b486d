import Basics
import Broker
import Console
import Faults
import Platform
import PushModel
import Services
import Transport

/// One device whose connection is the answer to a request of the console: to the broker a device like any other.
///
///     opened ─ the first event, then what was kept ─→ online ─ the reader goes, is too slow, or the broker ends it ─→ gone
///
/// A message is acknowledged once its last byte has left for the reader's system, or when the reader says so. What is neither is
/// kept again when the stream ends.
final class DeviceStream {
  /// How much may wait for a reader that has not taken all there was at the end of the last turn, in bytes; beyond that
  /// notifications stay in their slots, the newest of each token, and broadcasts, which nobody keeps, are lost to it. Far less
  /// than a phone's: each becomes a document of twice its size, and readers that take nothing must cost others no time.
  private static let unreadLimit = 256 << 10
  /// What one costs besides what the connection knows of, its device and token included, in bytes; measured with 5,000, which cost
  /// 3 KiB each (`Documentation/speed.md#fleet-style-streams`).
  private static let ownBytes = 2 << 10

  /// A message that has not left whole.
  private struct Unwritten {
    var id: UInt32
    /// Bytes of the connection up to its end.
    var end: Int
  }

  let form: StreamForm
  private let isExplicit: Bool
  /// Whether it has whatever is installed on the device.
  private let hasAllTopics: Bool
  private unowned let service: StreamService
  private let exchange: HTTPExchange
  private let connection: HTTPConnection
  private(set) lazy var link = DeviceLink(outlet: self)
  /// nil when it has ended.
  private(set) var session: DeviceSession?
  private var unwritten: [Unwritten] = []
  private var turn: DeviceTurn
  /// When the reader gets a sign of life, unless something else comes before.
  var nextBeat: Instant

  init(
    _ order: DeviceStreamOrder, _ form: StreamForm, _ service: StreamService, _ exchange: HTTPExchange,
    _ connection: HTTPConnection
  ) {
    (self.form, self.service, self.exchange, self.connection) = (form, service, exchange, connection)
    (isExplicit, hasAllTopics) = (order.isExplicit, order.topics.isEmpty)
    turn = DeviceTurn(service.devices, service.faults)
    nextBeat = SystemClock.now().adding(nanoseconds: form.beatInterval)
  }

  /// Names it among the others.
  var key: ObjectIdentifier { ObjectIdentifier(exchange) }

  private var broker: Broker { service.broker }
  private var document: StreamDocument { StreamDocument(broker: broker) }

  /// Begins: the head, the first event, and then what is kept for the apps.
  func begin(_ session: DeviceSession, _ topics: [TopicHash]) {
    self.session = session
    exchange.whenGone { [weak self] in self?.readerGone() }
    exchange.whenRead { [weak self] in self?.roomMade() }
    exchange.startStream(.eventStream())
    connection.stand(stallTime: service.timeout)
    connection.hold(Self.ownBytes)
    let now = service.clock.now()
    if form == .console { send(document.registered(session, topics, now: now)) }
    broker.devices.setFilter(session, enabled: topics, now: now)
  }

  /// Sends a sign of life if nothing waits to be read.
  func beat(_ now: Instant) {
    nextBeat = now.adding(nanoseconds: form.beatInterval)
    if exchange.queuedBytes == 0 { exchange.send(form.beat) }
  }

  private func send(_ bytes: [UInt8]) {
    exchange.send(bytes)
    link.noteUnsent(unsentBytes)
    turn.touch(self)
  }

  /// Hands what is queued to the system; what has left whole is delivered.
  func flush() {
    let isSpared = turn.flushes()
    guard session != nil else { return }
    guard isSpared else {
      exchange.end(by: .reset)
      return leave("dropped by a fault")
    }
    connection.flush()
    link.noteUnsent(unsentBytes)
    // Its reader may have gone while bytes were written.
    guard session != nil else { return }
    link.unsentLimit = exchange.queuedBytes > 0 ? Self.unreadLimit : DeviceLink.unsentLimit
    turn.systemQueuedBytes = isExplicit ? connection.systemQueuedBytes : 0
    acknowledgeWritten()
  }

  private func roomMade() {
    guard session != nil else { return }
    link.unsentLimit = DeviceLink.unsentLimit
    acknowledgeWritten()
    broker.deliveries.roomMade(link, now: service.clock.now())
  }

  private func acknowledgeWritten() {
    let written = connection.bytesWritten
    let count = unwritten.prefix { $0.end <= written }.count
    guard count > 0 else { return }
    let ready = unwritten.prefix(count).map(\.id)
    unwritten.removeFirst(count)
    let now = service.clock.now()
    for id in ready { broker.deliveries.acknowledge(link, messageId: id, status: 0, now: now) }
    service.devices.madeProgress = true
  }

  /// The reader says that it has these; answers how many it had not said that of.
  func acknowledge(_ ids: [UInt64]) -> Int {
    let now = service.clock.now()
    let taken = ids.count {
      broker.deliveries.acknowledge(link, messageId: courierMessageID($0), status: 0, now: now) == .taken
    }
    if taken > 0 { service.devices.madeProgress = true }
    return taken
  }

  // MARK: Ending

  private func readerGone() {
    if connection.isOverdue { service.unreadCount += 1 }
    leave(connection.isOverdue ? "the reader read nothing for too long" : "the reader closed the connection")
  }

  /// The broker keeps again what was not acknowledged.
  private func leave(_ reason: String) {
    guard let session else { return }
    self.session = nil
    broker.devices.sessionEnded(session, now: service.clock.now())
    ended(reason)
  }

  private func ended(_ reason: String) {
    unwritten = []
    turn.ended()
    service.forget(self)
    service.logger.log(.debug, "device stream ended", [("because", .string(reason))])
  }
}

/// What the broker has for the device.
extension DeviceStream: CourierOutlet, TurnDevice {
  var way: DeviceWay { .stream }
  var systemQueuedBytes: Int { turn.systemQueuedBytes }
  var unsentBytes: Int { exchange.queuedBytes }

  func deliver(_ message: OutgoingNotification) -> Int {
    if turn.mayInjectFault,
      turn.injectsFault(message, on: connection, from: connection.remoteAddress, broker.registry)
    {
      turn.touch(self)
      return unsentBytes
    }
    send(form.bytes(message, document, now: service.clock.now()))
    service.count(message.origin)
    if !isExplicit {
      unwritten.append(Unwritten(id: message.messageId, end: connection.bytesWritten + exchange.queuedBytes))
    }
    return unsentBytes
  }

  func deliver(
    _ broadcast: ChannelTable.Broadcast, channel: [UInt8], token: DeviceToken, topic: TopicHash
  ) {
    guard form == .console, exchange.queuedBytes < link.unsentLimit else { return }
    send(document.broadcast(broadcast, channel: channel, topic: topic, now: service.clock.now()))
  }

  func appChanged(_ topic: TopicHash, _ change: AppChange) {
    guard let session else { return }
    let now = service.clock.now()
    if form == .console { send(document.app(topic, change, of: session, now: now)) }
    guard hasAllTopics, !change.isOfPhone else { return }
    broker.devices.setFilter(
      session, enabled: broker.apps.topics(of: session.device, in: session.environment), now: now)
  }

  func endSession(reason: String) {
    guard session != nil else { return }
    session = nil
    if form == .console { exchange.send(document.end(reason, now: service.clock.now())) }
    exchange.endStream()
    ended(reason)
  }
}

/// How a stream says what it has to say.
enum StreamForm {
  /// Events of the console's API.
  case console
  /// As the simulated devices of Fleet's load test read them (`Documentation/mdm.md#fleets-load-test`): each push one event, its
  /// data the payload as it was sent.
  case fleet

  /// How often a reader that nothing comes for gets a sign of life, in nanoseconds. Fleet's is Fleet's; the console's is that of
  /// its other streams.
  var beatInterval: Int64 { self == .fleet ? 30_000_000_000 : 15_000_000_000 }

  /// The sign of life.
  var beat: [UInt8] { ServerSentEvent.comment(self == .fleet ? "keepalive" : "") }

  /// A notification.
  func bytes(_ message: OutgoingNotification, _ document: StreamDocument, now: Timestamp) -> [UInt8] {
    switch self {
    case .console: document.push(message, now: now)
    case .fleet: ServerSentEvent.bytes("ping", data: Array(message.content.payload))
    }
  }
}
