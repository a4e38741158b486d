import Basics
import Broker
import Cluster
import CourierWire
import Credentials
import Node
import Phones
import Platform
import PushModel
import Services
import Transport

/// The courier: what its device connections share.
package final class CourierService {
  /// How often deadlines are looked at, in nanoseconds.
  private static let sweepInterval: Int64 = 5_000_000_000

  let loop: EventLoop
  let broker: Broker
  let clock: EmulatorClock
  let logger: Logger
  let faults: FaultService
  let phones: PhoneBoard
  let defaultEnvironment: Environment
  /// Phones hear of what a provider left unsaid as Apple takes it: an alert of priority 10.
  let isPushTypeStrict: Bool
  private let verifier: DeviceIdentityVerifier
  /// Leads devices of other nodes to these; nil without a cluster.
  let relay: EdgeTunnels?
  /// Which of them have output in this turn.
  let devices: TurnDevices
  /// What phones have told and nobody has read.
  package let reading = ReportReading()
  private var connections: [ObjectIdentifier: CourierConnection] = [:]
  private var sweep: LoopEvent?

  package init(
    loop: EventLoop, broker: Broker, clock: EmulatorClock, logger: Logger, faults: FaultService,
    devices: TurnDevices, phones: PhoneBoard, defaultEnvironment: Environment, isPushTypeStrict: Bool,
    relay: EdgeTunnels?, verifier: DeviceIdentityVerifier
  ) {
    (self.loop, self.broker, self.clock, self.logger) = (loop, broker, clock, logger)
    (self.faults, self.devices, self.phones) = (faults, devices, phones)
    (self.defaultEnvironment, self.verifier) = (defaultEnvironment, verifier)
    (self.isPushTypeStrict, self.relay) = (isPushTypeStrict, relay)
    clock.tellChanges { [weak self] in self?.clockChanged() }
    sweep = LoopEvent(timerOn: loop) { [unowned self] in endOverdue() }
    sweep?.start(afterNanoseconds: Self.sweepInterval)
  }

  package func makeConnection(_ connection: SocketConnection) -> any ConnectionHandler {
    let courier = CourierConnection(self, connection)
    connections[ObjectIdentifier(courier)] = courier
    return courier
  }

  /// Takes a device that another node leads here.
  package func take(_ connection: SocketConnection, _ device: EdgeDevice) {
    let courier = CourierConnection(self, connection, told: device)
    connections[ObjectIdentifier(courier)] = courier
    connection.handler = courier
    courier.connectionOpened(connection)
  }

  /// Ends the connections of devices that are not of this node any more, in order: they come back.
  package func end(_ reason: String, where isGone: (UDID) -> Bool) {
    for connection in Array(connections.values) where connection.udids.contains(where: isGone) {
      connection.end(reason: reason)
    }
  }

  /// Checks what a device says of itself, or its certificate of the handshake. By the system's clock: the device signs with its own, which
  /// nobody can move.
  ///
  /// A device that was asked for its certificate in the TLS handshake says no more about itself
  /// (`Documentation/device-protocol.md#alpn`, `apns-security-v2`); one that does is believed by what it says.
  func verify(
    _ request: ConnectRequest, _ handshakeCertificate: [UInt8]?
  ) -> Result<VerifiedDevice, DeviceRefusal> {
    let now = SystemClock.wallTime
    let result =
      if !request.hasProof {
        verifier.verify(handshakeCertificateDER: handshakeCertificate ?? [], now: now)
      } else {
        verifier.verify(
          certificateDER: request.certificate ?? [], nonce: request.nonce ?? [],
          signature: request.signature ?? [], now: now, at: SystemClock.now())
      }
    if case .success(let device) = result, let leniency = device.leniency {
      logger.log(
        .warning, "device let through",
        [("udid", .string(device.udid.text)), ("because", .string(leniency.sentence))])
    }
    return result
  }

  func forget(_ connection: CourierConnection) { connections[ObjectIdentifier(connection)] = nil }

  /// Phones live on the emulator's clock, which has been moved, stopped or started.
  private func clockChanged() {
    for connection in connections.values { connection.clockChanged() }
  }

  /// Ends who does not say in time what is waited for.
  package func endOverdue(_ now: Instant = SystemClock.now()) {
    for connection in connections.values { connection.timePassed(now) }
    sweep?.start(afterNanoseconds: Self.sweepInterval)
  }

  /// Ends every connection in order.
  package func shutDown() {
    for connection in connections.values { connection.end(reason: "the emulator is shutting down") }
  }
}

extension ConnectRequest {
  /// Whether it carries anything of a proof of identity.
  fileprivate var hasProof: Bool { certificate != nil || nonce != nil || signature != nil }
}
