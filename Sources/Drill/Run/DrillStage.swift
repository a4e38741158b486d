import Basics
import Broker
import Credentials
import DeviceDriver
import Emulator
import Faults
import Platform
import PushModel
import SimulatedDevice
import Transport

/// What one run has of an emulator: phones online on the same loop, their tokens in a file, and the fault.
final class DrillStage {
  /// How long all phones may take to have their tokens, in nanoseconds.
  private static let timeout: Int64 = 60_000_000_000
  /// How many phones connect at once.
  private static let connectsAtOnce = 64

  let place: DrillEmulator
  let file: DrillTokenFile
  private let number: Int
  private let phones: [DevicePhone]
  private var rules: [String] = []

  /// - Parameters:
  ///   - pushes: so many tokens.
  ///   - kinds: what they are.
  ///   - number: of the run on this emulator: no other has phones and tokens of these names.
  init(_ place: DrillEmulator, pushes: Int, _ kinds: DrillTokens, run number: Int = 1) throws {
    (self.place, self.number) = (place, number)
    let all = (0..<pushes).map { kinds.kind($0, of: pushes) }
    phones = try Self.phones(all, number, place)
    file = DrillTokenFile(kinds: all, tokens: try Self.tokens(all, number, phones, place.topic))
    try removeApps()
    try place.folder.write(file)
  }

  /// Switches the phones off and takes the fault away; to be called once.
  func end() {
    for phone in phones { phone.switchOff() }
    for rule in rules { _ = place.emulator.faultEngine.remove(rule) }
  }

  // MARK: Phones

  /// Of the phone whose token is in the file at a place; nil for a bad token.
  var udids: [UDID?] { file.kinds.indices.map { Self.udid($0, file.kinds, number) } }

  private static func udid(_ index: Int, _ kinds: [DrillTokens.Kind], _ number: Int) -> UDID? {
    kinds[index] == .bad ? nil : UDID("drill-\(number)-\(index + 1)")
  }

  private static func phones(
    _ kinds: [DrillTokens.Kind], _ number: Int, _ place: DrillEmulator
  ) throws -> [DevicePhone] {
    let emulator = place.emulator
    guard let courier = emulator.ports["courier"] else { throw DrillError("the courier listener is off") }
    var policy = TLSPolicy()
    policy.remembersServer = true
    let route = try CourierRoute(
      loop: emulator.loop, ca: emulator.ports.ca, policy: policy, gate: ConnectGate(limit: connectsAtOnce)
    ) { courier }
    let phones = try kinds.indices.compactMap { udid($0, kinds, number) }.map { udid in
      var state = DeviceState(udid: udid)
      state.add([place.topic])
      return DevicePhone(
        [(emulator.options.environment, state)],
        identity: try place.credentials.identity(of: udid, in: emulator.certs),
        DeviceTraits(seed: emulator.seed), route)
    }
    for phone in phones { phone.switchOn() }
    do {
      try awaitTokens(of: phones, place)
    } catch {
      for phone in phones { phone.switchOff() }
      throw error
    }
    return phones
  }

  private static func awaitTokens(of phones: [DevicePhone], _ place: DrillEmulator) throws {
    let need = TokenNeed(place.topic)
    let areReady = try place.emulator.loop.turn(
      until: {
        try place.check()
        return phones.allSatisfy { $0.tokens[need] != nil && place.emulator.listens($0.state.udid) }
      }, within: timeout)
    guard areReady else {
      throw DrillError("the phones did not all get their tokens in \(timeout / 1_000_000_000) s")
    }
  }

  private static func tokens(
    _ kinds: [DrillTokens.Kind], _ number: Int, _ phones: [DevicePhone], _ topic: Topic
  ) throws -> [[UInt8]] {
    var given = phones.map { $0.tokens[TokenNeed(topic)]?.bytes }[...]
    return try kinds.enumerated().map { index, kind in
      guard kind != .bad else { return strange(index, number) }
      guard let token = given.popFirst() ?? nil else { throw DrillError("a phone has no token") }
      return token
    }
  }

  /// One that the emulator has not given to anybody.
  private static func strange(_ index: Int, _ number: Int) -> [UInt8] {
    let end = [number, index].flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    return [UInt8](repeating: 0xbd, count: DeviceToken.byteCount - end.count) + end
  }

  /// Of the phones whose tokens are to be gone. That a phone was tried and has said so is told here.
  private func removeApps() throws {
    let emulator = place.emulator
    let now = emulator.clock.now()
    for (index, kind) in file.kinds.enumerated() where kind == .gone {
      let token = file.tokens[index]
      guard let udid = Self.udid(index, file.kinds, number),
        let row = emulator.broker.registry.find(presented: token.span)
      else { throw DrillError("a phone is not known") }
      _ = emulator.change(.remove, place.topic, on: udid, in: emulator.options.environment)
      emulator.broker.feedback.reportGone(row, now: now)
    }
  }

  // MARK: The fault

  /// Counts connections where nothing goes wrong, by rules whose turn never comes; answers their names.
  func countConnections() throws -> [String] {
    try DrillInterface.allCases.map { interface in
      let name = "connections-\(interface.rawValue)"
      let rule: JSONValue = [
        "name": .string(name), "match": ["interface": interface.place], "when": ["nth": 1_000_000_000],
        "effect": ["refuse": true],
      ]
      return try set(rule, name)
    }
  }

  /// What goes wrong; answers the names of the rules.
  func inject(_ drill: Drill) throws -> [String] {
    try drill.faults.enumerated().map { index, fault in
      let name = index == 0 ? drill.id : "\(drill.id)-\(index + 1)"
      return try set(fault.rule(name: name, drill.interface, tokens: file.tokens), name)
    }
  }

  private func set(_ rule: JSONValue, _ name: String) throws -> String {
    _ = place.emulator.faultEngine.set(try FaultRule(JSONObject(rule, place: ""), name: name))
    rules.append(name)
    return name
  }
}
