import Broker
import Credentials
import LegacyWire
import Platform
import PushModel
import Transport

/// The binary gateway: what its connections share.
final class Gateway {
  /// How long a provider is held back before it may try again, in nanoseconds, if no device makes progress.
  private static let patience: Int64 = 100_000_000

  /// A provider that is held back for a device.
  private struct Held {
    var connection: GatewayConnection
    /// What it waits for; nil if that went in the same moment.
    var link: DeviceLink?
    var since: Instant
  }

  let broker: Broker
  let clock: EmulatorClock
  let limits: LegacyLimits
  /// Where what comes in is captured; nil while it is not.
  var capture: CaptureRecorder?
  let faults: FaultService
  private let identities: ProviderIdentities
  private let logger: Logger
  private var connections: [ObjectIdentifier: GatewayConnection] = [:]
  private var held: [Held] = []
  private var retry: LoopEvent?
  /// Takes every connection, if there is one.
  var forward: ForwardService?

  init(
    loop: EventLoop, broker: Broker, clock: EmulatorClock, limits: LegacyLimits,
    identities: ProviderIdentities,
    logger: Logger, faults: FaultService
  ) {
    (self.broker, self.clock, self.limits) = (broker, clock, limits)
    (self.identities, self.logger, self.faults) = (identities, logger, faults)
    retry = LoopEvent(timerOn: loop) { [unowned self] in resumeHeld() }
  }

  func makeConnection(_ connection: TLSConnection) -> any ConnectionHandler {
    if let forward { return forward.makeConnection(connection) }
    let gateway = GatewayConnection(self, connection)
    connections[ObjectIdentifier(gateway)] = gateway
    return gateway
  }

  func identify(_ connection: TLSConnection) -> GatewayIdentification {
    identities.identify(connection, listener: "gateway")
  }

  func forget(_ connection: GatewayConnection, _ reason: String) {
    connection.captureEnd()
    connections[ObjectIdentifier(connection)] = nil
    // One that was held back when it ended must not be told to go on.
    held.removeAll { $0.connection === connection }
    logger.log(.debug, "gateway connection ended", [("because", .string(reason))])
  }

  func recordFailure(
    _ failure: LegacyParseFailure, _ frame: [UInt8], from provider: GatewayProvider, now: Timestamp
  ) {
    broker.recordFailure(failure, frame, from: provider, now: now)
  }

  // MARK: Slowing providers down

  func waitForDevice(_ link: DeviceLink?, _ connection: GatewayConnection) {
    if held.isEmpty { retry?.start(afterNanoseconds: Self.patience) }
    held.append(Held(connection: connection, link: link, since: SystemClock.now()))
  }

  /// Devices have acknowledged something, or the patience is over.
  func resumeHeld() {
    guard !held.isEmpty else { return }
    retry?.cancel()
    let now = SystemClock.now()
    let waiting = held
    held = []
    for provider in waiting {
      provider.link?.providerWaited(from: provider.since, until: now)
      provider.connection.resume()
    }
  }

  /// Tells every provider how far it got, and ends.
  func shutDown() {
    for connection in connections.values { connection.shutDown() }
  }
}
