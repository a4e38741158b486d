import Broker
import CourierWire
import Platform
import PushModel
import Transport

/// What the broker has for the device, and the answers to it.
extension CourierConnection: CourierOutlet {
  var unsentBytes: Int { connection.queuedBytes + held.count }

  func deliver(_ message: OutgoingMessage) {
    if service.faults.engine.strikesDeliveries || faults != nil, isStruck(message) { return touch() }
    guard held.isEmpty, packing == nil, mayPush(SystemClock.now()) else {
      sendUnsolicited(message.frame)
      return touch()
    }
    let written = message.writeFrame(to: connection.reserve(message.frameSize))
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

  func appChanged(_ topic: TopicHash, _ change: AppChange) {
    let name = broker.registry.knownTopic(hashed: topic).flatMap { broker.registry[$0].name }
    let state = AppStateChange(
      AppStateChange.Action(change), topic: change == .erase ? nil : topic,
      topicName: change == .erase ? nil : name)
    if let bytes = session.appStateChanged(state) { sendUnsolicited(bytes) }
  }

  func endSession(reason: String) {
    service.logger.log(.info, "device connection closed", [("because", .string(reason))])
    connection.close()
  }

  /// Sends what the device waits for.
  func sendAnswer(_ bytes: [UInt8]) {
    write(bytes)
    hasAnswered = true
    touch()
  }

  /// Sends what the device did not ask for, at once or when the pause after an answer is over.
  func sendUnsolicited(_ bytes: [UInt8]) {
    let now = SystemClock.now()
    guard !mayPush(now) || !held.isEmpty else { return write(bytes) }
    held.append(bytes, releaseAfter: session.holdUntil.nanoseconds(since: now)) {
      LoopEvent(timerOn: service.loop) { [unowned self] in releaseHeld() }
    }
  }

  private func releaseHeld() {
    let now = SystemClock.now()
    guard mayPush(now) || session.isClosed else {
      return held.postpone(by: session.holdUntil.nanoseconds(since: now))
    }
    write(held.take())
  }

  /// Whether what nobody asked for may be sent now, or has to wait behind an answer
  /// (`Documentation/device-protocol.md#quiet-after-an-answer`).
  private func mayPush(_ now: Instant) -> Bool { !hasAnswered && session.mayPush(at: now) }

  private func isStruck(_ message: OutgoingMessage) -> Bool {
    let faults = faults ?? CourierFaults(service.faults, connection)
    self.faults = faults
    let topic = broker.registry.knownTopic(hashed: message.topic)
    return faults.strike(message, topic: topic.map { broker.registry[$0].label })
  }
}
