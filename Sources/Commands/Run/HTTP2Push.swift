import Basics
import Credentials
import Platform
import PushModel
import SimulatedProvider
import Transport

/// One push over HTTP/2, or the same many times on one connection, with a provider token or a certificate.
final class HTTP2Push: HTTP2ClientOwner {
  private let settings: Settings
  private let emulator: RunningEmulator
  private let payload: [UInt8]
  private let client: ClientLoop
  private var answer: JSONValue?
  private var isAccepted = false
  private var failure: String?
  /// Not submitted yet.
  private var left: Int
  private var tally = PushTally()
  private var request: (head: HTTP2RequestHead, path: String, body: [UInt8])?
  private var openedAt: Instant?

  init(_ settings: Settings, _ emulator: RunningEmulator, payload: [UInt8]) throws {
    (self.settings, self.emulator, self.payload) = (settings, emulator, payload)
    client = try ClientLoop()
    left = settings[SendCommand.count] ?? 1
  }

  func run() throws -> ExitStatus {
    let (answer, isAccepted) = try perform()
    try Output.line(answer.text)
    return isAccepted ? .success : .failure
  }

  /// What became of it, and whether it was accepted; throws if there is no emulator to say so.
  func perform() throws -> (answer: JSONValue, isAccepted: Bool) {
    let name = SendCommand.serverName("api", settings, emulator)
    let token = Hex.encode(settings[SendCommand.token] ?? [])
    let head = HTTP2RequestHead(authority: name, fields: try fields())
    request = (head, "/3/device/\(token)", payload)
    let address = try emulator.address("provider")
    let connection = try HTTP2ClientConnection(
      loop: client.loop, to: address, serverName: name, context: try context(), owner: self)
    send(on: connection)
    client.run(limit: settings[SendCommand.timeout]?.nanoseconds)
    if answer == nil, let openedAt, !isSeries { answer = unanswered(since: openedAt) }
    let why = failure
    connection.end()
    if let count = settings[SendCommand.count], let openedAt {
      answer = answer ?? tally.json(of: count, nanoseconds: SystemClock.now().nanoseconds(since: openedAt))
      isAccepted = tally.accepted == count
    }
    if let refusal = why.flatMap(TLSRefusal.init), !isAccepted, tally.count == 0 {
      answer = refusal.json([("interface", "provider")])
    }
    guard let answer else { throw RunningEmulator.unreachable(address, why) }
    return (answer, isAccepted)
  }

  private func context() throws -> TLSContext {
    guard settings[SendCommand.key] == nil else {
      return try TLSContext.client(ca: try emulator.ca, policy: TLSPolicy())
    }
    return try SendCommand.certificateContext(settings, emulator, maximum: .tls13)
  }

  // MARK: Request

  private func fields() throws -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    if let path = settings[SendCommand.key] { fields.append(("authorization", "bearer \(try bearer(path))")) }
    fields.append(("apns-topic", settings[SendCommand.topic]?.name ?? ""))
    let optional: [(String, String?)] = [
      ("apns-push-type", settings[SendCommand.pushType]),
      ("apns-collapse-id", settings[SendCommand.collapseId]),
      ("apns-id", settings[SendCommand.apnsId]),
      ("apns-priority", settings[SendCommand.priority].map { "\($0)" }),
      ("apns-expiration", settings[SendCommand.expiration].map { "\($0.seconds(from: CertsCommand.now()))" }),
    ]
    return fields + optional.compactMap { name, value in value.map { (name: name, value: $0) } }
  }

  private func bearer(_ path: String) throws -> String {
    let (keyId, team) = try SendCommand.keyAndTeam(path, settings, command: "send")
    return try ProviderTokenSigner(p8Path: path, keyId: keyId, teamId: team).token(at: CertsCommand.now())
  }

  private func send(on connection: HTTP2ClientConnection) {
    guard let request else { return }
    while left > 0, connection.openStreams < HTTP2ClientConnection.streamLimit {
      guard connection.send(request.head, path: request.path, body: request.body) else { return }
      left -= 1
    }
  }

  // MARK: Answer

  func connection(_ connection: HTTP2ClientConnection, settled context: Int, _ outcome: HTTP2Outcome) {
    switch outcome {
    case .answered(let stream) where isSeries: count(stream)
    // Those that were on a connection when it closed did not come to an end.
    case .refused where isSeries, .lost where isSeries: if !connection.isClosed { tally.wentUnanswered() }
    case .answered(let stream): take(stream)
    case .refused(let reason), .lost(let reason): end(reason)
    }
  }

  func connectionAdvanced(_ connection: HTTP2ClientConnection) {
    openedAt = openedAt ?? SystemClock.now()
    if isSeries { goOn(connection) }
  }

  func connectionLeaving(_ connection: HTTP2ClientConnection) {
    if !isSeries, answer == nil, let goAway = connection.goAway { takeGoAway(goAway.debugData) }
  }

  func connectionClosed(_ connection: HTTP2ClientConnection, reason: String) { end(reason) }

  /// The rest of a series; a GOAWAY ends it once what was open has come to an end.
  private func goOn(_ connection: HTTP2ClientConnection) {
    send(on: connection)
    guard connection.openStreams == 0, left == 0 || connection.goAway != nil else { return }
    if let goAway = connection.goAway, tally.count == 0 { takeGoAway(goAway.debugData) }
    client.stop()
  }

  private var isSeries: Bool { settings[SendCommand.count] != nil }

  private func count(_ stream: HTTP2ClientStream) {
    let reason = JSONReader.read(stream.body)?["reason"]?.string
    tally.answered(status: stream.status, reason: reason)
  }

  private func end(_ reason: String) {
    failure = failure ?? reason
    client.stop()
  }

  /// The whole connection was refused (`Documentation/provider-api.md#goaway`, GOAWAY).
  private func takeGoAway(_ debugData: [UInt8]) {
    let reason = JSONReader.read(debugData)?["reason"] ?? .string(String(decoding: debugData, as: UTF8.self))
    answer = .object(
      [("interface", "provider"), ("accepted", .bool(false)), ("goaway", .bool(true))] + explained(reason))
    client.stop()
  }

  /// The emulator's own explanation, if it gives one, says what was expected and what came.
  private func explained(_ reason: JSONValue, by field: String? = nil) -> [(String, JSONValue)] {
    let rejection = reason.string.flatMap { Rejection(reason: $0) }
    return [("reason", reason), ("explanation", .optional(field ?? rejection?.sentence))]
  }

  private func explanation(_ stream: HTTP2ClientStream) -> String? {
    stream.message.fields.first { $0.name == HTTP2Response.explanationField }?.value
  }

  /// What became of a push that was sent and has no answer: an outcome too, so it is told as one.
  private func unanswered(since openedAt: Instant) -> JSONValue {
    let waited = SystemClock.now().nanoseconds(since: openedAt) / 1_000_000
    let why =
      switch failure {
      case nil: "no answer within \(waited) ms"
      case "closed"?: "the connection was closed without an answer"
      case let reason?: reason
      }
    return ["interface": "provider", "accepted": false, "explanation": .string(why)]
  }

  private func take(_ stream: HTTP2ClientStream) {
    isAccepted = stream.status == 200
    var members: [(String, JSONValue)] = [
      ("interface", "provider"), ("accepted", .bool(isAccepted)), ("status", stream.status.json),
      ("apnsId", .optional(stream.message.text(.apnsId))),
    ]
    if let body = JSONReader.read(stream.body) {
      members += explained(
        body["reason"] ?? .null, by: explanation(stream))
      if let timestamp = body["timestamp"] { members.append(("timestamp", timestamp)) }
    }
    answer = .object(members)
    client.stop()
  }
}
