import Broker
import Console
import Faults
import LegacyWire
import ProviderAPI
import PushModel

/// Sends a person's test push through the same checks as a provider's, as one whose certificate is for the topic. Faults
/// strike it likewise; there is no connection that could break, so the history tells what would have.
enum TestPushSender {
  /// `done` gets the notification's id.
  static func send(_ push: TestPush, _ emulator: Emulator, done: @escaping (UInt64) -> Void) {
    emulator.broker.noteRead()
    switch push.form {
    case .http2: request(push, emulator, done)
    case .legacy: frame(push, emulator, done)
    }
  }

  // MARK: HTTP/2

  private static func request(_ push: TestPush, _ emulator: Emulator, _ done: @escaping (UInt64) -> Void) {
    let certificate = ProviderCertificate(
      topics: [push.topic], impliedTopic: nil, environments: Set(Environment.allCases))
    let number =
      emulator.capture?.connectionOpened(.console, push.environment, topic: push.topic.name) ?? 0
    let requests = ProviderRequests(
      emulator.provider, identity: .certificate(certificate), environment: push.environment,
      interface: .console, number: number)
    // The directory finds topics by name, as issued certificates have made them known.
    _ = emulator.broker.registry.topic(named: push.topic)
    let message = message(push)
    let judged = requests.judge(message, now: emulator.clock.now())
    let faults = emulator.faults
    let decision =
      faults.mayStrike(message)
      ? faults.decide(message, judged, .console, requests.identity, connection: nil) : nil
    faults.after(decision) {
      carryOut(decision, requests, judged, message, now: emulator.clock.now())
      emulator.capture?.connectionClosed(number)
      done(emulator.broker.journal.nextId - 1)
    }
  }

  private static func carryOut(
    _ decision: FaultEngine.Decision?, _ requests: ProviderRequests, _ judged: JudgedRequest,
    _ message: HTTPMessage, now: Timestamp
  ) {
    guard let decision else { return _ = requests.act(judged, on: message, now: now) }
    switch FaultPlan(decision, on: .streams).fate {
    case .refuse(let refusal):
      let refused = decision.refusal(judged.messageID, refusal.rejection, now: now)
      _ = requests.reject(refused, judged, message, now: now, fault: decision.struck(isAnswered: true))
    case .take where decision.isMagic && judged.lacksOnlyToken:
      _ = requests.acceptAnyway(judged, message, now: now)
    case .take: _ = requests.act(judged, on: message, now: now)
    default: requests.swallow(judged, message, decision, decision.words, now: now)
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

  // MARK: The binary protocol

  private static func frame(_ push: TestPush, _ emulator: Emulator, _ done: @escaping (UInt64) -> Void) {
    guard let topic = emulator.broker.registry.topic(named: push.topic) else {
      return done(emulator.broker.journal.nextId - 1)
    }
    var provider = GatewayProvider(topic: topic, environment: push.environment, topics: [topic])
    provider.connection = emulator.capture?.gatewayOpened(provider) ?? 0
    let bytes = bytes(push)
    let decision = decide(bytes, push.topic.name, emulator.faults)
    emulator.faults.after(decision) { [provider] in
      carryOut(decision, bytes, provider, emulator)
      emulator.capture?.connectionClosed(provider.connection)
      done(emulator.broker.journal.nextId - 1)
    }
  }

  private static func decide(_ frame: [UInt8], _ topic: String, _ faults: FaultService)
    -> FaultEngine.Decision?
  {
    frame.withUnsafeBytes { bytes in
      guard case .notification(let notification) = LegacyFrameParser.next(in: bytes),
        faults.mayStrike(notification.token)
      else { return nil }
      var point = FaultPoint(.push, at: .gateway)
      (point.topic, point.priority) = (topic, notification.priority)
      if let token = notification.token { point.token = token }
      return faults.decide(point)
    }
  }

  private static func carryOut(
    _ decision: FaultEngine.Decision?, _ frame: [UInt8], _ provider: GatewayProvider, _ emulator: Emulator
  ) {
    let now = emulator.clock.now()
    var decoder = LegacyDecoder()
    let failure = frame.withUnsafeBytes { bytes in
      decoder.receive(bytes) { notification in
        emulator.gateway.submit(notification, from: provider, decision, now: now)
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
  /// Checks and submits one notification that did not come over a connection, or does what a fault wants.
  func submit(
    _ notification: LegacyNotification, from provider: GatewayProvider, _ decision: FaultEngine.Decision?,
    now: Timestamp
  ) {
    var submission = provider.submission(notification)
    switch decision.map({ FaultPlan($0, on: .frames).fate }) {
    case .take?, nil: break
    case .refuse(let refusal)?: return record(submission, decision, refusal.rejection, now)
    case _?: return record(submission, decision, nil, now)
    }
    if let early = LegacyCheck.rejection(notification, limits) ?? provider.rejection {
      submission.detail = detail(early, notification, provider)
      _ = broker.recordRejection(submission, early, now: now)
      return
    }
    guard decision?.isMagic != true else { return broker.recordAccepted(submission, now: now) }
    let result = broker.submit(submission, now: now)
    guard let rejection = result.rejection else { return }
    broker.journal.attach(detail(rejection, notification, provider), to: result.id)
  }

  private func record(
    _ submission: Submission, _ decision: FaultEngine.Decision?, _ rejection: Rejection?, _ now: Timestamp
  ) {
    var submission = submission
    submission.detail = NotificationDetail(
      explanation: decision?.explanation, fault: decision?.struck(isAnswered: rejection != nil))
    _ = broker.recordRejection(submission, rejection ?? .internalServerError, now: now)
  }
}
