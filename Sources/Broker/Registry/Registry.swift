import Basics
import PushModel

/// The first-class table UDID + topic + environment → token, with the devices and topics it speaks of.
///
/// Rows are only ever added; a token that is gone keeps its row and its time, and never comes back.
package final class Registry {
  /// Most devices and most registrations, as counts: indices are 32 bits, and memory stays in reach of one machine.
  package static let rowLimit = 16_000_000
  /// Most topics, as a count.
  package static let topicLimit = 1_000_000
  /// Most topics that nothing is of, as a count: names that providers and people have said, and that no device has asked for. The
  /// one that was asked for longest ago makes room.
  package static let unusedTopicLimit = 10_000
  /// Most topics that one device may make used by asking for their tokens, as a count: as many apps as a simulated device may have.
  package static let topicsPerDevice = 1024
  /// Most topics that are in use when a device asks for the token of another, as a count: the rest is for providers and people.
  package static let topicLimitOfDevices = 750_000

  /// Most topics that providers with one team's tokens may make used, by channels and by tokens that are registered at their first
  /// push, as a count: a team has some hundred apps, and a provider token may name any topic.
  /// Variable so that a test can have fewer.
  package var topicsPerTeam = 10_000

  /// Most registrations of one device, reinstalls included, as a count: a phone has a few hundred apps, and looking
  /// through a device's rows must stay quick whatever it asks for.
  package static let rowsPerDevice = 4096

  private let derivation: any TokenDerivation
  private var devices: [Device] = []
  private var topics = TopicTable(limit: topicLimit, unusedLimit: unusedTopicLimit)
  private var registrations = PlainTable<RegistrationID, Registration>()
  private var teamTopics = TeamTopics()
  private var crowded = CrowdedDevices()
  /// How many rows were walked through one by one so far, as a count: for tests, as work must not grow with what a device has.
  package private(set) var walkedRows = 0
  private var index = TokenIndex()
  private var deviceByUDID: [UDID: DeviceID] = [:]
  /// Chosen tokens of other lengths than devices know: `Registration.token` is only what the table calls them.
  private var otherLengths: [RegistrationID: CustomToken] = [:]
  /// Tokens that somebody chose, as a count.
  package private(set) var customCount = 0
  private var contexts: [TokenContext] = []
  private var contextByName: [TokenContext: TokenContextID] = [:]
  /// Rows that the store has not seen as they are; one may be named more than once.
  private var changes = Changes()
  /// Which of its parts are changed here.
  package let zones: ZoneShare
  /// Hash of the token that was prefetched last.
  private var prefetched: UInt64 = 0
  /// Counts how often every device was forgotten: ids of rows and devices mean nothing beyond that.
  package private(set) var generation = 0
  /// Devices that are connected, as a count.
  package private(set) var onlineCount = 0

  struct Changes {
    var devices: [DeviceID] = []
    var topics: [TopicID] = []
    var registrations: [RegistrationID] = []
    /// Every device was forgotten.
    var startsOver = false
  }

  package init(derivation: any TokenDerivation, zones: ZoneShare = ZoneShare()) {
    (self.derivation, self.zones) = (derivation, zones)
  }

  // MARK: Topics

  /// The topic's id, added if new; nil when all there may be are in use. Valid for as long as something is of the topic; of one that
  /// nothing is of, until its place is another topic's (`contains`).
  package func topic(named topic: Topic) -> TopicID? {
    if let known = topics.find(topic) {
      topics.touch(known)
      return known
    }
    guard let id = self.topic(hashed: derivation.topicHash(topic)) else { return nil }
    topics.name(id, topic)
    changes.topics.append(id)
    return id
  }

  /// The id of the topic with this hash, added without a name if new; the same otherwise.
  package func topic(hashed hash: TopicHash) -> TopicID? {
    if let known = topics.find(hash) {
      topics.touch(known)
      return known
    }
    guard let id = topics.add(hash) else { return nil }
    changes.topics.append(id)
    return id
  }

  /// The id of a topic by its name, or by its hash where nobody knows that; the same otherwise.
  package func topic(_ told: TopicEntry) -> TopicID? {
    guard let name = told.name else { return topic(hashed: told.hash) }
    return topic(named: name)
  }

  /// Somebody says a name. Nothing is added: whoever has a topic of this name, by its hash, can be shown with it from now on.
  package func learn(_ name: Topic) {
    guard topics.find(name) == nil, let id = topics.find(derivation.topicHash(name)) else { return }
    topics.name(id, name)
    changes.topics.append(id)
  }

  /// The id of a topic that is already known by this hash.
  package func knownTopic(hashed hash: TopicHash) -> TopicID? { topics.find(hash) }

  /// The id of a topic that is already known by this name.
  package func knownTopic(named topic: Topic) -> TopicID? { topics.find(topic) }

  /// The names of those topics that have one.
  package var topicNames: [Topic] { topics.names }

  /// Whether this registry gave the id, and the topic is still known.
  package func contains(_ id: TopicID) -> Bool { topics.contains(id) }

  /// Whether anything is of the topic: a row, a channel, or an entry of the feedback service.
  package func isUsed(_ id: TopicID) -> Bool { topics.isUsed(id) }

  /// Topics, as a count.
  package var topicCount: Int { topics.count }

  /// `unusedTopicLimit`. Variable so that a test can have fewer.
  package var unusedTopicLimit: Int {
    get { topics.unusedLimit }
    set { topics.unusedLimit = newValue }
  }

  /// The topic of an id that is valid.
  @inline(__always)
  package subscript(id: TopicID) -> TopicEntry { topics[id] }

  /// A channel or an entry of the feedback service is of the topic from now on; rows are counted when they are added.
  func retain(_ id: TopicID) { topics.retain(id) }

  /// One of those has gone.
  func release(_ id: TopicID) {
    topics.release(id)
    if !topics.isUsed(id) { teamTopics.remove(id) }
  }

  /// Whether a device may ask for a token of the topic with this hash: one that something is of, or one more of its own.
  func mayUse(_ hash: TopicHash, _ device: DeviceID) -> Bool {
    if let known = topics.find(hash), topics.isUsed(known) { return true }
    return devices[device.index].topicCount < Self.topicsPerDevice
      && topics.usedCount < Self.topicLimitOfDevices
  }

  /// Whether a provider with a team's token may have something made of a topic: of one that something is of, or of one more of its own.
  package func mayUse(_ topic: TopicID, team: String) -> Bool {
    topics.isUsed(topic) || teamTopics.count(team) < topicsPerTeam
  }

  /// A provider with a team's token has had something made of a topic. If nothing else is of it, the topic counts as one that the
  /// team has brought, until nothing is of it or until a restart.
  package func noteFirstUse(of topic: TopicID, by team: String) {
    if topics.isUsedOnce(topic) { teamTopics.add(topic, of: team) }
  }

  /// Puts a topic back, in the order of their places.
  package func restoreTopic(_ hash: TopicHash, _ name: Topic?) {
    guard topics.find(hash) == nil, let id = topics.add(hash, replaces: false) else { return }
    if let name { topics.name(id, name) }
  }

  // MARK: Contexts

  /// Most contexts, as a count: simulated devices say what they are called.
  package static let contextLimit = 1_000_000

  /// The context's id, added if new; nil when there are too many.
  func contextID(_ context: TokenContext) -> TokenContextID? {
    if let known = contextByName[context] { return known }
    guard contexts.count < Self.contextLimit else { return nil }
    let id = TokenContextID(contexts.count)
    contexts.append(context)
    contextByName[context] = id
    return id
  }

  /// The id of a context that is already known.
  func knownContext(_ context: TokenContext) -> TokenContextID? { contextByName[context] }

  /// The context of an id that this registry gave.
  package subscript(id: TokenContextID) -> TokenContext { contexts[id.index] }

  /// What of its topic a row is for; nil for all of it.
  package func context(of row: RegistrationID) -> TokenContext? {
    registrations[row].context.map { self[$0] }
  }

  // MARK: Devices

  /// The id of a device that has been seen.
  package func knownDevice(_ udid: UDID) -> DeviceID? { deviceByUDID[udid] }

  /// The device's id, added if new; nil when there are too many.
  package func device(_ udid: UDID, now: Timestamp) -> DeviceID? {
    if let known = deviceByUDID[udid] { return known }
    guard devices.count < Self.rowLimit else { return nil }
    let id = DeviceID(devices.count)
    var device = Device(udid: udid, identity: 1, keyFingerprint: [], firstSeenAt: now, lastSeenAt: now)
    device.zone = zones.zone(of: udid)
    devices.append(device)
    deviceByUDID[udid] = id
    changes.devices.append(id)
    return id
  }

  /// Whether this registry gave the id.
  package func contains(_ id: DeviceID) -> Bool { devices.indices.contains(id.index) }

  /// Devices, as a count.
  package var deviceCount: Int { devices.count }

  /// The device of an id that this registry gave.
  package subscript(id: DeviceID) -> Device { devices[id.index] }

  /// Changes a device and remembers that the store must hear of it.
  func update(_ id: DeviceID, _ change: (inout Device) -> Void) {
    change(&devices[id.index])
    changes.devices.append(id)
  }

  /// The live session of a device in an environment.
  package func session(of device: DeviceID, in environment: Environment) -> DeviceSession? {
    devices[device.index].session(in: environment)
  }

  /// The live session that the notifications of a row would go to.
  func session(of row: Registration) -> DeviceSession? { session(of: row.device, in: row.environment) }

  /// A device has come, or with nil gone, in an environment.
  func setSession(_ session: DeviceSession?, of device: DeviceID, in environment: Environment) {
    let wasOnline = devices[device.index].isOnline
    devices[device.index].setSession(session, in: environment)
    onlineCount += (devices[device.index].isOnline ? 1 : 0) - (wasOnline ? 1 : 0)
  }

  // MARK: Tokens

  /// The token that an install of an app has unless a saved state says otherwise.
  package func derivedToken(
    _ udid: UDID, _ hash: TopicHash, _ environment: Environment, install: Int32, context: TokenContext? = nil
  ) -> DeviceToken {
    let token = derivation.appToken(
      environment: environment, udid: udid, topicHash: hash, install: install, context: context)
    return zones.stamped(token, for: udid)
  }

  /// The hash of a topic's name.
  package func hash(of topic: Topic) -> TopicHash { derivation.topicHash(topic) }

  /// The token of the device itself.
  package func baseToken(_ device: DeviceID, _ environment: Environment) -> DeviceToken {
    let row = self[device]
    return derivation.baseToken(environment: environment, udid: row.udid, identity: row.identity)
  }

  // MARK: Registrations

  /// Whether this registry gave the id.
  package func contains(_ id: RegistrationID) -> Bool { registrations.contains(id) }

  /// Rows, as a count.
  package var registrationCount: Int { registrations.count }

  /// The row of an id that this registry gave.
  @inline(__always)
  package subscript(id: RegistrationID) -> Registration { registrations[id] }

  /// Finds a token's row.
  @inline(__always)
  package func find(_ token: DeviceToken) -> RegistrationID? {
    index.find(token) { registrations[$0].token == token }
  }

  /// Has the place of a token in the index brought near, and the row of the token that was prefetched before it; answers
  /// that row, if it seems to be known.
  @inline(__always)
  func prefetch(_ token: DeviceToken) -> RegistrationID? {
    let row = index.likelyRow(prefetched)
    prefetched = index.prefetch(token)
    if let row { registrations.prefetch(row) }
    return row
  }

  /// Whether the part of the token map that a row belongs to is changed here.
  func leads(_ row: RegistrationID) -> Bool { zones.leads(registrations[row].zone) }

  /// All rows of a device, newest first.
  package func registrations(of device: DeviceID) -> [RegistrationID] {
    var result: [RegistrationID] = []
    result.reserveCapacity(Int(devices[device.index].rowCount))
    var next = devices[device.index].firstRegistration
    while let row = next {
      result.append(row)
      next = registrations[row].nextOfDevice
    }
    walkedRows &+= result.count
    return result
  }

  /// Rows of a topic on a device, in both environments, oldest first.
  func registrations(of device: DeviceID, _ topic: TopicID) -> [RegistrationID] {
    crowded.rows(device, topic)
      ?? registrations(of: device).reversed().filter { registrations[$0].topic == topic }
  }

  /// Rows of all installs of an app on a device, newest first.
  private func installs(_ device: DeviceID, _ app: CrowdedDevices.App) -> [RegistrationID] {
    crowded.rows(device, app)?.reversed()
      ?? registrations(of: device).filter { registrations[$0].app == app }
  }

  /// The number that the next install of an app on a device has.
  private func nextInstall(_ device: DeviceID, _ app: CrowdedDevices.App) -> Int32 {
    Registration.nextInstall(after: installs(device, app).map { registrations[$0].install })
  }

  /// Whether so many installs more are more than one device may have.
  private func isFull(_ device: DeviceID, installs: Int = 1) -> Bool {
    Int(devices[device.index].rowCount) + installs > Self.rowsPerDevice
  }

  /// The row of the app as it is installed now, if it is; of one context of its topic, if one is named.
  package func installed(
    _ device: DeviceID, _ topic: TopicID, _ environment: Environment, _ context: TokenContextID? = nil
  ) -> RegistrationID? {
    installs(device, .init(topic: topic, environment: environment, context: context))
      .first { registrations[$0].isActive && !registrations[$0].isAbandoned }
  }

  /// The rows of an app as it is installed now: that of its bundle id, and those of its push types with topics of their own and
  /// of all contexts. Oldest first.
  package func family(_ device: DeviceID, _ app: TopicID, _ environment: Environment) -> [RegistrationID] {
    let suffixed = self[app].name?.suffixed ?? []
    let topics = Set([app] + suffixed.compactMap { knownTopic(hashed: derivation.topicHash($0)) })
    return installed(on: device).filter {
      registrations[$0].environment == environment && topics.contains(registrations[$0].topic)
    }
  }

  /// The rows of all apps that a device has now, oldest first.
  package func installed(on device: DeviceID) -> [RegistrationID] {
    registrations(of: device).reversed().filter {
      registrations[$0].isActive && !registrations[$0].isAbandoned
    }
  }

  /// Whether so many installs more fit the table and the device's part of it.
  package func hasRoom(for device: DeviceID, installs: Int = 1) -> Bool {
    registrations.count + installs <= Self.rowLimit && !isFull(device, installs: installs)
  }

  /// The row of a fresh install, with the token that the secret gives it or one that was chosen; nil when the device has too many.
  func fresh(
    _ device: DeviceID, _ topic: TopicID, _ environment: Environment, _ context: TokenContextID? = nil,
    custom: CustomToken? = nil
  ) -> TokenRow? {
    guard !isFull(device) else { return nil }
    var row = TokenRow()
    row.install = nextInstall(device, .init(topic: topic, environment: environment, context: context))
    (row.environment, row.custom, row.context) = (environment, custom, context.map { self[$0] })
    guard custom == nil else { return row }
    row.token = derivedToken(
      self[device].udid, self[topic].hash, environment, install: row.install, context: row.context)
    return row
  }

  /// Adds a row, as the newest of its device; nil when there are too many, or one has the token. `custom` is the token as its
  /// chooser has it, of which the row has the name.
  func add(_ registration: Registration, _ custom: CustomToken?) -> RegistrationID? {
    var row = registration
    row.isCustom = custom != nil
    guard registrations.count < Self.rowLimit, custom == nil || customCount < customLimit,
      contains(row.topic), find(row.token) == nil
    else { return nil }
    row.nextOfDevice = devices[row.device.index].firstRegistration
    row.zone = devices[row.device.index].zone
    if !topics.isUsed(row.topic) { devices[row.device.index].topicCount += 1 }
    topics.retain(row.topic)
    let id = registrations.append(row)
    devices[row.device.index].firstRegistration = id
    devices[row.device.index].rowCount += 1
    noteRow(id, row)
    index.insert(row.token, id) { registrations[$0].token }
    if let custom { noteCustom(custom, id) }
    changes.registrations.append(id)
    return id
  }

  /// Has the rows of a device found by topic once it has many.
  private func noteRow(_ id: RegistrationID, _ row: Registration) {
    guard devices[row.device.index].rowCount > CrowdedDevices.walkLimit else { return }
    guard !crowded.knows(row.device) else { return crowded.add(id, row) }
    crowded.begin(row.device, registrations(of: row.device).reversed().map { ($0, registrations[$0]) })
  }

  // MARK: Chosen tokens

  /// Most chosen tokens, as a count: with `--adopt-tokens` any provider makes some. As many as Fleet's load test is meant for.
  /// Variable so that a test can have fewer.
  package var customLimit = 300_000

  /// Whether any token has another length than devices know.
  @inline(__always)
  package var hasOtherLengths: Bool { !otherLengths.isEmpty }

  /// Whether the token of a row has another length than devices know.
  package func hasOtherLength(_ row: RegistrationID) -> Bool {
    hasOtherLengths && otherLengths[row] != nil
  }

  /// The token of a row as providers present it.
  package func bytes(of row: RegistrationID) -> [UInt8] {
    otherLengths[row]?.bytes ?? registrations[row].token.bytes
  }

  /// The same in hexadecimal.
  package func text(of row: RegistrationID) -> String {
    hasOtherLengths ? Hex.encode(bytes(of: row)) : registrations[row].token.hex
  }

  /// What the table calls a token: itself, if it is as long as those that are given.
  package func name(of token: CustomToken) -> DeviceToken {
    token.plain ?? derivation.name(ofCustom: token.bytes)
  }

  /// Finds the row of a token as a provider presents it.
  @inline(__always)
  package func find(presented token: UnsafeRawBufferPointer) -> RegistrationID? {
    guard token.count == DeviceToken.byteCount, let base = token.baseAddress else {
      return hasOtherLengths ? find(otherLength: token) : nil
    }
    return find(DeviceToken(loadingFrom: base))
  }

  @inline(never)
  private func find(otherLength token: UnsafeRawBufferPointer) -> RegistrationID? {
    CustomToken(bytes: Array(token)).flatMap { find($0) }
  }

  /// Finds the row of a token that somebody chose, or might have.
  package func find(_ token: CustomToken) -> RegistrationID? { find(name(of: token)) }

  private func noteCustom(_ token: CustomToken, _ row: RegistrationID) {
    customCount += 1
    if token.plain == nil { otherLengths[row] = token }
  }

  /// Changes a row and remembers that the store must hear of it.
  func update(_ id: RegistrationID, _ change: (inout Registration) -> Void) {
    change(&registrations[id])
    changes.registrations.append(id)
  }

  // MARK: The store

  /// Rows that changed since the last call.
  func takeChanges() -> Changes {
    defer { changes = Changes() }
    return changes
  }

  /// Empties the table and the list of devices. Topics keep their ids, and all of them count as changed.
  func forgetDevices() {
    generation += 1
    onlineCount = 0
    for row in registrations.ids { release(registrations[row].topic) }
    (contexts, contextByName) = ([], [:])
    registrations.removeAll()
    devices = []
    crowded = CrowdedDevices()
    deviceByUDID = [:]
    (otherLengths, customCount) = ([:], 0)
    index.removeAll()
    changes = Changes(topics: topics.ids, startsOver: true)
  }
}

/// How tokens come to be (`Documentation/credentials.md#how-tokens-come-to-be`). Implemented by `Credentials`; the
/// registry only asks.
package protocol TokenDerivation {
  /// SHA-1 of the topic's UTF-8.
  func topicHash(_ topic: Topic) -> TopicHash
  /// The token of a topic on a device, or of one context of it, for its n-th install.
  func appToken(
    environment: Environment, udid: UDID, topicHash: TopicHash, install: Int32, context: TokenContext?
  ) -> DeviceToken
  /// What the table calls a chosen token of another length: nothing that is given to anybody.
  func name(ofCustom token: [UInt8]) -> DeviceToken
  /// The token of the device itself, for its n-th identity.
  func baseToken(environment: Environment, udid: UDID, identity: Int32) -> DeviceToken
}
