import Basics
import Broker
import Cluster
import CourierWire
import Platform
import PushModel
import Services
import Transport

/// What goes to the device: answers, and what the broker has for it.
///
///     stranger ─ an identity is accepted ─→ listening ⟲ messages, broadcasts, changes of apps ─ the session ends ─→ over
///
/// Answers are queued at once, whatever state it is in. What nobody asked for waits behind them until `QuietPause` is over, in its order.
package final class CourierOutput {
  /// Output that may wait for a device that does not read, in bytes: what the broker lets its messages take (8 MiB), and
  /// room for answers. Beyond it the device is not listened to until it has read.
  package static let limit = 9 << 20

  private enum State {
    case stranger
    case listening(Listener)
    case over
  }

  private let service: CourierService
  private let connection: SocketConnection
  private let told: EdgeDevice?
  private(set) lazy var link = DeviceLink(outlet: self)
  private var state = State.stranger
  private var turn: DeviceTurn
  private var pause = QuietPause()
  /// Frames that wait for the end of the pause, and what ends it.
  private var held: [UInt8] = []
  private var release: LoopEvent?
  /// The packed form of the protocol; nil on nearly every connection.
  var packing: CourierPacking?
  /// What the connection holds of what the device has said, in bytes.
  private var heldInput = 0

  package init(_ service: CourierService, _ connection: SocketConnection, _ told: EdgeDevice?) {
    (self.service, self.connection, self.told) = (service, connection, told)
    turn = DeviceTurn(service.devices, service.faults)
  }

  /// Whether an identity has been accepted and the connection is alive.
  @inline(__always)
  var isListening: Bool { if case .listening = state { true } else { false } }
  /// Whether so much waits that the device is not to be listened to.
  var isFull: Bool { unsentBytes > Self.limit }

  /// Somebody is there now, or one more.
  package func begin(_ session: borrowing CourierServerSession) {
    state = .listening(Listener(session, isStrict: service.isPushTypeStrict))
  }

  /// Nothing more is said.
  package func end() { state = .over }

  func connectionClosed() {
    end()
    turn.ended()
    (held, release) = ([], nil)
  }

  /// Sends what the device waits for.
  package func answer(_ bytes: [UInt8]) {
    write(bytes)
    pause.answered()
    touch()
  }

  /// What a filter lets through waits a moment, too: what the device asks for in the same breath is answered first.
  func filterRead(_ now: Instant) {
    if pause.ends(by: now) { pause.answerLeft(at: now) }
  }

  /// Sends what the device did not ask for, at once or when the pause after an answer is over.
  package func tell(_ bytes: [UInt8]) {
    guard case .listening = state else { return }
    touch()
    let now = SystemClock.now()
    if held.isEmpty, pause.ends(by: now) { return write(bytes) }
    held += bytes
    if release == nil { releaseAtEnd(of: pause, now) }
  }

  /// The same to a device that has a phone.
  package func tell(_ order: PhoneOrderCommand) {
    if case .listening(let listener) = state, listener.hasPhone { tell(order.encoded) }
  }

  /// Queues whole frames in the form that was agreed on.
  func write(_ frames: [UInt8]) {
    guard let packing else { return connection.send(frames) }
    connection.send(packing.encoder.pack(frames))
  }

  private func releaseAtEnd(of pause: QuietPause, _ now: Instant) {
    guard !held.isEmpty, let end = pause.end else { return }
    let timer = release ?? LoopEvent(timerOn: service.loop) { [unowned self] in releaseHeld() }
    timer.start(afterNanoseconds: end.nanoseconds(since: now))
    release = timer
  }

  private func releaseHeld() {
    let now = SystemClock.now()
    guard pause.ends(by: now) else { return releaseAtEnd(of: pause, now) }
    write(held)
    (held, release) = ([], nil)
  }

  /// An answer has left; or it waits for a commit still, then it is looked for again behind that.
  private func answerLeft() {
    guard !connection.isHeldBack else { return touch() }
    let now = SystemClock.now()
    pause.answerLeft(at: now)
    releaseAtEnd(of: pause, now)
  }

  @inline(__always)
  private func touch() { turn.touch(self) }

  /// Says what is held besides the output: of what the device has said so many bytes.
  func countMemory(input: Int) {
    heldInput = input
    countMemory()
  }

  /// So many bytes of that have been read since, in a later turn.
  func inputWasRead(bytes: Int) {
    heldInput = max(0, heldInput - bytes)
    countMemory()
  }

  private func countMemory() {
    link.noteUnsent(unsentBytes)
    connection.hold(heldInput + held.count + link.heldBytes)
  }
}

extension CourierOutput: TurnDevice {
  package func flush() {
    let isSpared = turn.flushes()
    // Its connection may have gone in this turn, after it was touched.
    if case .over = state { return }
    guard isSpared else { return connection.abort("dropped by a fault", reset: true) }
    connection.flushNow()
    countMemory()
    turn.systemQueuedBytes = connection.systemQueuedBytes()
    if pause.awaitsAnswer { answerLeft() }
  }
}

/// What the broker has for the device.
extension CourierOutput: CourierOutlet {
  package var unsentBytes: Int { connection.queuedBytes + held.count }
  package var systemQueuedBytes: Int { turn.systemQueuedBytes }

  package func deliver(_ message: OutgoingNotification) -> Int {
    touch()
    if turn.mayInjectFault, injectsFault(message) { return unsentBytes }
    guard case .listening(let listener) = state else { return unsentBytes }
    if pause.isOver, packing == nil {
      connection.append(atMost: message.mostBytes) { message.writeFrame(to: &$0, for: listener) }
    } else {
      tell(message.frame(for: listener))
    }
    return unsentBytes
  }

  private func injectsFault(_ message: OutgoingNotification) -> Bool {
    turn.injectsFault(
      message, on: connection, from: told?.remoteAddress ?? connection.remoteAddress, service.broker.registry)
  }

  package func deliver(
    _ broadcast: ChannelTable.Broadcast, channel: [UInt8], token: DeviceToken, topic: TopicHash
  ) {
    // Nothing remembers who got a broadcast, so one for a device that does not read is lost to it.
    guard case .listening(let listener) = state, unsentBytes < Self.limit else { return }
    var message = CourierMessage(
      token: token, topic: topic, payload: broadcast.payload, messageId: courierMessageID(broadcast.id))
    message.expiry = broadcast.expiry
    message.timestamp = UInt64(clamping: broadcast.sentAt.nanoseconds)
    message.priority = broadcast.priority.rawValue
    message.channel = CourierChannel(id: channel, lastMessageTime: message.timestamp)
    // There are no others (`Documentation/provider-api.md#broadcast`).
    if listener.isSimulated { message.pushType = UInt16(PushType.liveactivity.rawValue) }
    if listener.hasPhone { message.notificationId = broadcast.id }
    tell(message.encoded)
  }

  package func appChanged(_ topic: TopicHash, _ change: AppChange) {
    guard case .listening(let listener) = state, listener.isSimulated else { return }
    let registry = service.broker.registry
    let name = registry.knownTopic(hashed: topic).flatMap { registry[$0].name }
    let frame = AppStateChange(
      AppStateChange.Action(change), topic: change.isOfPhone ? nil : topic,
      topicName: change.isOfPhone ? nil : name
    ).encoded
    // What is done to the phone ends its connection, so that there is no later.
    if change.isOfPhone { write(frame) } else { tell(frame) }
  }

  package func endSession(reason: String) {
    service.logger.log(.info, "device connection closed", [("because", .string(reason))])
    connection.close()
  }
}

/// How much a device is told of a message.
private struct Listener {
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
  func said(_ head: NotificationHead) -> UInt16? {
    guard isSimulated else { return nil }
    let type = head.pushType ?? (hasPhone && isStrict ? .alert : nil)
    return CourierMessage.said(type, priority: head.saysPriority || isStrict || !hasPhone)
  }
}

/// The frame that carries a message to a device.
extension OutgoingNotification {
  /// The frame has so many bytes at most.
  fileprivate var mostBytes: Int {
    CourierMessage.mostAround + content.payload.count + content.collapseId.count
  }

  /// Writes the frame to `output`, which has room for `mostBytes`.
  fileprivate func writeFrame(to output: inout OutputSpan<UInt8>, for listener: Listener) {
    CourierMessage.write(
      to: &output, token: token, topic: topic, payload: content.payload, messageId: messageId,
      expiry: head.expiry,
      timestampNanoseconds: UInt64(clamping: head.receivedAt.nanoseconds), storageFlags: origin.rawValue,
      priority: head.priority.rawValue, apnsId: head.apnsId == (0, 0) ? nil : head.apnsId,
      pushType: listener.said(head),
      collapseId: listener.isSimulated ? content.collapseId : .none,
      notificationId: listener.hasPhone ? head.id : nil)
  }

  fileprivate func frame(for listener: Listener) -> [UInt8] {
    [UInt8](capacity: mostBytes) { writeFrame(to: &$0, for: listener) }
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
