import Advice
import AdviceFeed
import Basics
import Faults
import ProviderAPI
import PushModel
import Transport

/// What is told of one connection of the provider API, for advice: how it begins and ends, its provider tokens, and streams that lead to
/// nothing.
final class RequestWatch {
  /// Its number for capture and adviser.
  let number: UInt32
  private let traffic: ProviderTraffic
  private var advice: AdviceService { traffic.advice }
  /// nil for a certificate.
  private let tokens: ConnectionTokens?
  private var end = SeenEnd()
  private var team: String?
  /// Fewest streams that the client might open at a time, but for the one before its first provider token.
  private var leastLimit = Int.max
  private var violations = 0
  private var streamsAfterGoAway = 0
  private var hasSaidGoAway = false
  private var hasEnded = false

  init(
    _ traffic: ProviderTraffic, _ identity: ProviderIdentity, _ environment: Environment,
    _ connection: SocketConnection
  ) {
    self.traffic = traffic
    tokens = if case .token(let tokens) = identity { tokens as? ConnectionTokens } else { nil }
    number = traffic.opened(.provider, environment, topic: identity.captureTopic)
    advice.opened(
      SeenConnection(
        number: number, interface: .provider,
        credential: identity.captureTopic.map(SeenConnection.certificate), connection))
  }

  // MARK: Requests

  /// A request was judged: what there is to say of the token that it showed is said.
  @inline(__always)
  func judged(_ message: HTTPMessage, now: Timestamp) {
    end.pushes &+= 1
    if let tokens, now >= tokens.remarkableFrom { tellToken(tokens, message, now) }
  }

  private func tellToken(_ tokens: ConnectionTokens, _ message: HTTPMessage, _ now: Timestamp) {
    switch tokens.takeRemark(at: now, oldAfter: Adviser.oldToken) {
    case .another(let token):
      if token.teamId != team {
        advice.identified(number, as: "provider tokens of team \(token.teamId)")
        team = token.teamId
      }
      let topic = message[.apnsTopic].flatMap { Self.number(of: $0) } ?? 0
      advice.saw(.providerToken(number: token.number, team: token.teamId, topic: topic), on: number)
    case .old(let token, let age):
      advice.saw(.tokenNearItsEnd(number: token.number, age: age), on: number)
    case nil: break
    }
  }

  /// Tells topics of one connection apart, known or not.
  private static func number(of topic: Span<UInt8>) -> UInt32 {
    // FNV-1a.
    topic.indices.reduce(2_166_136_261) { ($0 ^ UInt32(topic[$1])) &* 16_777_619 }
  }

  /// A request was not looked at, as its stream is above the last that GOAWAY names.
  func dropped(_ message: HTTPMessage) {
    let token = message.pathToken
    advice.saw(.droppedAboveGoAway(LostPush(token: token.span, payload: message.body)), on: number)
  }

  // MARK: Streams

  func limitsStreams(to limit: Int) { leastLimit = min(leastLimit, limit) }

  /// Bytes were taken in: tells of streams that no request came of.
  @inline(__always)
  func looks(at session: HTTP2ServerSession) {
    let isSame =
      session.limitViolations == violations && session.streamsAfterGoAway == streamsAfterGoAway
    if !isSame { tell(of: session) }
  }

  private func tell(of session: HTTP2ServerSession) {
    for _ in violations..<max(violations, session.limitViolations) {
      advice.saw(.streamLimitViolated, on: number)
    }
    violations = session.limitViolations
    let nothing = LostPush(token: .none, payload: .none)
    for _ in streamsAfterGoAway..<max(streamsAfterGoAway, session.streamsAfterGoAway) {
      advice.saw(.droppedAboveGoAway(nothing), on: number)
    }
    streamsAfterGoAway = session.streamsAfterGoAway
  }

  // MARK: The end

  /// A fault is about to do what it wants to do; it may end the connection.
  func injected(_ plan: FaultPlan, _ decision: FaultEngine.Decision) {
    switch plan.breakage {
    case .reset, .garbage, .halfClose: end.fault = decision.name
    case .resetStream, nil: if plan.goAway != nil { end.fault = decision.name }
    }
  }

  func saidGoAway() {
    guard !hasSaidGoAway else { return }
    hasSaidGoAway = true
    advice.saw(.goAway(fault: end.fault), on: number)
  }

  /// Nothing more comes.
  func ended(_ session: HTTP2ServerSession?) {
    guard !hasEnded else { return }
    hasEnded = true
    if let session {
      looks(at: session)
      end.mostStreams = session.mostStreams
      end.streamLimit = min(leastLimit, session.maximumConcurrentStreams)
    }
    traffic.closed(number)
    advice.ended(number, end)
  }
}
