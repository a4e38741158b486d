import Basics
import PushModel

/// The first-class table UDID + topic + environment → token, with the devices and topics it speaks of.
///
/// Rows are only ever added; a token that is gone keeps its row and its time, and never comes back.
public final class Registry {
  /// Most devices and most registrations, as counts: indices are 32 bits, and memory stays in reach of one machine.
  public static let rowLimit = 16_000_000
  /// The same of this table. Variable so that a test can have fewer.
  var rowLimit = Registry.rowLimit
  /// Most topics, as a count.
  public static let topicLimit = 1_000_000
  /// Most topics that one device may make used by asking for their tokens, as a count: as many apps as a simulated device may have.
  public static let topicsPerDevice = 1024
  /// Most topics that are in use when a device asks for the token of another, as a count: the rest is for providers and people.
  /// Variable so that a test can have fewer.
  var topicLimitOfDevices = 750_000

  /// Most topics that providers with one team's tokens may make used, by channels and by tokens that are registered at their first
  /// push, as a count: a team has some hundred apps, and a provider token may name any topic.
  /// Variable so that a test can have fewer.
  public var topicsPerTeam = 10_000

  /// Most registrations of one device, reinstalls included, as a count: a phone has a few hundred apps, and looking
  /// through a device's rows must stay quick whatever it asks for.
  public static let rowsPerDevice = 4096

  private let derivation: any TokenDerivation
  private var devices = DeviceTable()
  private var topics: TopicTable
  private var registrations = PlainTable<RegistrationID, Registration>()
  private var crowded = CrowdedDevices()
  private var index = TokenIndex()
  private var customTokens = CustomTokens()
  private var knowsOtherLengths = false
  private var contexts = ContextTable()
  /// Rows that the store has not seen as they are; one may be named more than once.
  private var changes = BrokerChanges()
  /// Which of its parts are changed here.
  public let zones: ZoneShare
  /// Counts how often every device was forgotten: ids of rows and devices mean nothing beyond that.
  public private(set) var generation = 0

  public init(derivation: any TokenDerivation, zones: ZoneShare = ZoneShare()) {
    (self.derivation, self.zones) = (derivation, zones)
    topics = TopicTable(limit: Self.topicLimit)
  }

  // MARK: Topics

  /// The topic's id, added if new; nil when all there may be are in use. Valid for as long as something is of the topic; of one that
  /// nothing is of, until its place is another topic's (`contains`).
  public func topic(named topic: Topic) -> TopicID? { topics.id(topic) }

  /// The id of the topic with this hash, added without a name if new; the same otherwise.
  public func topic(hashed hash: TopicHash) -> TopicID? { topics.id(hash) }

  /// The id of a topic by its name, or by its hash where nobody knows that; the same otherwise.
  public func topic(_ told: TopicEntry) -> TopicID? {
    guard let name = told.name else { return topic(hashed: told.hash) }
    return topic(named: name)
  }

  /// Somebody says a name. Nothing is added: whoever has a topic of this name, by its hash, can be shown with it from now on.
  public func learn(_ name: Topic) { topics.learn(name) }

  /// The id of a topic that is already known by this hash.
  public func knownTopic(hashed hash: TopicHash) -> TopicID? { topics.find(hash) }

  /// The id of a topic that is already known by this name.
  public func knownTopic(named topic: Topic) -> TopicID? { topics.find(topic) }

  /// The names of those topics that have one.
  public var topicNames: [Topic] { topics.names }

  /// Whether this registry gave the id, and the topic is still known.
  public func contains(_ id: TopicID) -> Bool { topics.contains(id) }

  /// Whether anything is of the topic: a row, a channel, or an entry of the feedback service.
  public func isUsed(_ id: TopicID) -> Bool { topics.isUsed(id) }

  /// Topics, as a count.
  public var topicCount: Int { topics.count }

  /// Most topics that nothing is of, as a count. Variable so that a test can have fewer.
  public var unusedTopicLimit: Int {
    get { topics.unusedLimit }
    set { topics.unusedLimit = newValue }
  }

  /// The topic of an id that is valid.
  @inline(__always)
  public subscript(id: TopicID) -> TopicEntry { topics[id] }

  /// A channel or an entry of the feedback service is of the topic from now on; rows are counted when they are added.
  func retain(_ id: TopicID) { topics.retain(id) }

  /// One of those has gone.
  func release(_ id: TopicID) { topics.release(id) }

  /// Whether a device may ask for a token of the topic with this hash: one that something is of, or one more of its own.
  func mayUse(_ hash: TopicHash, _ device: DeviceID) -> Bool {
    if let known = topics.find(hash), topics.isUsed(known) { return true }
    return devices[device].topicCount < Self.topicsPerDevice
      && topics.usedCount < topicLimitOfDevices
  }

  /// Whether a provider with a team's token may have something made of a topic: of one that something is of, or of one more of its own.
  public func mayUse(_ topic: TopicID, team: String) -> Bool {
    topics.isUsed(topic) || topics.count(ofTeam: team) < topicsPerTeam
  }

  /// A provider with a team's token has had something made of a topic. If nothing else is of it, the topic counts as one that the
  /// team has brought, until nothing is of it or until a restart.
  public func noteFirstUse(of topic: TopicID, by team: String) {
    topics.noteFirstUse(of: topic, by: team)
  }

  /// Puts a topic back, in the order of their places.
  public func restoreTopic(_ hash: TopicHash, _ name: Topic?) { topics.restore(hash, name) }

  // MARK: Contexts

  /// The context's id, added if new; nil when there are too many.
  func contextID(_ context: TokenContext) -> TokenContextID? { contexts.id(context) }

  /// The id of a context that is already known.
  func knownContext(_ context: TokenContext) -> TokenContextID? { contexts.find(context) }

  /// The context of an id that this registry gave.
  public subscript(id: TokenContextID) -> TokenContext { contexts[id] }

  /// What of its topic a row is for; nil for all of it.
  public func context(of row: RegistrationID) -> TokenContext? {
    registrations[row].context.map { self[$0] }
  }

  // MARK: Devices

  /// The id of a device that has been seen.
  public func knownDevice(_ udid: UDID) -> DeviceID? { devices.find(udid) }

  /// The device's id, added if new; nil when there are too many.
  public func device(_ udid: UDID, now: Timestamp) -> DeviceID? {
    if let known = devices.find(udid) { return known }
    guard devices.count < rowLimit else { return nil }
    let id = devices.add(udid, zone: zones.zone(of: udid), now: now)
    changes.devices.append(id)
    return id
  }

  /// Whether this registry gave the id.
  public func contains(_ id: DeviceID) -> Bool { devices.contains(id) }

  /// Devices, as a count.
  public var deviceCount: Int { devices.count }
  /// Devices that are connected, as a count.
  public var onlineCount: Int { devices.onlineCount }

  /// The device of an id that this registry gave.
  public subscript(id: DeviceID) -> Device { devices[id] }

  /// Changes a device and remembers that the store must hear of it.
  func update(_ id: DeviceID, _ change: (inout Device) -> Void) {
    change(&devices[id])
    changes.devices.append(id)
  }

  /// The live session of a device in an environment.
  public func session(of device: DeviceID, in environment: Environment) -> DeviceSession? {
    devices[device].session(in: environment)
  }

  /// The live session that the notifications of a row would go to.
  func session(of row: Registration) -> DeviceSession? { session(of: row.device, in: row.environment) }

  /// A device has come, or with nil gone, in an environment.
  func setSession(_ session: DeviceSession?, of device: DeviceID, in environment: Environment) {
    devices.setSession(session, of: device, in: environment)
  }

  // MARK: Tokens

  /// The token that an install of an app has unless a saved state says otherwise.
  public func derivedToken(
    _ udid: UDID, _ hash: TopicHash, _ environment: Environment, install: Int32, context: TokenContext? = nil
  ) -> DeviceToken {
    let token = derivation.appToken(
      environment: environment, udid: udid, topicHash: hash, install: install, context: context)
    return zones.stamped(token, for: udid)
  }

  /// The token of the device itself.
  public func baseToken(_ device: DeviceID, _ environment: Environment) -> DeviceToken {
    let row = self[device]
    return derivation.baseToken(environment: environment, udid: row.udid, identity: row.identity)
  }

  // MARK: Registrations

  /// Whether this registry gave the id.
  public func contains(_ id: RegistrationID) -> Bool { registrations.contains(id) }

  /// Rows, as a count.
  public var registrationCount: Int { registrations.count }

  /// The row of an id that this registry gave.
  @inline(__always)
  public subscript(id: RegistrationID) -> Registration { registrations[id] }

  /// Finds a token's row.
  @inline(__always)
  public func find(_ token: DeviceToken) -> RegistrationID? {
    index.find(token) { registrations[$0].token == token }
  }

  /// Whether the part of the token map that a row belongs to is changed here.
  func leads(_ row: RegistrationID) -> Bool { zones.leads(registrations[row].zone) }

  /// All rows of a device, newest first.
  public func registrations(of device: DeviceID) -> [RegistrationID] {
    var rows: [RegistrationID] = []
    rows.reserveCapacity(Int(devices[device].rowCount))
    var next = devices[device].firstRegistration
    while let row = next {
      rows.append(row)
      next = registrations[row].nextOfDevice
    }
    walkedRows &+= rows.count
    return rows
  }

  /// How many rows were walked through one by one so far, as a count: for tests, as work must not grow with what a device has.
  public private(set) var walkedRows = 0

  /// Rows of a topic on a device, in both environments, oldest first.
  func registrations(of device: DeviceID, _ topic: TopicID) -> [RegistrationID] {
    crowded.rows(device, topic)
      ?? registrations(of: device).reversed().filter { self[$0].topic == topic }
  }

  /// Rows of all installs of an app on a device, newest first.
  private func installs(_ device: DeviceID, _ app: CrowdedDevices.App) -> [RegistrationID] {
    crowded.rows(device, app)?.reversed()
      ?? registrations(of: device).filter { self[$0].app == app }
  }

  /// The number that the next install of an app on a device has; nil when the device has too many.
  func nextInstall(_ device: DeviceID, _ app: CrowdedDevices.App) -> Int32? {
    guard !isFull(device) else { return nil }
    return Registration.nextInstall(after: installs(device, app).map { self[$0].install })
  }

  /// Whether so many installs more are more than one device may have.
  private func isFull(_ device: DeviceID, installs: Int = 1) -> Bool {
    Int(devices[device].rowCount) + installs > Self.rowsPerDevice
  }

  /// The row of the app as it is installed now, if it is; of one context of its topic, if one is named.
  public func installed(
    _ device: DeviceID, _ topic: TopicID, _ environment: Environment, _ context: TokenContextID? = nil
  ) -> RegistrationID? {
    installs(device, .init(topic: topic, environment: environment, context: context))
      .first { self[$0].isOnPhone }
  }

  /// The rows of all apps that a device has now, oldest first.
  public func installed(on device: DeviceID) -> [RegistrationID] {
    registrations(of: device).reversed().filter {
      self[$0].isOnPhone
    }
  }

  /// Whether so many installs more fit the table and the device's part of it.
  public func hasRoom(for device: DeviceID, installs: Int = 1) -> Bool {
    registrations.count + installs <= rowLimit && !isFull(device, installs: installs)
  }

  /// Adds a row, as the newest of its device; nil when there are too many, or one has the token. `custom` is the token as its
  /// chooser has it, of which the row has the name.
  func add(_ registration: Registration, _ custom: CustomToken?) -> RegistrationID? {
    var row = registration
    row.isCustom = custom != nil
    guard registrations.count < rowLimit, custom == nil || customCount < customLimit,
      contains(row.topic), find(row.token) == nil
    else { return nil }
    row.nextOfDevice = devices[row.device].firstRegistration
    row.zone = devices[row.device].zone
    if !topics.isUsed(row.topic) { devices[row.device].topicCount += 1 }
    topics.retain(row.topic)
    makeRoom()
    let id = registrations.append(row)
    devices[row.device].firstRegistration = id
    devices[row.device].rowCount += 1
    noteRow(id, row)
    index.insert(row.token, id)
    if let custom {
      customTokens.add(custom, id)
      knowsOtherLengths = customTokens.hasOtherLengths
    }
    changes.registrations.append(id)
    return id
  }

  /// Table and index grow while nobody is at them.
  private func makeRoom() {
    if registrations.isFull {
      let full = exchange(&registrations, with: PlainTable(capacity: 0))
      _ = exchange(&registrations, with: full.grown())
    }
    guard index.isFull else { return }
    let full = exchange(&index, with: TokenIndex(capacity: 1))
    _ = exchange(&index, with: full.grown { self[$0].token })
  }

  /// Has the rows of a device found by topic once it has many.
  private func noteRow(_ id: RegistrationID, _ row: Registration) {
    guard devices[row.device].rowCount > CrowdedDevices.walkLimit else { return }
    guard !crowded.knows(row.device) else { return crowded.add(id, row) }
    crowded.begin(row.device, registrations(of: row.device).reversed().map { ($0, self[$0]) })
  }

  // MARK: Chosen tokens

  /// Most chosen tokens, as a count: with `--adopt-tokens` any provider makes some. As many as Fleet's load test is meant for.
  /// Variable so that a test can have fewer.
  public var customLimit = 300_000
  /// Chosen tokens, as a count.
  public var customCount: Int { customTokens.count }

  /// Whether any token has another length than devices know.
  @inline(__always)
  public var hasOtherLengths: Bool { knowsOtherLengths }

  /// Whether the token of a row has another length than devices know.
  public func hasOtherLength(_ row: RegistrationID) -> Bool { customTokens.otherLength(row) != nil }

  /// The token of a row as providers present it.
  public func bytes(of row: RegistrationID) -> [UInt8] {
    customTokens.otherLength(row)?.bytes ?? registrations[row].token.bytes
  }

  /// The same in hexadecimal.
  public func text(of row: RegistrationID) -> String {
    hasOtherLengths ? Hex.encode(bytes(of: row)) : registrations[row].token.hex
  }

  /// What the table calls a token: itself, if it is as long as those that are given.
  public func name(of token: CustomToken) -> DeviceToken {
    token.plain ?? derivation.name(ofCustom: token.bytes)
  }

  /// Finds the row of a token as a provider presents it.
  @inline(__always)
  public func find(presented token: Span<UInt8>) -> RegistrationID? {
    guard let standard = DeviceToken(token) else { return hasOtherLengths ? find(otherLength: token) : nil }
    return find(standard)
  }

  @inline(never)
  private func find(otherLength token: Span<UInt8>) -> RegistrationID? {
    CustomToken(bytes: Array(token)).flatMap { find($0) }
  }

  /// Finds the row of a token that somebody chose, or might have.
  public func find(_ token: CustomToken) -> RegistrationID? { find(name(of: token)) }

  /// Changes a row and remembers that the store must hear of it.
  func update(_ id: RegistrationID, _ change: (inout Registration) -> Void) {
    var row = registrations[id]
    change(&row)
    registrations[id] = row
    changes.registrations.append(id)
  }

  // MARK: The store

  /// Rows that changed since the last call, or that every device was forgotten.
  func takeChanges() -> BrokerChanges {
    defer { changes = BrokerChanges() }
    changes.topics = topics.takeChanged()
    return changes
  }

  /// Empties the table and the list of devices. Topics keep their ids, and all of them count as changed.
  func forgetDevices() {
    generation += 1
    for row in RegistrationID.rows(below: registrationCount) { release(self[row].topic) }
    contexts = ContextTable()
    registrations.removeAll()
    devices = DeviceTable()
    crowded = CrowdedDevices()
    (customTokens, knowsOtherLengths) = (CustomTokens(), false)
    index.removeAll()
    topics.noteAll()
    changes = BrokerChanges()
    changes.startsOver = true
  }
}
