import Basics
import Broker
import Console
import Credentials
import Faults
import LegacyWire
import ProviderAPI
import PushModel
import Services
import Transport

/// Sends a person's test push through the same checks as a provider's: as one whose certificate is for the topic, or who has
/// a token where no certificate will do. Faults are injected likewise; there is no connection that could break, so the history
/// tells what would have.
///
/// Credentials are read beside the loop, as how long a file takes to be deciphered is the file's to say, and judged as a handshake
/// would.
final class TestPushSender: TestPushing {
  private let provider: ProviderService
  private let gateway: Gateway
  private let trust: ProviderTrust
  private let certs: CertsFolder
  private let loop: EventLoop
  /// A thread of its own: keys are made meanwhile. nil if the system has none left.
  private lazy var reading = BackgroundWork(loop)

  private var clock: EmulatorClock { provider.clock }
  private var registry: Registry { provider.broker.registry }

  init(
    _ provider: ProviderService, _ gateway: Gateway, _ trust: ProviderTrust, _ certs: CertsFolder,
    _ loop: EventLoop
  ) {
    (self.provider, self.gateway, self.trust) = (provider, gateway, trust)
    (self.certs, self.loop) = (certs, loop)
  }

  func send(_ push: TestPush, done: @escaping (UInt64?) -> Void) {
    provider.broker.noteRead()
    switch push.form {
    case .http2: request(push, done)
    case .legacy: frame(push, done)
    }
  }

  // MARK: HTTP/2

  private func request(_ push: TestPush, _ done: @escaping (UInt64?) -> Void) {
    let traffic = provider.traffic
    let number = traffic.opened(.console, push.environment, topic: push.topic.name)
    let requests = ProviderRequests(
      provider, identity: identity(push), environment: push.environment,
      interface: .console, number: number)
    // The directory finds topics by name, as issued certificates have made them known.
    _ = registry.topic(named: push.topic)
    let message = Self.message(push)
    let judged = requests.judge(message, now: clock.now())
    let decision = provider.faults.decide(message, judged, .console, requests.identity, connection: nil)
    let end = { (action: ProviderAction) in
      Self.finish(action) { id in
        traffic.closed(number)
        done(id)
      }
    }
    guard let decision else { return end(requests.act(judged, on: message, now: clock.now())) }
    inject(decision, on: .streams) { [clock] fate in
      end(requests.apply(fate, decision, judged, message, now: clock.now()))
    }
  }

  /// Has a fault do what it would have done on a connection, as far as that can be without one.
  private func inject(
    _ decision: FaultEngine.Decision, on channel: FaultChannel, settle: @escaping (FaultFate) -> Void
  ) {
    let plan = FaultPlan(withoutConnection: decision, as: channel)
    let hold = provider.faults.holds.hold(plan.hold, by: decision, stalling: nil) { settle(plan.fate) }
    if hold == nil { settle(plan.fate) }
  }

  /// By what the person has chosen, else by a certificate for the topic, or by a token where no certificate will do.
  private func identity(_ push: TestPush) -> ProviderIdentity {
    switch push.proof {
    case .certificate(let leaf, _): return provider.identity(of: leaf, environment: push.environment)
    case .token: return provider.tokenIdentity(push.environment)
    case nil: break
    }
    guard Self.needsToken(push) else {
      return .certificate(
        ProviderCertificate(
          topics: [push.topic], impliedTopic: nil, environments: Set(Environment.allCases)))
    }
    return .token(TakenAtItsWord())
  }

  private static func needsToken(_ push: TestPush) -> Bool {
    push.pushType.map(ProviderCertificate.tokenOnly.contains) ?? false
  }

  private static func finish(_ action: ProviderAction, _ done: @escaping (UInt64?) -> Void) {
    switch action {
    case .done(let outcome): done(outcome.id)
    case .outstanding(let push): tell(push, done)
    }
  }

  /// Tells which one it is once its verdict is there, or won't be.
  private static func tell(_ push: OutstandingPush, _ done: @escaping (UInt64?) -> Void) {
    push.then = { [unowned push] in done($0?.id ?? push.id) }
  }

  private static func message(_ push: TestPush) -> HTTPMessage {
    var message = HTTPMessage()
    message.append(name: ":method", value: "POST")
    message.append(name: ":path", value: "/3/device/\(Hex.encode(push.token))")
    message.append(name: "apns-topic", value: push.topic.name)
    let optional: [(String, String?)] = [
      ("apns-push-type", push.pushType?.name), ("apns-priority", push.priority.map(String.init)),
      ("apns-expiration", push.expiration.map(String.init)), ("apns-collapse-id", push.collapseID),
      ("apns-id", push.apnsID),
    ]
    switch push.proof {
    case .token(let token): message.append(name: "authorization", value: "bearer \(token)")
    case .certificate: break
    case nil: if needsToken(push) { message.append(name: "authorization", value: "bearer console") }
    }
    for (name, value) in optional {
      if let value { message.append(name: name, value: value) }
    }
    message.appendBody(push.payload.span)
    return message
  }

  // MARK: The binary protocol

  private func frame(_ push: TestPush, _ done: @escaping (UInt64?) -> Void) {
    var provider = provider(of: push)
    provider.connection = gateway.traffic.gatewayOpened(provider.topic, provider.environment)
    let end = { [gateway, provider] (id: UInt64?) in
      gateway.traffic.closed(provider.connection)
      done(id)
    }
    let bytes = Self.bytes(push)
    var decoder = LegacyDecoder()
    if let failure = decoder.receive(bytes.span, { _ in .stop }) {
      let (frame, now) = (decoder.malformedFrame, clock.now())
      return end(gateway.frames.recordFailure(failure, frame, from: provider, now: now))
    }
    let decision = Self.lend(bytes) { gateway.faults.decide($0, topic: push.topic.name, connection: nil) }
    guard let decision else { return submit(bytes, from: provider, end) }
    inject(decision, on: .frames) { [self, provider] fate in
      let result = Self.lend(bytes) {
        gateway.frames.apply(fate, decision, $0, from: provider, now: clock.now())
      }
      if let result { end(result.id) } else { submit(bytes, from: provider, end) }
    }
  }

  private static func lend<Answer>(_ frame: [UInt8], _ body: (LegacyNotification) -> Answer?) -> Answer? {
    guard case .notification(let notification) = LegacyFrameParser.next(in: frame.span) else { return nil }
    return body(notification)
  }

  /// The one whose certificate the person has chosen, else one for the topic.
  private func provider(of push: TestPush) -> GatewayProvider {
    if case .certificate(let leaf, _)? = push.proof,
      let provider = gateway.identities.identify(leaf, push.environment, listener: "console")
    {
      return provider
    }
    // Topics are known once somebody has named them.
    let topic = registry.topic(named: push.topic)
    return GatewayProvider(
      topic: topic, environment: push.environment, topics: Set([topic].compactMap(\.self)),
      pushType: PushType.implied(by: push.topic))
  }

  private func submit(
    _ frame: [UInt8], from provider: GatewayProvider, _ done: @escaping (UInt64?) -> Void
  ) {
    let ticket = PushTicket(waiter: gateway.waiters.makeNumber(), sequence: 0)
    // Not the gateway's sink, which may be a bridge: what a person tries stays here, by either protocol.
    let submit = { [gateway, clock, sink = self.provider.sink] in
      Self.lend(frame) {
        gateway.frames.submit($0, from: provider, to: sink, for: ticket, now: clock.now())
      } ?? .busy
    }
    let verdict = submit()
    if case .now(let result) = verdict { return done(result.id) }
    Self.tell(OutstandingPush(verdict, ticket, gateway.waiters, submitAgain: submit), done)
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

  // MARK: Credentials

  func prove(
    _ push: TestPush, _ credential: PushCredential, then: @escaping (Result<PushProof, any Error>) -> Void
  ) -> Bool {
    let (certs, now) = (certs.path, clock.now())
    let work: @Sendable () -> Result<PushProof, any Error> = {
      Result { try Self.read(credential, certs: certs, now: now) }
    }
    return reading?.run(work) { [unowned self] read in
      then(read.flatMap { proof in Result { try judged(proof, push) } })
    } ?? false
  }

  private static func read(_ credential: PushCredential, certs: String, now: Timestamp) throws -> PushProof {
    if let signer = try ProviderTokenSigner(
      p8: credential.file, name: credential.name, keyId: credential.keyId, team: credential.team,
      folder: CertsFolder(path: certs))
    {
      return .token(try signer.token(at: now))
    }
    let identity = try PushIdentity(
      credential.file, named: credential.name, key: credential.key.map { ($0, "the key's file") },
      password: credential.password)
    let chain = identity.certificatesDER
    return .certificate(chain[0], chain: Array(chain.dropFirst()))
  }

  /// Throws what would have ended the connection before a push could have come.
  private func judged(_ proof: PushProof, _ push: TestPush) throws -> PushProof {
    switch proof {
    case .token:
      guard push.form == .http2 else {
        throw PushRefusal("the binary protocol needs a certificate, got a key")
      }
    case .certificate(let leaf, let chain):
      if trust.handshakeError(leaf, chain, at: clock.now(), provider.logger) != nil {
        let problem = trust.recentVerdict(leafDER: leaf)?.problem
        throw PushRefusal(
          "the handshake would fail: \(problem?.sentence ?? "the certificate is not accepted")")
      }
      guard push.form == .legacy else { break }
      if gateway.identities.identify(leaf, push.environment, listener: "console") == nil {
        throw PushRefusal(
          "the gateway would close the connection without an answer: the certificate is not for \(push.environment.name)"
        )
      }
    }
    return proof
  }
}

/// The token of a person at the console, who has none and needs none.
private final class TakenAtItsWord: ProviderTokenChecking {
  private let grant = ProviderGrant(keyID: "console", teamID: "console")

  func check(_ token: Span<UInt8>, now: Timestamp) -> ProviderTokenVerdict { .granted(grant) }
}

/// Why a credential is of no use here.
struct PushRefusal: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
