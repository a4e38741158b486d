import Broker
import Cluster
import LegacyWire
import Platform
import PushModel
import Runtime
import Transport

/// Everything that `serve` can be told (`Documentation/commands.md#flags-of-serve`). Defaults are those of the flags.
public struct EmulatorOptions: Sendable {
  /// Where one listener opens: a port (0 means any free one), or not at all.
  public enum Port: Equatable, Sendable {
    case number(UInt16)
    /// This port, or any free one where somebody has it.
    case preferred(UInt16)
    case off
  }

  public var bind = "127.0.0.1"
  public var gatewayPort = Port.number(2195)
  public var feedbackPort = Port.number(2196)
  public var providerPort = Port.number(2197)
  public var courierPort = Port.number(5223)
  public var consolePort = Port.number(8790)
  /// Nobody chose it who starts a second emulator on other ports, so it yields.
  public var proxyPort = Port.preferred(8791)
  /// Servers beyond Apple's names that the proxy leads to.
  public var proxyTunnels: [SocketAddress] = []
  /// For other nodes of a cluster; without one it is not opened.
  public var nodePort = Port.number(0)
  /// Folder of certificates and keys.
  public var certs = "certs"
  /// Folder of the store and the token secret.
  public var data = ".apns-emulator"
  /// Nothing on disk but certificates.
  public var isEphemeral = false
  /// Written once every listener accepts; nil for none.
  public var portsFile: String?
  /// A saved state, loaded before anything is opened; nil for none.
  public var seedData: String?
  /// Folder that the dashboard's files are read from; nil for those in the binary.
  public var dashboard: String?
  /// The token that console and proxy ask for beyond loopback; nil for a new one at each start.
  public var access: String?
  /// Who may have a device activated.
  public var activation = ActivationAccess.open
  /// Host names that the console answers to besides loopback's, and that a new server certificate is for.
  public var allowedHosts: [String] = []
  /// Where the server name does not say (`README.md#what-is-emulated`).
  public var environment = Environment.sandbox
  /// Accept what can't be verified, and record what strict would have said.
  public var isLenient = false
  /// TLS 1.0 and 1.1 with the ciphers of the time, on gateway and feedback.
  public var legacyTLS = false
  /// Makes tokens the same on every machine.
  public var tokenSeed: String?
  /// Drives every random choice.
  public var seed: UInt64?
  /// Where provider traffic is recorded; nil for nowhere.
  public var capture: CaptureOptions?
  /// Most bytes that connections, streams, queues and answers may take together.
  public var memory = MemoryBudget.standardLimit
  public var logFormat = LogFormat.text
  public var logLevel = LogLevel.info
  /// Where log lines are appended; nil for standard error.
  public var logFile: String?
  public var legacyLimits = LegacyLimits()
  public var broker = BrokerOptions()
  public var provider = ProviderOptions()
  /// The console answers as the push service of Fleet's load test (`Documentation/mdm.md#fleets-load-test`).
  public var fleetEvents = false
  /// Phones take a push without a type for an alert, and one without a priority for one of 10, whatever its payload says.
  public var isPushTypeStrict = false
  /// What the gateway takes goes to another service; nil: to devices here.
  public var forward: ForwardOptions?
  /// What is told of each delivered push.
  package var hooks: [HookTarget] = []

  /// This is one node of several.
  package var cluster: ClusterOptions?

  public init() {}

  /// The provider API's options, lenient if all is.
  var providerOptions: ProviderOptions {
    var options = provider
    options.checks.isLenient = isLenient
    return options
  }

  /// The broker's options: the history keeps of a refused frame what a good one may have here.
  var brokerOptions: BrokerOptions {
    var options = broker
    options.keptOfRefused.legacyPayload = legacyLimits.payload
    return options
  }
}

/// Who may have a device activated (`Documentation/credentials.md#device-identities`): whoever may, may be any device.
public enum ActivationAccess: String, CaseIterable, Sendable {
  /// Everybody who reaches the console.
  case open
  /// Who has the access token.
  case token
  /// Nobody.
  case off
}
