import Basics
import Credentials
import DeviceDriver
import Platform
import PushModel
import SimulatedDevice
import Transport

/// What the phones of a fleet have in common: the emulator, one TLS context, one key, their apps.
final class FleetSite {
  /// Phones that may be connecting at once, as a count: even a service that takes a hundred in a second comes to each in time.
  private static let connectsAtOnce = 128

  let topics: [Topic]
  private let emulator: RunningEmulator
  private let name: String
  private let environment: Environment
  private let keepAliveNanoseconds: Int64
  private let keepsFiles: Bool
  /// Made when the first phone wants it: making a key takes longer than everything else here.
  private var request: DeviceRequest?
  /// The first phone's, whose key the others use.
  private var first: DeviceIdentity?

  init(
    _ emulator: RunningEmulator, name: String, topics: [Topic], environment: Environment,
    keepAliveNanoseconds: Int64, keepsFiles: Bool
  ) {
    (self.emulator, self.name, self.topics, self.environment) = (emulator, name, topics, environment)
    (self.keepAliveNanoseconds, self.keepsFiles) = (keepAliveNanoseconds, keepsFiles)
  }

  /// How all of them get through.
  func route(on loop: EventLoop) throws -> CourierRoute {
    var policy = TLSPolicy()
    policy.remembersServer = true
    let courier = try emulator.address("courier")
    return try CourierRoute(
      loop: loop, ca: try emulator.ca, policy: policy, gate: ConnectGate(limit: Self.connectsAtOnce)
    ) { courier }
  }

  /// A phone by its number from 0, switched off; of iOS it has nothing, as nobody asks for that by the thousand. Its files are those of
  /// an earlier fleet, if that kept them.
  func makeDevice(_ phone: Int, seed: UInt64, _ route: CourierRoute) throws -> DevicePhone {
    guard let udid = UDID("\(name)-\(phone + 1)") else {
      throw CommandFailure(
        "--name \(name) is too long for names of phones such as \(name)-\(phone + 1); choose a shorter one")
    }
    let files = files(of: udid)
    let identity = files.flatMap { $0.identity(sharing: first) }
    first = first ?? identity
    var state = try files?.state() ?? DeviceState(udid: udid)
    state.add(topics)
    return DevicePhone(
      [(environment, state)], identity: identity,
      DeviceTraits(seed: seed, keepAliveNanoseconds: keepAliveNanoseconds), route)
  }

  /// A certificate for the key of all.
  func activate(_ udid: UDID) throws -> DeviceIdentity {
    let request = try self.request ?? DeviceRequest.make(udid: udid)
    let certificate = try DeviceActivation(emulator: emulator).certificate(for: udid, csrPEM: request.csrPEM)
    try files(of: udid)?.keep(certificatePEM: certificate, keyPEM: request.keyPEM)
    defer { self.request = request }
    guard self.request != nil, let first else {
      let identity = try DeviceIdentity(certificatePEM: certificate, keyPEM: request.keyPEM)
      first = identity
      return identity
    }
    return try DeviceIdentity(certificatePEM: certificate, keyOf: first)
  }

  func keep(_ state: DeviceState) throws { try files(of: state.udid)?.keep(state) }

  /// Removes a phone's apps as a person does: the emulator is told, and tells the phone. Waits for its answer, and answers how
  /// many it did not remove.
  func uninstall(_ state: DeviceState) -> Int {
    state.apps.count { app in
      let path = "/api/v1/devices/\(state.udid.text)/apps/\(app.topic.name)/remove"
      let answer = try? emulator.ask("POST", "\(path)?environment=\(environment.name)")
      return answer?.status != 200
    }
  }

  private func files(of udid: UDID) -> DeviceFiles? {
    keepsFiles ? DeviceFiles(folder: "\(emulator.certs)/devices", udid: udid) : nil
  }

  /// Whether the emulator's clock is this machine's, so that what it dates can be compared with what is seen here; false too
  /// if it does not say.
  var hasWallClock: Bool {
    guard let clock = try? emulator.document("/api/v1/clock") else { return false }
    return clock["frozen"]?.text == "false" && clock["offset"]?.double == 0
  }

  /// Throws, with how to start one, if there is no emulator.
  func checkReachable() throws { _ = try emulator.document("/api/v1/info") }
}
