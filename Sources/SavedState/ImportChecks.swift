import Basics
import Broker
import Console
import ConsoleAnswers
import Faults
import PushModel

/// Looks whether a saved state fits to what is here, row by row. Changes nothing.
struct ImportChecks {
  private let live: LiveState
  private var registry: Registry { live.broker.registry }
  /// The token of each row that was looked at, device by device: the one the document gives, else the one that this emulator's
  /// secret gives. A given token that differs is kept as it is, since providers have it in their books.
  private(set) var tokens: [[DeviceToken]] = []
  /// What must be issued; known when everything was looked at.
  private(set) var missing: [SavedCredential] = []
  private var owners: Set<DeviceToken> = []
  private var known: KnownInstalls?
  private var isBegun = false

  init(_ live: LiveState) { self.live = live }

  /// Looks at one row more; whether there are others.
  mutating func step(_ state: SavedState, _ slice: inout Slice) throws -> Bool {
    guard isBegun else {
      missing = try MissingCredentials(issuer: live.credentials).find(state)
      try checkFaults(state.faults)
      isBegun = true
      return true
    }
    guard let device = next(state, &slice) else { return false }
    let index = tokens.count - 1
    guard tokens[index].count < device.rows.count else { return index + 1 < state.devices.count }
    tokens[index].append(try check(device.rows[tokens[index].count], of: device.udid))
    slice.spend(Slice.row)
    return true
  }

  /// The device that is being looked at, or the next one; nil after the last.
  private mutating func next(_ state: SavedState, _ slice: inout Slice) -> SavedDevice? {
    if let last = tokens.last, case let device = state.devices[tokens.count - 1],
      last.count < device.rows.count
    {
      return device
    }
    guard tokens.count < state.devices.count else { return nil }
    let device = state.devices[tokens.count]
    tokens.append([])
    known = KnownInstalls(of: device.udid, registry)
    slice.spend(Slice.row + (known?.count ?? 0))
    return device
  }

  private mutating func check(_ row: SavedRow, of udid: UDID) throws -> DeviceToken {
    let told = row.told
    let token =
      told.presented.map(registry.name(of:))
      ?? registry.derivedToken(
        udid, row.topic.hash, told.environment, install: told.install, context: told.context)
    guard owners.insert(token).inserted else {
      throw ConsoleError.bad(
        "\(row.place).token", expected: "one that no earlier row has", got: told.presented?.hex ?? token.hex)
    }
    try known?.check(token, row, registry)
    return token
  }

  private func checkFaults(_ faults: [FaultRule]) throws {
    guard !faults.isEmpty else { return }
    let names = Set(live.faults.rules.map(\.name)).union(faults.map(\.name))
    guard names.count <= FaultEngine.ruleLimit else {
      throw ConsoleError.conflict(
        "faults: expected at most \(FaultEngine.ruleLimit) rules, got \(names.count)")
    }
  }
}

/// The rows of a device that are here, by what they are installs of. A token stands for the same install everywhere, and an install
/// has one token.
struct KnownInstalls {
  private struct Install: Hashable {
    let topic: TopicHash
    let environment: Environment
    let install: Int32
    let context: TokenContext?

    init(_ topic: TopicEntry, _ row: TokenRow) {
      (self.topic, environment, install, context) = (topic.hash, row.environment, row.install, row.context)
    }
  }

  private let rows: [Install: RegistrationID]
  var count: Int { rows.count }

  init(of udid: UDID, _ registry: Registry) {
    let known = registry.knownDevice(udid).map { registry.registrations(of: $0) } ?? []
    let installs = known.map { Install(registry[registry[$0].topic], TokenRow($0, of: registry)) }
    rows = Dictionary(zip(installs, known)) { first, _ in first }
  }

  /// Throws where the row would have another token here, or the token another row.
  func check(_ token: DeviceToken, _ row: SavedRow, _ registry: Registry) throws {
    let told = row.told
    let same = rows[Install(row.topic, told)]
    if let same, registry[same].token != token {
      throw ConsoleError.conflict(
        "\(row.place).token: install \(told.install) has the token \(registry.text(of: same)) here, "
          + "got \(told.presented?.hex ?? token.hex); reset the devices first, or start with the same --token-seed"
      )
    }
    if same == nil, let other = registry.find(token) {
      let owner = registry[registry[other].device].udid
      throw ConsoleError.conflict(
        "\(row.place).token: expected a token that no app has, got one of \(owner)")
    }
  }
}

/// Certificates and keys that a saved state names and that are not here. One that is here for something else is not replaced:
/// providers use it.
private struct MissingCredentials {
  let issuer: any CredentialIssuer

  func find(_ state: SavedState) throws -> [SavedCredential] {
    let certificates = state.apps.enumerated().compactMap { index, app in
      app.certificate.map { (place: "apps[\(index)].certificate", $0) }
    }
    let keys = state.keys.enumerated().map { (place: "keys[\($0)]", $1) }
    // A certificate that was revoked is made again; the id of a key that was is used up.
    return try Self.missing(
      certificates, issuer.certificates().filter { !$0.isRevoked }.map(\.certificate), \.topic
    ).map(SavedCredential.certificate)
      + Self.missing(keys, issuer.keys().map(\.key), \.keyId).map(SavedCredential.key)
  }

  /// Those that are not `here`, by their names.
  private static func missing<Saved: Equatable, Name: Hashable>(
    _ wanted: [(place: String, Saved)], _ here: @autoclosure () -> [Saved], _ name: KeyPath<Saved, Name>
  ) throws -> [Saved] {
    guard !wanted.isEmpty else { return [] }
    let known = Dictionary(here().map { ($0[keyPath: name], $0) }) { first, _ in first }
    return try wanted.compactMap { place, wanted in
      guard let present = known[wanted[keyPath: name]] else { return wanted }
      guard present == wanted else {
        throw ConsoleError.conflict(
          "\(place): one of this name is in the certs folder already, for other topics, environments or team; "
            + "remove its files there to have it issued again")
      }
      return nil
    }
  }
}
