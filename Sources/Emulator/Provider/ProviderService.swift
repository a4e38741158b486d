import Basics
import Broker
import Credentials
import Faults
import Platform
import ProviderAPI
import PushModel
import Recorder
import Services
import Transport

/// The HTTP/2 provider API: what its connections share.
package final class ProviderService {
  let broker: Broker
  let clock: EmulatorClock
  let logger: Logger
  let options: ProviderOptions
  let faults: FaultService
  /// Where what has passed the checks goes; nil for this emulator's token map.
  let sink: (any PushSink)?
  /// Where broadcasts go.
  let broadcasts: any BroadcastSink
  let waiters: PushWaiters
  let directory: BrokerDirectory
  package let channels: BrokerChannels
  let apnsIDs: APNSIDGenerator
  /// Of the sandbox, for its delivery log.
  let uniqueIDs: APNSIDGenerator
  /// For those who watch what providers do.
  let traffic: ProviderTraffic
  /// Where what comes in is captured; nil while it is not.
  let capture: CaptureRecorder?
  private let verifier: ProviderTokenVerifier
  private let trust: ProviderTrust
  private let defaultEnvironment: Environment
  private let teamUpdates = TeamTokenUpdates()
  private var connections: [ObjectIdentifier: HTTP2Connection] = [:]
  /// Reused for the header fields of each request as they are remembered.
  var fields: [UInt8] = []

  init(
    broker: Broker, clock: EmulatorClock, logger: Logger, options: ProviderOptions,
    verifier: ProviderTokenVerifier, trust: ProviderTrust, defaultEnvironment: Environment, seed: UInt64,
    faults: FaultService, waiters: PushWaiters, traffic: ProviderTraffic, sink: (any PushSink)?,
    broadcasts: any BroadcastSink, others: (any OtherNodes)?
  ) {
    (self.faults, self.waiters, self.traffic, capture) = (faults, waiters, traffic, traffic.capture)
    (self.sink, self.broadcasts) = (sink, broadcasts)
    (self.broker, self.clock, self.logger, self.options) = (broker, clock, logger, options)
    (self.verifier, self.trust, self.defaultEnvironment) = (verifier, trust, defaultEnvironment)
    directory = BrokerDirectory(broker: broker, options: options, others: others)
    channels = BrokerChannels(
      broker: broker, seed: seed, withoutBroadcast: options.withoutBroadcast, floodLimit: options.floodLimit,
      others: others)
    apnsIDs = APNSIDGenerator(seed: seed)
    uniqueIDs = APNSIDGenerator(seed: ~seed)
  }

  // MARK: Who

  func environment(serverName: String?) -> Environment {
    serverName.flatMap { Environment(serverName: $0) } ?? defaultEnvironment
  }

  /// The certificate of a connection, if it showed one, else the means to judge its tokens.
  func identity(of connection: SocketConnection, environment: Environment) -> ProviderIdentity {
    identity(of: connection.peerCertificate, environment: environment)
  }

  /// The same of a leaf in DER that has just been judged.
  func identity(of leaf: [UInt8]?, environment: Environment) -> ProviderIdentity {
    guard let verdict = leaf.flatMap({ trust.recentVerdict(leafDER: $0) }),
      let certificate = verdict.certificate
    else { return tokenIdentity(environment) }
    let environments = verdict.isAccepted ? verdict.environments : certificate.environments
    return .certificate(
      ProviderCertificate(
        topics: Set(certificate.topics.map(\.name)), impliedTopic: certificate.defaultTopic,
        environments: Set(environments.environments), waiver: verdict.waiver,
        standing: leaf.flatMap(trust.standing)))
  }

  func tokenIdentity(_ environment: Environment) -> ProviderIdentity {
    .token(
      ConnectionTokens(
        verifier: verifier, environment: environment, options: options.binding, teamUpdates: teamUpdates))
  }

  // MARK: Connections

  func makePushConnection(_ connection: SocketConnection) -> any ConnectionHandler {
    HTTP2Connection(self, connection) { [unowned self] in PushResponder(self, $0) }
  }

  func makeChannelConnection(_ connection: SocketConnection, at place: FaultPlace) -> any ConnectionHandler {
    HTTP2Connection(self, connection) { [unowned self] in ChannelResponder(self, $0, at: place) }
  }

  /// Requests of all connections that are not answered yet.
  package var openStreams: Int { connections.values.reduce(0) { $0 + $1.openStreams } }

  func remember(_ connection: HTTP2Connection) { connections[ObjectIdentifier(connection)] = connection }
  func forget(_ connection: HTTP2Connection) { connections[ObjectIdentifier(connection)] = nil }

  /// Ends connections that were idle for longer than the operator allows; there is no limit unless one is given
  /// (`Documentation/provider-api.md#open-questions`). Also those that were told to go and did not. To be called about
  /// once a second.
  package func endIdle(now: Instant = SystemClock.now()) {
    for connection in connections.values { connection.endIfOverdue(now) }
    guard let seconds = options.idleSeconds else { return }
    for connection in connections.values { connection.endIfIdle(now, seconds: seconds) }
  }

  /// Tells every client that the server goes, and lets what is under way end.
  package func shutDown() {
    for connection in connections.values { connection.shutDown() }
  }
}

extension Waiver {
  /// For log and inspection.
  var detail: NotificationDetail {
    let verdict = rejection.map { "answer \($0.reason)" } ?? "refuse the certificate"
    return NotificationDetail(explanation.following("\(authority.rawValue) would \(verdict): "))
  }
}

extension CertificateVerdict {
  /// What strict has against a certificate that lenient let through.
  var waiver: Waiver? {
    guard isAccepted, let problem else { return nil }
    let explanation = Explanation(
      rule: "handshake (Documentation: Certificates)", expected: "a valid certificate",
      got: Phrase(problem.sentence))
    return Waiver(rejection: nil, explanation: explanation)
  }
}

/// What an operator may change about the HTTP/2 provider API.
package struct ProviderOptions: Sendable {
  package var checks = ProviderCheckOptions()
  package var binding = ProviderConnectionBinding.Options()
  /// Refuse provider tokens that Apple evidently serves but does not document: ES512 over P-256, `iat` as a string.
  package var documentedTokens = false
  /// Lower the stream limit to 1 after a rejection, as Apple does (`Documentation/provider-api.md#settings`,
  /// `#open-questions`).
  package var throttlesRejections = false
  /// Pushes a second that one device token takes before `TooManyRequests`; nil for any number
  /// (`Documentation/provider-api.md#open-questions`).
  package var floodLimit: Int?
  /// How long a connection may be idle before GOAWAY `IdleTimeout`, in seconds; nil for ever
  /// (`Documentation/provider-api.md#open-questions`).
  package var idleSeconds: Int64?
  /// How long a connection may go on with open requests after its GOAWAY, in nanoseconds. Apple's is not known
  /// (`Documentation/provider-api.md#settings`); a request under way is a few thousand bytes, so a client that means to
  /// end it has by then.
  package var goAwayTimeout: Int64 = 10_000_000_000
  /// Bundle ids without the broadcast capability: `FeatureNotEnabled`
  /// (`Documentation/provider-api.md#channel-reasons`).
  package var withoutBroadcast: Set<Topic> = []
  /// Tell in a header field of each refusal which rule it was, what that expected and what came.
  package var explains = true
  package var http2 = HTTP2Options()

  /// Apple's documented words where the wire has others: `BadEnvironmentKeyIdInToken`.
  package var usesDocumentedReasons = false {
    didSet {
      checks.usesDocumentedReasons = usesDocumentedReasons
      if usesDocumentedReasons { binding.otherEnvironment = .badEnvironmentKeyIdInToken }
    }
  }

  package init() {}
}
