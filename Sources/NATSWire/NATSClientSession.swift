import Basics

/// A client's side of one connection to a NATS server: what to say, and what what was heard means. No I/O, no clock.
///
///     awaitingInfo ─→ (awaitingTLS) ─→ introduced ─→ ready ─→ …        a failure or an -ERR ends it in any state
///
/// The owner hands in what came, takes events until there are none, and sends what `output` holds:
///
///     session.receive(bytes, now: now)
///     while let event = try session.next() { … }
///     connection.send(session.output); session.output.removeAll(keepingCapacity: true)
///
/// What is said before the session is ready goes out right behind the introduction.
public struct NATSClientSession: ~Copyable {
  public enum Event: Equatable, Sendable {
    /// The server, or the client, wants TLS from here on. The owner says `tlsIsUp` when it is.
    case startTLS
    /// The server has let us in.
    case ready(NATSServerInfo)
    /// The server says something new of itself.
    case changed(NATSServerInfo)
    /// For a subscription of ours.
    case message(NATSMessage)
    /// To a request.
    case answer(NATSRequest, NATSAnswer)
  }

  private enum State { case awaitingInfo, awaitingTLS, introduced, ready }

  /// Seconds after which a connection on which nothing was heard is asked whether it is still there.
  public static let quietSeconds: Int64 = 2
  /// Questions without an answer after which it counts as lost.
  public static let unansweredLimit = 2
  /// Requests that may wait for their answers at a time.
  public static let requestLimit = 1 << 16
  private static let inboxSubscription: UInt64 = 1

  private let introduction: (_ nonce: String?) -> NATSIntroduction
  private let wantsTLS: Bool
  /// Where answers come: a subject that nobody else has.
  private let inbox: String
  /// What subjects begin with that only whoever asks hears, by convention of all NATS clients.
  public static let inboxes = "_INBOX."
  private var decoder: NATSDecoder
  private var state = State.awaitingInfo
  /// Said before the server has let us in.
  private var early: [UInt8] = []
  /// What is to be sent.
  public var output: [UInt8] = []
  /// What the server said last of itself.
  public private(set) var info = NATSServerInfo()
  private var nextSubscription = Self.inboxSubscription + 1
  private var waiting: [NATSRequest: Instant] = [:]
  private var nextRequest: UInt64 = 1
  private var overdue: [NATSRequest] = []
  private var heardAt: Instant
  private var askedAt: Instant?
  private var unanswered = 0

  /// `unique` makes the inbox one that nobody else has: 16 random bytes or more. `introduction` is asked with the nonce of a
  /// server that has one to be signed.
  public init(
    unique: [UInt8], wantsTLS: Bool = false, payloadLimit: Int = 8 << 20, now: Instant,
    introduction: @escaping (_ nonce: String?) -> NATSIntroduction
  ) {
    (self.introduction, self.wantsTLS, heardAt) = (introduction, wantsTLS, now)
    inbox = "\(Self.inboxes)\(Hex.encode(unique))."
    decoder = NATSDecoder(payloadLimit: payloadLimit)
  }

  /// Requests without an answer so far.
  public var waitingCount: Int { waiting.count }

  // MARK: Hearing

  public mutating func receive(_ bytes: Span<UInt8>, now: Instant) {
    (heardAt, askedAt, unanswered) = (now, nil, 0)
    decoder.receive(bytes)
  }

  /// The next event; nil when there is nothing more for now.
  public mutating func next() throws(NATSSessionEnd) -> Event? {
    if let request = overdue.popLast() { return .answer(request, .late) }
    while let heard = try decoded() {
      if let event = try understand(heard) { return event }
    }
    return nil
  }

  private mutating func decoded() throws(NATSSessionEnd) -> NATSEvent? {
    do { return try decoder.next() } catch { throw .broken(error) }
  }

  private mutating func understand(_ heard: NATSEvent) throws(NATSSessionEnd) -> Event? {
    switch heard {
    case .ping: say(.pong, atOnce: true)
    case .pong:
      guard state == .introduced else { return nil }
      state = .ready
      output += early
      early = []
      return .ready(info)
    case .ok: break
    case .error(let words): throw .refused(words)
    case .info(let info): return try take(info)
    case .message(let message):
      guard message.subscription == Self.inboxSubscription else { return .message(message) }
      return answer(message)
    }
    return nil
  }

  private mutating func take(_ info: NATSServerInfo) throws(NATSSessionEnd) -> Event? {
    self.info = info
    switch state {
    case .awaitingInfo:
      guard info.hasHeaders else { throw .unsuitable("it has no headers (NATS 2.2 or later has them)") }
      guard info.needsTLS || wantsTLS else {
        introduce()
        return nil
      }
      // What is secret must not go out as it is.
      guard info.needsTLS || info.offersTLS else { throw .unsuitable("it has no TLS, which is required") }
      state = .awaitingTLS
      return .startTLS
    case .awaitingTLS: throw .broken(.malformed("a second INFO before TLS"))
    case .introduced, .ready: return .changed(info)
    }
  }

  /// The owner has TLS up, which `startTLS` asked for.
  public mutating func tlsIsUp() {
    guard state == .awaitingTLS else { return }
    introduce()
  }

  private mutating func introduce() {
    state = .introduced
    say(.connect(introduction(info.nonce)), atOnce: true)
    say(.subscribe(subject: inbox + "*", subscription: Self.inboxSubscription), atOnce: true)
    // Answered by PONG once we are let in, and by -ERR if not.
    say(.ping, atOnce: true)
  }

  private mutating func answer(_ message: NATSMessage) -> Event? {
    guard let number = UInt64(message.subject.dropFirst(inbox.count)),
      waiting.removeValue(forKey: NATSRequest(number: number)) != nil
    else { return nil }
    let isUnheard = message.headers?.status == 503 && message.payload.isEmpty
    return .answer(NATSRequest(number: number), isUnheard ? .nobodyListens : .message(message))
  }

  // MARK: Saying

  private mutating func say(_ command: NATSCommand, atOnce: Bool = false) {
    if atOnce || state == .ready { command.write(to: &output) } else { command.write(to: &early) }
  }

  public mutating func publish(_ subject: String, headers: NATSHeaders? = nil, _ payload: [UInt8]) {
    say(.publish(subject: subject, headers: headers, payload: payload))
  }

  /// Messages of a subject, which may have wildcards; they come with the number that this answers.
  public mutating func subscribe(_ subject: String) -> UInt64 {
    defer { nextSubscription += 1 }
    say(.subscribe(subject: subject, subscription: nextSubscription))
    return nextSubscription
  }

  public mutating func unsubscribe(_ subscription: UInt64) { say(.unsubscribe(subscription: subscription)) }

  /// Publishes what is to be answered, once, until `deadline`. Nil, with nothing said, where too many wait already.
  public mutating func request(
    _ subject: String, headers: NATSHeaders? = nil, _ payload: [UInt8], until deadline: Instant
  ) -> NATSRequest? {
    guard waiting.count < Self.requestLimit else { return nil }
    let request = NATSRequest(number: nextRequest)
    nextRequest += 1
    waiting[request] = deadline
    say(.publish(subject: subject, reply: inbox + String(request.number), headers: headers, payload: payload))
    return request
  }

  // MARK: Time

  /// To be called now and then, about once a second: finds requests that were answered too late, and asks a server that says
  /// nothing whether it is there.
  public mutating func tick(_ now: Instant) throws(NATSSessionEnd) {
    overdue += waiting.filter { $0.value <= now }.keys.sorted { $0.number > $1.number }
    for request in overdue { waiting[request] = nil }
    let since = max(heardAt, askedAt ?? heardAt)
    guard now.nanoseconds(since: since) >= Self.quietSeconds * 1_000_000_000 else { return }
    guard state == .ready, unanswered < Self.unansweredLimit else { throw .silent }
    unanswered += 1
    askedAt = now
    say(.ping)
  }
}

/// A request that was made on a session.
public struct NATSRequest: Hashable, Comparable, Sendable {
  let number: UInt64

  /// In the order of asking.
  public static func < (left: NATSRequest, right: NATSRequest) -> Bool { left.number < right.number }
}

/// What becomes of a request.
public enum NATSAnswer: Equatable, Sendable {
  case message(NATSMessage)
  /// The server says that no one listens to the subject.
  case nobodyListens
  /// Nothing came in time. Whether somebody has acted on it is not known.
  case late
  /// Not sent, as the server takes no such message: its bytes with headers, and how many there may be.
  case tooLarge(Int, limit: Int)
}

/// Why a session is over.
public enum NATSSessionEnd: Error, Equatable, Sendable, CustomStringConvertible {
  case broken(NATSFailure)
  /// In the server's words.
  case refused(String)
  case unsuitable(String)
  case silent

  public var description: String {
    switch self {
    case .broken(let failure): "\(failure)"
    case .refused(let words): "the NATS server refuses this node: \(words)"
    case .unsuitable(let why): "the NATS server is unsuitable: \(why)"
    case .silent: "the NATS server no longer responds"
    }
  }
}

/// What a server says of itself before anything else, and again when that changes. Members that a client does not need are
/// passed over.
public struct NATSServerInfo: Equatable, Sendable {
  public var serverName = ""
  public var hasJetStream = false
  public var hasHeaders = false
  /// Whether TLS begins behind this line.
  public var needsTLS = false
  /// Whether TLS may begin there.
  public var offersTLS = false
  /// Largest message, in bytes.
  public var maximumPayload = 1 << 20
  /// What a client signs that has a key of its own.
  public var nonce: String?
  /// It is about to stop: clients should go elsewhere.
  public var isLeaving = false

  public init() {}

  public init(json: [UInt8]) throws(NATSFailure) {
    guard case .object(let members)? = JSONReader.read(json) else {
      throw .malformed("an INFO that is no JSON object")
    }
    for (name, value) in members {
      switch (name, value) {
      case ("server_name", .string(let text)): serverName = text
      case ("jetstream", .bool(let isOn)): hasJetStream = isOn
      case ("headers", .bool(let isOn)): hasHeaders = isOn
      case ("tls_required", .bool(let isOn)): needsTLS = isOn
      case ("tls_available", .bool(let isOn)): offersTLS = isOn
      case ("ldm", .bool(let isOn)): isLeaving = isOn
      case ("nonce", .string(let text)): nonce = text
      case ("max_payload", .integer(let count)) where count > 0: maximumPayload = Int(count)
      case ("max_payload", _), ("nonce", _), ("jetstream", _), ("headers", _), ("tls_required", _):
        throw .malformed("an INFO whose \(name) is \(value.text.prefix(40))")
      default: break
      }
    }
  }
}

/// What a client says to a NATS server.
///
///     NATSCommand.subscribe(subject: "_INBOX.x.*", subscription: 1).write(to: &output)
public enum NATSCommand: Equatable, Sendable {
  /// The first thing, behind the server's INFO.
  case connect(NATSIntroduction)
  /// `headers` and `payload` together must not be larger than the server's `maximumPayload`.
  case publish(subject: String, reply: String? = nil, headers: NATSHeaders? = nil, payload: [UInt8] = [])
  case subscribe(subject: String, subscription: UInt64)
  case unsubscribe(subscription: UInt64)
  case ping
  case pong

  /// Appends it as it is sent.
  public func write(to output: inout [UInt8]) {
    switch self {
    case .connect(let introduction): output += Array("CONNECT ".utf8) + introduction.document.encoded
    case .publish(let subject, let reply, nil, let payload):
      output += "PUB \(Self.words(subject, reply))\(payload.count)\r\n".utf8
      output += payload
    case .publish(let subject, let reply, let headers?, let payload):
      let head = headers.encoded
      output += "HPUB \(Self.words(subject, reply))\(head.count) \(head.count + payload.count)\r\n".utf8
      output += head
      output += payload
    case .subscribe(let subject, let subscription): output += "SUB \(subject) \(subscription)".utf8
    case .unsubscribe(let subscription): output += "UNSUB \(subscription)".utf8
    case .ping: output += "PING".utf8
    case .pong: output += "PONG".utf8
    }
    output += "\r\n".utf8
  }

  private static func words(_ first: String, _ second: String?) -> String {
    second.map { "\(first) \($0) " } ?? "\(first) "
  }

  /// Whether a server takes this as the subject of a message: words between points, without blanks or wildcards.
  public static func isSubject(_ text: String) -> Bool {
    let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return words.allSatisfy { word in
      !word.isEmpty
        && word.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "*") && $0 != UInt8(ascii: ">") }
    }
  }
}

/// Who a client is and what it wants of the connection.
public struct NATSIntroduction: Equatable, Sendable {
  /// Shown by the server's monitoring.
  public var name: String
  public var software: String
  public var credentials: NATSCredentials?

  public init(name: String, software: String, credentials: NATSCredentials? = nil) {
    (self.name, self.software, self.credentials) = (name, software, credentials)
  }

  /// Terse: no +OK for each command. A request that nobody listens to is answered with status 503 at once.
  var document: JSONValue {
    var members: [(String, JSONValue)] = [
      ("verbose", false), ("pedantic", false), ("headers", true), ("no_responders", true), ("protocol", 1),
      ("lang", "swift"), ("version", .string(software)), ("name", .string(name)),
    ]
    switch credentials {
    case nil: break
    case .password(let user, let password):
      members += [("user", .string(user)), ("pass", .string(password))]
    case .token(let token): members.append(("auth_token", .string(token)))
    case .signed(let jwt, let signature):
      members += [("jwt", .string(jwt)), ("sig", .string(signature))]
    case .key(let key, let signature):
      members += [("nkey", .string(key)), ("sig", .string(signature))]
    }
    return .object(members)
  }
}

/// How a client proves who it is. Never shown in a log.
public enum NATSCredentials: Equatable, Sendable {
  case password(user: String, password: String)
  case token(String)
  /// A user's JWT, and the server's nonce signed with the user's key, in Base64 for URLs.
  case signed(jwt: String, signature: String)
  /// A user's public key where the server knows it, and the same.
  case key(String, signature: String)
}
