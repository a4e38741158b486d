import PushModel

/// The first-class table UDID + topic + environment → token, with the devices and topics it speaks of.
///
/// Rows are only ever added; a token that is gone keeps its row and its time, and never comes back.
public final class Registry {
  /// Most devices and most registrations, as counts: indices are 32 bits, and memory stays in reach of one machine.
  public static let rowLimit = 16_000_000
  /// Most topics, as a count: hashes come from device filters, so strangers can invent them.
  public static let topicLimit = 1_000_000

  /// Most registrations of one device, reinstalls included, as a count: a phone has a few hundred apps, and looking
  /// through a device's rows must stay quick whatever it asks for.
  public static let rowsPerDevice = 4096

  let derivation: any TokenDerivation
  public internal(set) var devices: [Device] = []
  public internal(set) var topics: [TopicEntry] = []
  var registrations = PlainTable<Registration>()
  private var index = TokenIndex()
  private var deviceByUDID: [UDID: Int32] = [:]
  private var topicByHash: [TopicHash: Int32] = [:]
  private var topicByName: [Topic: Int32] = [:]
  /// Changed rows that the store has not seen.
  var changes = RegistryChanges()
  /// Counts how often every device was forgotten: indices of rows and devices mean nothing beyond that.
  public private(set) var generation = 0
  /// Devices that are connected, as a count.
  public private(set) var onlineCount = 0

  public init(derivation: any TokenDerivation) {
    self.derivation = derivation
    // The table outlives the index: both belong to this object.
    index.firstWord = { [unowned self] in registrations[$0].token.words.0 }
  }

  // MARK: Topics

  /// The topic's index, added if new.
  public func topic(named topic: Topic) -> Int32? {
    if let known = topicByName[topic] { return known }
    guard let index = self.topic(hashed: derivation.topicHash(topic)) else { return nil }
    topics[Int(index)].name = topic
    topicByName[topic] = index
    changes.topics.append(index)
    return index
  }

  /// The index of the topic with this hash, added without a name if new; nil when there are too many.
  public func topic(hashed hash: TopicHash) -> Int32? {
    if let known = topicByHash[hash] { return known }
    guard topics.count < Self.topicLimit else { return nil }
    let index = Int32(topics.count)
    topics.append(TopicEntry(hash: hash, name: nil))
    topicByHash[hash] = index
    changes.topics.append(index)
    return index
  }

  /// The index of a topic that is already known by this hash.
  public func knownTopic(hashed hash: TopicHash) -> Int32? { topicByHash[hash] }

  /// The index of a topic that is already known by this name.
  public func knownTopic(named topic: Topic) -> Int32? { topicByName[topic] }

  // MARK: Devices

  /// The index of a device that has been seen.
  public func knownDevice(_ udid: UDID) -> Int32? { deviceByUDID[udid] }

  /// The device's index, added if new; nil when there are too many.
  public func device(_ udid: UDID, now: Timestamp) -> Int32? {
    if let known = deviceByUDID[udid] { return known }
    guard devices.count < Self.rowLimit else { return nil }
    let index = Int32(devices.count)
    devices.append(Device(udid: udid, identity: 1, keyFingerprint: [], firstSeenAt: now, lastSeenAt: now))
    deviceByUDID[udid] = index
    changes.devices.append(index)
    return index
  }

  /// The token that an install of an app has unless a saved state says otherwise.
  public func derivedToken(_ udid: UDID, _ hash: TopicHash, _ environment: Environment, install: Int32)
    -> DeviceToken
  {
    derivation.appToken(environment: environment, udid: udid, topicHash: hash, install: install)
  }

  /// The hash of a topic's name.
  public func hash(of topic: Topic) -> TopicHash { derivation.topicHash(topic) }

  /// The token of the device itself.
  public func baseToken(_ device: Int32, _ environment: Environment) -> DeviceToken {
    let row = devices[Int(device)]
    return derivation.baseToken(environment: environment, udid: row.udid, identity: row.identity)
  }

  // MARK: Registrations

  /// Indices of rows from one on, as many as there are.
  public func rows(from start: Int, below end: Int) -> Range<Int32> {
    let end = Int32(clamping: end)
    return min(Int32(clamping: start), end)..<end
  }

  /// Number of rows.
  public var registrationCount: Int { registrations.count }

  /// One row.
  public subscript(registration index: Int32) -> Registration { registrations[Int(index)] }

  /// Finds a token's row.
  @inline(__always)
  public func find(_ token: DeviceToken) -> Int32? {
    index.find(token) { registrations[$0].token == token }.map { Int32(truncatingIfNeeded: $0) }
  }

  /// All rows of a device, newest first.
  public func registrations(of device: Int32) -> [Int32] {
    var result: [Int32] = []
    var next = devices[Int(device)].firstRegistration
    while next >= 0 {
      result.append(next)
      next = registrations[Int(next)].nextOfDevice
    }
    return result
  }

  /// The row of the app as it is installed now, if it is.
  public func installed(_ device: Int32, _ topic: Int32, _ environment: Environment) -> Int32? {
    registrations(of: device).first {
      let row = registrations[Int($0)]
      return row.topic == topic && row.environment == environment && row.isActive && !row.isAbandoned
    }
  }

  /// Whether another install fits the table and the device's part of it.
  public func hasRoom(for device: Int32) -> Bool {
    registrations.count < Self.rowLimit && registrations(of: device).count < Self.rowsPerDevice
  }

  /// Adds the row of a fresh install; nil when there are too many, or the token exists (an HMAC collision).
  func install(_ device: Int32, _ topic: Int32, _ environment: Environment, now: Timestamp) -> Int32? {
    let rows = registrations(of: device)
    guard rows.count < Self.rowsPerDevice else { return nil }
    let earlier = rows.map { registrations[Int($0)] }
      .filter { $0.topic == topic && $0.environment == environment }
    let install = (earlier.map(\.install).max() ?? 0) + 1
    let token = derivation.appToken(
      environment: environment, udid: devices[Int(device)].udid, topicHash: topics[Int(topic)].hash,
      install: install)
    return add(
      Registration(
        token: token, device: device, topic: topic, install: install, environment: environment,
        isAbandoned: false, awaitsFeedback: false, issuedAt: now, goneAt: .never, nextOfDevice: -1))
  }

  func add(_ registration: Registration) -> Int32? {
    guard registrations.count < Self.rowLimit, find(registration.token) == nil else { return nil }
    var row = registration
    row.nextOfDevice = devices[Int(row.device)].firstRegistration
    let index = Int32(registrations.append(row))
    devices[Int(row.device)].firstRegistration = index
    self.index.insert(row.token, Int(index))
    changes.registrations.append(index)
    return index
  }

  /// Empties the table and the list of devices. Topics keep their indices, and all of them count as changed.
  func forgetDevices() {
    generation += 1
    onlineCount = 0
    registrations.removeAll()
    devices = []
    deviceByUDID = [:]
    index.removeAll()
    changes = RegistryChanges(topics: topics.indices.map { Int32($0) })
  }

  /// Changes a row and remembers that the store must hear of it.
  func update(_ index: Int32, _ change: (inout Registration) -> Void) {
    change(&registrations[Int(index)])
    changes.registrations.append(index)
  }

  /// A device has come, or with nil gone, in an environment.
  func setSession(_ session: DeviceSession?, of device: Int32, in environment: Environment) {
    let wasOnline = devices[Int(device)].isOnline
    devices[Int(device)].setSession(session, in: environment)
    onlineCount += (devices[Int(device)].isOnline ? 1 : 0) - (wasOnline ? 1 : 0)
  }

  /// Changes a device and remembers that the store must hear of it.
  func updateDevice(_ index: Int32, _ change: (inout Device) -> Void) {
    change(&devices[Int(index)])
    changes.devices.append(index)
  }
}

/// Rows that changed since the last commit; a row may be named more than once.
struct RegistryChanges {
  var devices: [Int32] = []
  var topics: [Int32] = []
  var registrations: [Int32] = []
}
