import Broker
import Console
import LegacyWire
import ProviderAPI
import PushModel

/// Sends a person's test push through the same checks as a provider's, as one whose certificate is for the topic.
enum TestPushSender {
  /// Answers the notification's id.
  static func send(_ push: TestPush, _ emulator: Emulator) -> UInt64 {
    switch push.form {
    case .http2: request(push, emulator)
    case .legacy: frame(push, emulator)
    }
    return emulator.broker.journal.nextId - 1
  }

  private static func request(_ push: TestPush, _ emulator: Emulator) {
    let service = emulator.provider
    let certificate = ProviderCertificate(
      topics: [push.topic], impliedTopic: nil, environments: Set(Environment.allCases))
    let check = ProviderRequestCheck(
      identity: .certificate(certificate), environment: push.environment, directory: service.directory,
      messageIDs: service.messageIDs, options: service.options.checks)
    let message = message(push)
    let now = emulator.clock.now()
    let connection =
      emulator.capture?.connectionOpened(.console, push.environment, topic: push.topic.name) ?? 0
    let source = PushSource(connection: connection)
    defer { emulator.capture?.connectionClosed(connection) }
    // The directory finds topics by name, as issued certificates have made them known.
    _ = emulator.broker.registry.topic(named: push.topic)
    switch check.judge(message, now: now) {
    case .accepted(let accepted):
      _ = service.submit(
        accepted, message, interface: .console, environment: push.environment, now: now, source: source)
    case .rejected(let rejected):
      service.record(
        rejected, message, interface: .console, environment: push.environment, now: now, source: source)
    }
  }

  private static func message(_ push: TestPush) -> HTTPMessage {
    let message = HTTPMessage()
    message.append(name: ":method", value: "POST")
    message.append(name: ":path", value: "/3/device/\(Hex.encode(push.token))")
    message.append(name: "apns-topic", value: push.topic.name)
    let optional: [(String, String?)] = [
      ("apns-push-type", push.pushType?.name), ("apns-priority", push.priority.map(String.init)),
      ("apns-expiration", push.expiration.map(String.init)), ("apns-collapse-id", push.collapseID),
      ("apns-id", push.apnsID),
    ]
    for (name, value) in optional {
      if let value { message.append(name: name, value: value) }
    }
    message.appendBody(push.payload)
    return message
  }

  private static func frame(_ push: TestPush, _ emulator: Emulator) {
    guard let topic = emulator.broker.registry.topic(named: push.topic) else { return }
    var provider = GatewayProvider(topic: topic, environment: push.environment, topics: [topic])
    provider.connection = emulator.capture?.gatewayOpened(provider) ?? 0
    defer { emulator.capture?.connectionClosed(provider.connection) }
    let now = emulator.clock.now()
    var decoder = LegacyDecoder()
    let failure = bytes(push).withUnsafeBytes { bytes in
      decoder.receive(bytes) { notification in
        emulator.gateway.submit(notification, from: provider, now: now)
        return .stop
      }
    }
    if let failure {
      emulator.gateway.recordFailure(failure, decoder.malformedFrame, from: provider, now: now)
    }
  }

  private static func bytes(_ push: TestPush) -> [UInt8] {
    switch push.command {
    case 0: LegacyEncoder.simple(token: push.token, payload: push.payload)
    case 1:
      LegacyEncoder.enhanced(
        identifier: push.identifier, expiration: push.expiration ?? 0, token: push.token,
        payload: push.payload)
    default:
      LegacyEncoder.frame(
        token: push.token, payload: push.payload, identifier: push.identifier, expiration: push.expiration,
        priority: push.priority)
    }
  }
}

extension Gateway {
  /// Checks and submits one notification that did not come over a connection.
  func submit(_ notification: LegacyNotification, from provider: GatewayProvider, now: Timestamp) {
    var submission = provider.submission(notification)
    if let early = LegacyCheck.rejection(notification, limits) ?? provider.rejection {
      submission.detail = detail(early, notification, provider)
      _ = broker.recordRejection(submission, early, now: now)
      return
    }
    let result = broker.submit(submission, now: now)
    guard let rejection = result.rejection else { return }
    broker.journal.attach(detail(rejection, notification, provider), to: result.id)
  }
}
