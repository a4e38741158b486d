import Basics
import Credentials
import Hooks
@_exported import struct Recorder.CaptureOptions
@_exported import struct Bridge.ForwardOptions
@_exported import enum Emulator.ListenerPort
@_exported import enum Services.LogLevel
import Emulator
@_exported import struct Platform.SocketAddress
import PushModel

/// What a test may have otherwise, as flags of `apns-emulator serve` do (`Documentation/configuration.md#flags-of-serve` says what each
/// does). Ports are free ones, files lie in the emulator's folder and nothing but certificates and the log is written, unless it is
/// said here.
///
/// ```swift
/// let emulator = try await APNSEmulator.start {
///   $0.environment = .production
///   $0.feedbackPort = .off
/// }
/// ```
public struct EmulatorOptions: Sendable {
  /// Where a listener opens: a port, or not at all.
  public typealias Port = ListenerPort
  private static let standard = ServeOptions()

  /// What has no name here, for tests of this package.
  package var serve = standard

  // MARK: Listeners

  /// Address of all listeners.
  public var bind = "127.0.0.1"
  public var gatewayPort: Port = .number(0)
  public var feedbackPort: Port = .number(0)
  public var providerPort: Port = .number(0)
  public var courierPort: Port = .number(0)
  public var consolePort: Port = .number(0)
  public var proxyPort: Port = .off
  /// Servers beyond Apple's names that the proxy leads to.
  public var proxyTunnels: [SocketAddress] = []
  /// TLS 1.0 and 1.1 with the ciphers of the time, on gateway and feedback.
  public var legacyTLS = false

  // MARK: Files

  /// Folder of certificates and keys.
  public var certs = ""
  /// Folder of the store and the token secret, unless `isEphemeral`.
  public var data = ""
  /// Nothing on disk but certificates and the log.
  public var isEphemeral = true
  /// Written once every listener accepts; nil for none.
  public var portsFile: String?
  /// A saved state, loaded before anything is opened; nil for none.
  public var seedData: String?
  /// Where provider traffic is recorded; nil for nowhere.
  public var capture: CaptureOptions?
  /// Where log lines are appended; nil for standard error.
  public var logFile: String?
  /// Which log lines are written: this level and those above.
  public var logLevel: LogLevel = standard.log.level

  // MARK: Credentials

  /// Where the server name does not say.
  public var environment: Environment = standard.environment
  /// Accept what can't be verified, and record what strict would have said.
  public var isLenient = false
  /// Makes tokens the same on every machine.
  public var tokenSeed: String?
  /// Drives every random choice.
  public var seed: UInt64?
  /// Host names that the console answers to besides loopback's, and that a new server certificate is for.
  public var allowedHosts: [String] = []
  /// The token that console and proxy ask for beyond loopback; nil for a new one at each start.
  public var access: String?

  // MARK: Behaviour

  /// What the gateway takes goes to another service; nil: to devices here.
  public var forward: ForwardOptions?
  /// How many notifications are remembered for inspection, as a count.
  public var history: Int = standard.broker.history
  /// Unknown tokens are registered at their first push.
  public var adoptsTokens = false
  /// How long after the device's report 410 begins, in seconds.
  public var goneGraceSeconds: Int64 = standard.broker.goneGraceSeconds
  /// Age at which a device token answers 410 `ExpiredToken`, in seconds; nil for never.
  public var tokenLifetimeSeconds: Int64?
  /// Token lengths that the gateway takes, in bytes.
  public var tokenLengths: ClosedRange<Int> = standard.legacy.tokenLengths
  /// Largest payload on the gateway, in bytes.
  public var payloadLimit: Int = standard.legacy.payload
  /// Answer an empty token with identifier 0, as Apple was seen to do.
  public var forgetsIdentifierOfEmptyToken = true
  /// Tell in a header field of each refusal which rule it was, what that expected and what came.
  public var explains = true
  /// Lower the stream limit to 1 after a rejection, as Apple does.
  public var throttlesRejections = false
  /// Pushes a second that one device token takes before `TooManyRequests`; nil for any number.
  public var floodLimit: Int?
  /// How long a provider's connection may be idle before GOAWAY `IdleTimeout`, in seconds; nil for ever.
  public var idleSeconds: Int64?
  /// Different provider tokens of a connection within 20 minutes before `TooManyProviderTokenUpdates`.
  public var tokensPerInterval: Int = standard.provider.binding.updates.tokensPerInterval
  /// Refuse provider tokens that Apple serves but does not document.
  public var documentedTokens = false
  /// Apple's documented words where the wire has others: `BadEnvironmentKeyIdInToken`.
  public var documentedReasons = false
  /// Background pushes with priority 10 are `BadPriority`.
  public var refusesUrgentBackground = true
  /// What is answered when `apns-topic` does not end as `apns-push-type` wants; nil accepts.
  public var suffixMismatch: Rejection?
  /// Phones take a push without a type for an alert of priority 10, whatever its payload says.
  public var isPushTypeStrict = false
  /// Bundle ids that have no broadcast capability: `FeatureNotEnabled`.
  public var withoutBroadcast: [String] = []
  /// Shell commands and URLs that are told of each delivered push (`--on-delivery`).
  public var hooks: [String] = []

  /// The options of an emulator whose files lie in a folder of its own.
  package init(in folder: String) {
    (certs, data, logFile) = (LiveEmulator.certsPath(in: folder), folder + "/data", folder + "/log")
  }

  /// What an emulator is told; throws for a text that says nothing.
  package func resolved() throws -> ServeOptions {
    var options = serve
    setListeners(&options.listeners)
    setFiles(&options)
    setCredentials(&options)
    (options.legacy.tokenLengths, options.legacy.payload) = (tokenLengths, payloadLimit)
    options.legacy.forgetsIdentifierOfEmptyToken = forgetsIdentifierOfEmptyToken
    (options.broker.history, options.broker.adoptsTokens) = (history, adoptsTokens)
    (options.broker.goneGraceSeconds, options.broker.tokenLifetimeSeconds) =
      (goneGraceSeconds, tokenLifetimeSeconds)
    try setProvider(&options.provider)
    (options.forward, options.isPushTypeStrict) = (forward, isPushTypeStrict)
    options.hooks += try hooks.map { text in
      guard let target = HookTarget(text) else {
        throw APNSEmulatorError(.invalid, "expected a shell command or a URL as a hook, got \"\(text)\"")
      }
      return target
    }
    return options
  }

  private func setListeners(_ listeners: inout ListenerOptions) {
    (listeners.bind, listeners.gateway, listeners.feedback) = (bind, gatewayPort, feedbackPort)
    (listeners.provider, listeners.courier) = (providerPort, courierPort)
    (listeners.console, listeners.proxy) = (consolePort, proxyPort)
    (listeners.proxyTunnels, listeners.legacyTLS) = (proxyTunnels, legacyTLS)
  }

  private func setFiles(_ options: inout ServeOptions) {
    (options.files.data, options.files.isEphemeral) = (data, isEphemeral)
    (options.files.ports, options.files.seedData) = (portsFile, seedData)
    (options.capture, options.log.file, options.log.level) = (capture, logFile, logLevel)
  }

  private func setCredentials(_ options: inout ServeOptions) {
    (options.environment, options.seed) = (environment, seed)
    (options.credentials.certs, options.credentials.isLenient) = (certs, isLenient)
    (options.credentials.tokenSeed, options.credentials.access) = (tokenSeed, access)
    options.credentials.allowedHosts = allowedHosts
  }

  private func setProvider(_ provider: inout ProviderOptions) throws {
    (provider.explains, provider.documentedTokens) = (explains, documentedTokens)
    (provider.throttlesRejections, provider.floodLimit) = (throttlesRejections, floodLimit)
    (provider.idleSeconds, provider.binding.updates.tokensPerInterval) = (idleSeconds, tokensPerInterval)
    provider.usesDocumentedReasons = documentedReasons
    provider.checks.refusesUrgentBackground = refusesUrgentBackground
    provider.checks.suffixMismatch = suffixMismatch
    provider.withoutBroadcast = try Set(withoutBroadcast.map { try Topic(checking: $0) })
  }
}
