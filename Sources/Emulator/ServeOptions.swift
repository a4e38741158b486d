import Bridge
import Broker
import Cluster
import Hooks
import LegacyWire
import Platform
import PushModel
import Recorder
import Services
import Transport

/// Everything that `serve` can be told (`Documentation/configuration.md#flags-of-serve`), by the part that it is for. Defaults are
/// those of the flags.
package struct ServeOptions: Sendable {
  package var listeners = ListenerOptions()
  package var files = FileOptions()
  package var credentials = CredentialOptions()
  package var console = ConsoleOptions()
  package var log = LogOptions()
  /// The binary protocol.
  package var legacy = LegacyLimits()
  package var broker = BrokerOptions()
  package var provider = ProviderOptions()
  /// Where the server name does not say (`Documentation/coverage.md#environments`).
  package var environment = Environment.sandbox
  /// Phones take a push without a type for an alert, and one without a priority for one of 10, whatever its payload says.
  package var isPushTypeStrict = false
  /// Drives every random choice.
  package var seed: UInt64?
  /// Where provider traffic is recorded; nil for nowhere.
  package var capture: CaptureOptions?
  /// What the gateway takes goes to another service; nil: to devices here.
  package var forward: ForwardOptions?
  /// What is told of each delivered push.
  package var hooks: [HookTarget] = []
  /// This is one node of several.
  package var cluster: ClusterOptions?

  package init() {}

  /// The provider API's options, lenient if all is.
  var providerOptions: ProviderOptions {
    var options = provider
    options.checks.isLenient = credentials.isLenient
    return options
  }

  /// The broker's options: the history keeps of a refused frame what a good one may have here.
  var brokerOptions: BrokerOptions {
    var options = broker
    options.keptOfRefused.legacyPayload = legacy.payload
    return options
  }
}

/// Where one listener opens: a port (0 means any free one), or not at all.
public enum ListenerPort: Equatable, Sendable {
  case number(UInt16)
  /// This port, or any free one where somebody has it.
  case preferred(UInt16)
  case off
}

/// Where connections come in.
package struct ListenerOptions: Sendable {
  package var bind = "127.0.0.1"
  package var gateway = ListenerPort.number(2195)
  package var feedback = ListenerPort.number(2196)
  package var provider = ListenerPort.number(2197)
  package var courier = ListenerPort.number(5223)
  package var console = ListenerPort.number(8790)
  /// Nobody chose it who starts a second emulator on other ports, so it yields.
  package var proxy = ListenerPort.preferred(8791)
  /// Servers beyond Apple's names that the proxy leads to.
  package var proxyTunnels: [SocketAddress] = []
  /// TLS 1.0 and 1.1 with the ciphers of the time, on gateway and feedback.
  package var legacyTLS = false
  /// Most bytes that connections, streams, queues and answers may take together.
  package var memory = MemoryBudget.standardLimit

  package init() {}

  /// For an emulator beside others: what the protocols need on free ports, or not at all; neither console nor proxy.
  package init(protocols port: ListenerPort) {
    (gateway, feedback, provider, courier) = (port, port, port, port)
    (console, proxy) = (.off, .off)
  }
}

/// What is read and kept besides certificates and keys.
package struct FileOptions: Sendable {
  /// Folder of the store and the token secret.
  package var data = ".apns-emulator"
  /// Nothing on disk but certificates.
  package var isEphemeral = false
  /// Written once every listener accepts; nil for none.
  package var ports: String?
  /// A saved state, loaded before anything is opened; nil for none.
  package var seedData: String?
}

/// Who is who, and how strictly that is looked at.
package struct CredentialOptions: Sendable {
  /// Folder of certificates and keys.
  package var certs = "certs"
  /// Host names that the console answers to besides loopback's, and that a new server certificate is for.
  package var allowedHosts: [String] = []
  /// The token that console and proxy ask for beyond loopback; nil for a new one at each start.
  package var access: String?
  /// Who may have a device activated.
  package var activation = ActivationAccess.open
  /// Accept what can't be verified, and record what strict would have said.
  package var isLenient = false
  /// Makes tokens the same on every machine.
  package var tokenSeed: String?
}

/// Who may have a device activated (`Documentation/credentials.md#device-identities`): whoever may, may be any device.
package enum ActivationAccess: String, CaseIterable, Sendable {
  /// Everybody who reaches the console.
  case open
  /// Who has the access token.
  case token
  /// Nobody.
  case off
}

/// What the console shows and answers besides its own.
package struct ConsoleOptions: Sendable {
  /// Folder that the dashboard's files are read from; nil for those in the binary.
  package var dashboard: String?
  /// It answers as the push service of Fleet's load test (`Documentation/mdm.md#fleets-load-test`).
  package var fleetEvents = false
}
