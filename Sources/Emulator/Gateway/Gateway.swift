import Advice
import Basics
import Broker
import Platform
import Services
import Transport

/// The binary gateway: what its connections share.
package final class Gateway {
  /// How long a provider is held back before it may try again, in nanoseconds, if no device makes progress.
  private static let retryInterval: Int64 = 100_000_000

  /// A provider that is held back for a device.
  private struct Held {
    var connection: GatewayConnection
    /// What it waits for; nil if that went in the same moment.
    var link: DeviceLink?
    var since: Instant
  }

  let broker: Broker
  let clock: EmulatorClock
  let frames: ProviderFrames
  /// For those who watch what providers do.
  let traffic: ProviderTraffic
  let faults: FaultService
  let identities: ProviderIdentities
  private let logger: Logger
  /// Where what has passed the checks goes; nil for this emulator's token map.
  let sink: (any PushSink)?
  let waiters: PushWaiters
  /// By number. One whose provider has gone is here until all that it sent is settled.
  private var connections: [Int: GatewayConnection] = [:]
  private var held: [Held] = []
  private var retry: LoopEvent?

  init(
    loop: EventLoop, broker: Broker, clock: EmulatorClock, frames: ProviderFrames,
    identities: ProviderIdentities, logger: Logger, faults: FaultService, sink: (any PushSink)?,
    waiters: PushWaiters, traffic: ProviderTraffic
  ) {
    (self.broker, self.clock, self.frames) = (broker, clock, frames)
    (self.sink, self.waiters, self.traffic) = (sink, waiters, traffic)
    (self.identities, self.logger, self.faults) = (identities, logger, faults)
    retry = LoopEvent(timerOn: loop) { [unowned self] in resumeHeld() }
  }

  func makeConnection(_ connection: SocketConnection) -> any ConnectionHandler {
    let number = waiters.makeNumber()
    let gateway = GatewayConnection(self, number: number, connection)
    connections[number] = gateway
    return gateway
  }

  /// Ends a connection whose certificate is not for its environment: it hears nothing, those who watch do.
  func turnAway(_ connection: SocketConnection) {
    let topic = identities.topic(of: connection)
    let number = traffic.opened(.gateway, identities.environment(of: connection), topic: topic)
    traffic.advice.opened(
      SeenConnection(
        number: number, interface: .gateway, credential: topic.map(SeenConnection.certificate), connection))
    traffic.advice.saw(.otherEnvironment, on: number)
    traffic.closed(number)
    traffic.advice.ended(number, SeenEnd())
    connection.close()
  }

  /// The connection is gone; what came on it may go on.
  func noteEnd(of connection: GatewayConnection, _ reason: String) {
    // One that was held back when it ended must not be told to go on.
    held.removeAll { $0.connection === connection }
    logger.log(.debug, "gateway connection ended", [("because", .string(reason))])
  }

  /// Nothing more comes of the connection; false if that was so before.
  func forget(_ connection: Int) -> Bool {
    guard connections.removeValue(forKey: connection) != nil else { return false }
    waiters.remove(connection)
    return true
  }

  // MARK: Slowing providers down

  func waitForDevice(_ link: DeviceLink?, _ connection: GatewayConnection) {
    if held.isEmpty { retry?.start(afterNanoseconds: Self.retryInterval) }
    held.append(Held(connection: connection, link: link, since: SystemClock.now()))
  }

  /// Devices have acknowledged something, or the retry interval is over.
  func resumeHeld() {
    guard !held.isEmpty else { return }
    retry?.cancel()
    let now = SystemClock.now()
    let waiting = held
    held = []
    for provider in waiting {
      provider.link?.providerWaited(from: provider.since, until: now)
      provider.connection.deviceCaughtUp()
    }
  }

  /// Tells every provider how far it got, and ends, once the verdicts are here that are outstanding.
  package func shutDown() {
    for connection in connections.values { connection.shutDown() }
  }
}
