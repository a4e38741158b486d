import Basics
import Credentials
import Emulator
import LegacyWire
import Platform
import PushModel
import SimulatedProvider
import Transport

/// What a provider learned of a push.
struct PushOutcome: Sendable {
  let name: String
  let interface: ScenarioPush.Interface
  var status: Int?
  var reason: String?
  var legacyStatus: UInt8?
  var isClosed = false
  /// No answer, and why.
  var problem: String?

  var isAccepted: Bool {
    interface == .http2 ? status == 200 : legacyStatus == nil && !isClosed && problem == nil
  }

  /// For people.
  var text: String {
    if let problem { return problem }
    switch interface {
    case .http2: return [status.map { "\($0)" }, reason].compactMap { $0 }.joined(separator: " ")
    case .legacy:
      if let legacyStatus { return "error packet with status \(legacyStatus)" }
      return isClosed ? "the connection was closed" : "no error packet, so accepted"
    }
  }
}

/// A push on its way: a connection for itself, on the emulator's own loop.
protocol PushAttempt: AnyObject {
  /// nil while nothing is known.
  var outcome: PushOutcome? { get }
  func end()
}

/// The provider of a scenario.
final class ScenarioProvider {
  private let emulator: Emulator
  private let credentials: TemporaryCredentials

  init(_ emulator: Emulator, _ credentials: TemporaryCredentials) {
    (self.emulator, self.credentials) = (emulator, credentials)
  }

  /// Begins to send; `name` is what the report calls the addressee.
  func send(
    _ push: ScenarioPush, to token: [UInt8], _ topic: Topic, named name: String
  ) throws -> any PushAttempt {
    switch push.by {
    case .http2:
      let context = try context(push, topic, maximum: .tls13)
      return try HTTP2Attempt(
        name, emulator, serverName("api"), context, head(push, topic), path: "/3/device/\(Hex.encode(token))",
        body: push.bytes)
    case .legacy:
      let context = try context(push, topic, maximum: .tls12)
      return try LegacyAttempt(name, emulator, serverName("gateway"), context, frame(push, token))
    }
  }

  private func serverName(_ service: String) -> String {
    emulator.options.environment.host(of: service)
  }

  private func context(
    _ push: ScenarioPush, _ topic: Topic, maximum: TLSPolicy.Version
  ) throws -> TLSContext {
    var policy = TLSPolicy()
    policy.maximum = maximum
    guard push.by == .legacy || push.credential == .certificate else {
      return try TLSContext.client(ca: emulator.ports.ca, policy: policy)
    }
    let issued = try credentials.certificate(topic, in: emulator.certs)
    return try TLSContext.client(
      ca: emulator.ports.ca, certificate: issued.certificate, key: issued.key, policy: policy)
  }

  // MARK: What is sent

  private func head(_ push: ScenarioPush, _ topic: Topic) throws -> HTTP2RequestHead {
    var fields = [(name: "apns-topic", value: topic.name)]
    if push.credential == .key {
      fields.append(("authorization", "bearer \(try bearer())"))
    }
    let optional: [(String, String?)] = [
      ("apns-push-type", push.type?.name), ("apns-priority", push.priority.map { "\($0.rawValue)" }),
      ("apns-collapse-id", push.collapseId), ("apns-expiration", expiration(push).map { "\($0)" }),
    ]
    fields += optional.compactMap { name, value in value.map { (name: name, value: $0) } }
    return HTTP2RequestHead(authority: serverName("api"), fields: fields)
  }

  /// As of now on the emulator's clock.
  private func bearer() throws -> String {
    try credentials.bearer(in: emulator.certs, at: emulator.clock.now())
  }

  private func frame(_ push: ScenarioPush, _ token: [UInt8]) -> [UInt8] {
    let command = LegacyCommand(rawValue: UInt8(push.command)) ?? .frame
    var legacy = LegacyPush(command: command, token: token, payload: push.bytes, identifier: 1)
    legacy.expiration = expiration(push) ?? (command == .enhanced ? .max : nil)
    legacy.priority = command == .frame ? push.priority?.rawValue : nil
    return legacy.frame
  }

  private func expiration(_ push: ScenarioPush) -> UInt32? {
    push.expiration.map {
      $0 == 0 ? 0 : UInt32(clamping: emulator.clock.now().adding(nanoseconds: $0).seconds)
    }
  }
}

/// Over HTTP/2.
private final class HTTP2Attempt: PushAttempt, HTTP2ClientOwner {
  private(set) var outcome: PushOutcome?
  private let name: String
  private var connection: HTTP2ClientConnection?

  init(
    _ name: String, _ emulator: Emulator, _ serverName: String, _ context: TLSContext,
    _ head: HTTP2RequestHead,
    path: String, body: [UInt8]
  ) throws {
    self.name = name
    let connection = try HTTP2ClientConnection(
      loop: emulator.loop, to: emulator.address("provider"), serverName: serverName, context: context,
      owner: self)
    self.connection = connection
    _ = connection.send(head, path: path, body: body)
  }

  func connection(_ connection: HTTP2ClientConnection, settled context: Int, _ end: HTTP2Outcome) {
    var outcome = PushOutcome(name: name, interface: .http2)
    switch end {
    case .answered(let stream):
      outcome.status = stream.status
      outcome.reason = JSONReader.read(stream.body)?.string("reason")
    case .refused(let why), .lost(let why):
      let reason = connection.goAway.flatMap { JSONReader.read($0.debugData)?.string("reason") }
      (outcome.reason, outcome.problem) = (reason, "no answer: \(reason ?? why)")
    }
    self.outcome = self.outcome ?? outcome
  }

  func connectionClosed(_ connection: HTTP2ClientConnection, reason: String) {
    guard outcome == nil else { return }
    outcome = PushOutcome(name: name, interface: .http2, problem: "no answer: \(reason)")
  }

  func end() {
    connection?.end()
    connection = nil
  }
}

/// Over the binary protocol, where success is silence: it is known once the emulator has taken the frame.
private final class LegacyAttempt: PushAttempt, ConnectionHandler {
  private let name: String
  private let frame: [UInt8]
  private let emulator: Emulator
  private var connection: SocketConnection?
  private var received: [UInt8] = []
  private var ending: String?
  /// The number that the push will have, or a later one.
  private let first: UInt64

  init(
    _ name: String, _ emulator: Emulator, _ serverName: String, _ context: TLSContext, _ frame: [UInt8]
  ) throws {
    (self.name, self.frame, self.emulator) = (name, frame, emulator)
    first = emulator.broker.journal.nextId
    connection = try TLSClient.connect(
      loop: emulator.loop, to: emulator.address("gateway"), serverName: serverName, context: context,
      handler: self)
  }

  var outcome: PushOutcome? {
    let known = LegacyOutcome(received: received, isClosed: ending != nil)
    var outcome = PushOutcome(name: name, interface: .legacy)
    switch known {
    case .error(let packet): outcome.legacyStatus = packet.status
    case .closed: outcome.isClosed = true
    case .silence:
      guard let record = emulator.broker.journal[first], record.rejection == nil else { return nil }
    }
    return outcome
  }

  func connectionOpened(_ connection: SocketConnection) { connection.send(frame) }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    received.append(bytes)
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) { ending = reason }

  func end() {
    connection?.end()
    connection = nil
  }
}
