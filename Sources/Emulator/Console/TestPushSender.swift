import Basics
import Broker
import Console
import Credentials
import Faults
import LegacyWire
import ProviderAPI
import PushModel
import Runtime
import Transport

/// Sends a person's test push through the same checks as a provider's: as one whose certificate is for the topic, or who has
/// a token where no certificate will do. Faults are injected likewise; there is no connection that could break, so the history
/// tells what would have.
enum TestPushSender {
  /// `done` gets the notification's id; nil if the emulator ends before it has one.
  static func send(_ push: TestPush, _ emulator: Emulator, done: @escaping (UInt64?) -> Void) {
    emulator.broker.noteRead()
    switch push.form {
    case .http2: request(push, emulator, done)
    case .legacy: frame(push, emulator, done)
    }
  }

  // MARK: HTTP/2

  private static func request(_ push: TestPush, _ emulator: Emulator, _ done: @escaping (UInt64?) -> Void) {
    let number =
      emulator.capture?.connectionOpened(.console, push.environment, topic: push.topic.name) ?? 0
    let requests = ProviderRequests(
      emulator.provider, identity: identity(push, emulator), environment: push.environment,
      interface: .console, number: number)
    // The directory finds topics by name, as issued certificates have made them known.
    _ = emulator.broker.registry.topic(named: push.topic)
    let message = message(push)
    let judged = requests.judge(message, now: emulator.clock.now())
    let decision = emulator.faults.decide(message, judged, .console, requests.identity, connection: nil)
    let end = { (action: ProviderAction) in
      finish(action) { id in
        emulator.capture?.connectionClosed(number)
        done(id)
      }
    }
    guard let decision else { return end(requests.act(judged, on: message, now: emulator.clock.now())) }
    inject(decision, on: .streams, emulator) { fate in
      end(requests.apply(fate, decision, judged, message, now: emulator.clock.now()))
    }
  }

  /// Has a fault do what it would have done on a connection, as far as that can be without one.
  private static func inject(
    _ decision: FaultEngine.Decision, on channel: FaultChannel, _ emulator: Emulator,
    settle: @escaping (FaultFate) -> Void
  ) {
    let plan = FaultPlan(withoutConnection: decision, as: channel)
    let hold = emulator.faults.holds.hold(plan.hold, by: decision, stalling: nil) { settle(plan.fate) }
    if hold == nil { settle(plan.fate) }
  }

  /// By what the person has chosen, else by a certificate for the topic, or by a token where no certificate will do.
  private static func identity(_ push: TestPush, _ emulator: Emulator) -> ProviderIdentity {
    switch push.proof as? ProvenPush {
    case .certificate(let leaf, _): return emulator.provider.identity(of: leaf, environment: push.environment)
    case .token: return emulator.provider.tokenIdentity(push.environment)
    case nil: break
    }
    guard needsToken(push) else {
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
    let message = HTTPMessage()
    message.append(name: ":method", value: "POST")
    message.append(name: ":path", value: "/3/device/\(Hex.encode(push.token))")
    message.append(name: "apns-topic", value: push.topic.name)
    let optional: [(String, String?)] = [
      ("apns-push-type", push.pushType?.name), ("apns-priority", push.priority.map(String.init)),
      ("apns-expiration", push.expiration.map(String.init)), ("apns-collapse-id", push.collapseID),
      ("apns-id", push.apnsID),
    ]
    switch push.proof as? ProvenPush {
    case .token(let token): message.append(name: "authorization", value: "bearer \(token)")
    case .certificate: break
    case nil: if needsToken(push) { message.append(name: "authorization", value: "bearer console") }
    }
    for (name, value) in optional {
      if let value { message.append(name: name, value: value) }
    }
    message.appendBody(push.payload)
    return message
  }

  // MARK: The binary protocol

  private static func frame(_ push: TestPush, _ emulator: Emulator, _ done: @escaping (UInt64?) -> Void) {
    var provider = provider(of: push, emulator)
    provider.connection = emulator.capture?.gatewayOpened(provider) ?? 0
    let end = { [provider] (id: UInt64?) in
      emulator.capture?.connectionClosed(provider.connection)
      done(id)
    }
    let bytes = bytes(push)
    var decoder = LegacyDecoder()
    if let failure = bytes.withUnsafeBytes({ decoder.receive($0) { _ in .stop } }) {
      let (frame, now) = (decoder.malformedFrame, emulator.clock.now())
      return end(emulator.gateway.frames.recordFailure(failure, frame, from: provider, now: now))
    }
    let decision = lend(bytes) { emulator.faults.decide($0, topic: push.topic.name, connection: nil) }
    guard let decision else { return submit(bytes, from: provider, emulator, end) }
    inject(decision, on: .frames, emulator) { [provider] fate in
      let result = lend(bytes) {
        emulator.gateway.frames.apply(fate, decision, $0, from: provider, now: emulator.clock.now())
      }
      if let result { end(result.id) } else { submit(bytes, from: provider, emulator, end) }
    }
  }

  private static func lend<Answer>(_ frame: [UInt8], _ body: (LegacyNotification) -> Answer?) -> Answer? {
    frame.withUnsafeBytes { bytes in
      guard case .notification(let notification) = LegacyFrameParser.next(in: bytes) else { return nil }
      return body(notification)
    }
  }

  /// The one whose certificate the person has chosen, else one for the topic.
  private static func provider(of push: TestPush, _ emulator: Emulator) -> GatewayProvider {
    if case .certificate(let leaf, _)? = push.proof as? ProvenPush,
      let provider = emulator.identities.identify(leaf, push.environment, listener: "console")
    {
      return provider
    }
    // Topics are known once somebody has named them.
    let topic = emulator.broker.registry.topic(named: push.topic)
    return GatewayProvider(
      topic: topic, environment: push.environment, topics: Set([topic].compactMap(\.self)),
      pushType: PushType.implied(by: push.topic))
  }

  private static func submit(
    _ frame: [UInt8], from provider: GatewayProvider, _ emulator: Emulator,
    _ done: @escaping (UInt64?) -> Void
  ) {
    let ticket = PushTicket(waiter: emulator.waiters.makeNumber(), sequence: 0)
    let submit = {
      lend(frame) {
        emulator.gateway.frames.submit(
          $0, from: provider, to: emulator.sink, for: ticket, now: emulator.clock.now())
      } ?? .busy
    }
    let verdict = submit()
    if case .now(let result) = verdict { return done(result.id) }
    tell(OutstandingPush(verdict, ticket, emulator.waiters, submitAgain: submit), done)
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

/// The token of a person at the console, who has none and needs none.
private final class TakenAtItsWord: ProviderTokenChecking {
  private let grant = ProviderGrant(keyID: "console", teamID: "console")

  func check(_ token: UnsafeRawBufferPointer, now: Timestamp) -> ProviderTokenVerdict { .granted(grant) }
}

/// A credential that a person has chosen in the browser, read and found fit to be shown: what a handshake would have carried, or
/// the header of a request. Holds no key.
enum ProvenPush: PushProof {
  /// In DER: the leaf, and those above it.
  case certificate([UInt8], chain: [[UInt8]])
  /// A provider token, signed for this push.
  case token(String)
}

/// Reads credentials beside the loop, as how long a file takes to be deciphered is the file's to say, and judges them as a
/// handshake would.
enum PushProver {
  /// Calls `then` on the loop; false if too many wait.
  static func prove(
    _ push: TestPush, _ credential: PushCredential, _ emulator: Emulator, _ background: BackgroundWork?,
    then: @escaping (Result<any PushProof, any Error>) -> Void
  ) -> Bool {
    let (certs, now) = (emulator.certs.path, emulator.clock.now())
    let work: @Sendable () -> Result<ProvenPush, any Error> = {
      Result { try read(credential, certs: certs, now: now) }
    }
    return background?.run(work) { [unowned emulator] read in
      then(read.flatMap { proof in Result { try judged(proof, push, emulator) } })
    } ?? false
  }

  private static func read(_ credential: PushCredential, certs: String, now: Timestamp) throws -> ProvenPush {
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
  private static func judged(
    _ proof: ProvenPush, _ push: TestPush, _ emulator: Emulator
  ) throws -> any PushProof {
    switch proof {
    case .token:
      guard push.form == .http2 else {
        throw PushRefusal("the binary protocol wants a certificate, got a key")
      }
    case .certificate(let leaf, let chain):
      let now = emulator.clock.now()
      if emulator.trust.handshakeError(leaf, chain, at: now, emulator.logger) != nil {
        let problem = emulator.trust.recentVerdict(leafDER: leaf)?.problem
        throw PushRefusal(
          "the handshake would fail: \(problem?.sentence ?? "the certificate is not accepted")")
      }
      guard push.form == .legacy else { break }
      if emulator.identities.identify(leaf, push.environment, listener: "console") == nil {
        throw PushRefusal(
          "the gateway would close without a word: the certificate is not for \(push.environment.name)")
      }
    }
    return proof
  }
}

/// Why a credential is of no use here.
struct PushRefusal: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
