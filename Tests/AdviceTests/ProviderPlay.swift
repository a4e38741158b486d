import Advice
import Basics
import PushModel

/// Providers in virtual time: tells an adviser what they do.
final class ProviderPlay {
  static let certificate = "the certificate of com.example.app"

  var adviser = Adviser()
  /// Nanoseconds; on both clocks the same, but for `clockSetBy`.
  private(set) var now: Int64 = 1_700_000_000_000_000_000
  var clockSetBy: Int64 = 0
  private var connections: UInt32 = 0
  private(set) var pushes: UInt64 = 0

  var moment: Moment {
    Moment(Instant(nanoseconds: now), Timestamp(nanoseconds: now + clockSetBy))
  }

  func wait(_ seconds: Double) { now += Int64(seconds * 1e9) }

  /// Lets time pass as the emulator does: told about once a second.
  func rest(_ seconds: Int) {
    for _ in 0..<seconds {
      wait(1)
      adviser.timePassed(moment)
    }
  }

  func connect(
    _ interface: Interface = .provider, credential: String? = certificate, peer: String = "127.0.0.1",
    tls: String? = "TLSv1.3"
  ) -> UInt32 {
    connections += 1
    adviser.opened(
      SeenConnection(
        number: connections, interface: interface, credential: credential, peer: peer, tlsVersion: tls),
      at: moment)
    return connections
  }

  func end(_ connection: UInt32, pushes: Int = 0, streams: Int = 5, limit: Int = 1000, fault: String? = nil) {
    var end = SeenEnd()
    (end.pushes, end.mostStreams, end.streamLimit, end.fault) = (pushes, streams, limit, fault)
    adviser.ended(connection, end, at: moment)
  }

  func happens(_ event: ConnectionEvent, on connection: UInt32) {
    adviser.saw(event, on: connection, at: moment)
  }

  /// One push to a token and payload that are known by their numbers; some of the token's bytes, or another payload, if told so.
  func push(
    on connection: UInt32, _ interface: Interface = .provider, token: Int = 1, payload: Int = 1,
    tokenLength: Int? = nil, bytes: [UInt8]? = nil, refused rejection: Rejection? = nil, fault: String? = nil,
    change: (inout SeenPush) -> Void = { _ in }
  ) {
    pushes += 1
    let token = Array(Self.token(token).prefix(tokenLength ?? .max))
    let payload = bytes ?? Self.payload(payload)
    var push = SeenPush(
      id: pushes, connection: connection, interface: interface, environment: .sandbox, token: token.span,
      payload: payload.span)
    push.pushType = interface == .gateway ? nil : .alert
    if interface == .gateway { (push.command, push.identifier) = (2, UInt32(pushes)) }
    (push.rejection, push.fault) = (rejection, fault)
    change(&push)
    adviser.saw(push, at: moment)
  }

  /// What can be told of a push that is not looked at.
  enum Loss { case droppedAboveGoAway, acceptedBeforeError, discardedBehindError }

  /// A push that is not looked at: what the connection tells of it.
  func lost(_ loss: Loss, on connection: UInt32, token: Int, payload: Int = 1) {
    let (token, payload) = (Self.token(token), Self.payload(payload))
    let push = LostPush(token: token.span, payload: payload.span)
    switch loss {
    case .droppedAboveGoAway: happens(.droppedAboveGoAway(push), on: connection)
    case .acceptedBeforeError: happens(.acceptedBeforeError(push), on: connection)
    case .discardedBehindError: happens(.discardedBehindError(push), on: connection)
    }
  }

  /// A gateway connection on which the frame before these, the last push, was rejected.
  func errorPacket(on connection: UInt32, discarding tokens: ClosedRange<Int>, fault: String? = nil) {
    happens(.errorPacket(status: 8, identifier: UInt32(pushes), fault: fault), on: connection)
    for token in tokens { lost(.discardedBehindError, on: connection, token: token) }
  }

  var looksAtAll: Bool { adviser.looksAtAll }

  func found(_ rule: AdviceRule) -> Finding? { adviser.findings().first { $0.rule == rule } }

  /// Ids of all findings, in alphabetical order.
  var rules: [String] { adviser.findings().map(\.rule.rawValue).sorted() }

  static func token(_ number: Int) -> [UInt8] {
    (0..<32).map { UInt8(truncatingIfNeeded: $0 < 8 ? number >> (8 * $0) : $0) }
  }

  static func payload(_ number: Int) -> [UInt8] {
    Array(#"{"aps":{"alert":"Hi"},"number":\#(number)}"#.utf8)
  }
}
