import Basics
import Broker
import Dashboard
import Faults
import PushModel
import Runtime
import Transport

/// What the console looks at and acts on. Filled in by whoever wires the emulator; what is left nil is answered 503.
///
/// Everything is called on the loop's thread.
package final class ConsoleContext {
  package let broker: Broker
  /// Where a request does not say which environment it means.
  package let environment: Environment
  /// Whether its phones take a push without a type for an alert of priority 10 (`--strict-push-type`): what `explain` goes by
  /// where a request does not say.
  package var isPushTypeStrict = false
  /// The emulator's clock.
  package let now: () -> Timestamp

  /// Who may have a device activated: whoever may, may be any device.
  package enum Activation: Equatable, Sendable {
    /// Everybody who reaches the console.
    case open
    /// Who has the access token, which is asked for on loopback too.
    case token(String)
    case off
  }

  /// Names this run of the emulator: what was learnt from another boot (numbers of events and notifications, for a start)
  /// says nothing about this one. Random, whatever the seed: two runs must never share it.
  package let boot = String(UInt64.random(in: 0..<1 << 62), radix: 36)

  /// Host of the console's listener, which is then among the allowed Host names.
  package var bindHost = "127.0.0.1"
  /// Further Host names that are answered, with or without a port each.
  package var allowedHosts: [String] = []
  /// Demanded of everybody but health checks, devices and providers; nil for none. For listeners beyond loopback.
  package var accessToken: String?
  /// A file of the dashboard by its name; nil where there is none of that name.
  package var webFile: (_ name: String) throws -> WebFile? = { WebFile(named: $0) }
  /// What the emulator says of itself.
  package var info: () -> EmulatorInfo = { EmulatorInfo() }
  /// Why the emulator is not ready; nil when it is.
  package var unreadiness: () -> String? = { nil }
  /// Who may have a device activated.
  package var activation = Activation.open
  /// Device activation: a request with a form, answered late, on the loop (`Documentation/device-protocol.md#activation`). False if
  /// too many wait.
  package var activate: ((HTTPExchange, @escaping (HTTPResponse) -> Void) -> Bool)?
  /// The provider request in plain HTTP/1.1: any request below `/3/` or `/4/`, answered as over HTTP/2.
  /// The answer goes to the closure, or the exchange is ended in another way.
  package var push: ((HTTPExchange, @escaping (HTTPResponse) -> Void) -> Void)?

  /// Sends a notification in the name of a provider that may push to its topic; the closure gets the
  /// notification's id, late if a fault delays it; nil if the emulator ends before it has one.
  package var sendTest: ((TestPush, @escaping (UInt64?) -> Void) -> Void)?
  /// Reads and judges the credential of a test push; answers late, on the loop. False if too many wait.
  package var prove:
    ((TestPush, PushCredential, @escaping (Result<any PushProof, any Error>) -> Void) -> Bool)?
  /// What a token is the HMAC of, field by field.
  package var explainToken:
    ((Environment, UDID, TopicHash, _ install: Int32, TokenContext?) -> [(field: String, bytes: [UInt8])])?
  /// The emulator's clock, to be moved.
  package var clock: (any ClockControl)?
  /// Calls `work` once after so many nanoseconds of real time, unless the object it answers is let go before.
  package var makeTimer: (_ afterNanoseconds: Int64, _ work: @escaping () -> Void) -> AnyObject? = { _, _ in
    nil
  }
  /// Does what takes long on a thread; without it, it is done on the loop.
  package var background: (any BesideLoop)?
  /// The phones of simulated devices.
  package var phones: PhoneBoard
  /// Certificates and keys, for saved states.
  package var credentials: (any CredentialIssuer)?
  /// The consoles of other nodes; nil without a cluster.
  package var otherConsoles: (any OtherConsoles)?
  /// What all nodes do in one order; nil without a cluster.
  package var orders: (any NodeOrders)?
  /// The cluster that this emulator is a node of; nil for one that is alone.
  package var cluster: (any ClusterBoard)?
  /// Devices that are streams of the console.
  package var streams: (any DeviceStreams)?
  /// The push service of Fleet's load test; nil where it is not wanted.
  package var fleet: (any FleetMDMService)?
  /// What goes wrong on purpose.
  package var faults: FaultEngine?
  /// Every open connection (`Documentation/console-api.md`), each to be described when its turn comes.
  package var connections: () -> [() -> ConnectionReport] = { [] }
  /// Metrics besides those of the broker.
  package var metrics: () -> [MetricFamily] = { [] }

  package init(broker: Broker, environment: Environment, now: @escaping () -> Timestamp) {
    (self.broker, self.environment, self.now) = (broker, environment, now)
    phones = PhoneBoard(broker, now: now)
  }
}

/// Does something on a thread and tells what came of it on the loop; false, and neither happens, if too much waits.
package protocol BesideLoop: AnyObject {
  func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void) -> Bool
}

extension BackgroundWork: BesideLoop {}
