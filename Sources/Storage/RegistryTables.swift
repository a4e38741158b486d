import Broker
import PushModel

/// Topics, devices and the token map on disk. A table's row id is the row's index in the registry.
struct RegistryTables {
  private let path: String
  private let writeTopic, writeDevice, writeRegistration, writeContext, writeChosen: Statement
  private let readTopics, readDevices, readRegistrations, readContexts, readChosen: Statement

  init(_ database: Database) throws(StoreError) {
    path = database.path
    writeTopic = try Statement(database, "INSERT OR REPLACE INTO topic VALUES (?, ?, ?, ?)", isChecked: true)
    writeDevice = try Statement(
      database, "INSERT OR REPLACE INTO device VALUES (?, ?, ?, ?, ?, ?, ?)", isChecked: true)
    writeRegistration = try Statement(
      database, "INSERT OR REPLACE INTO registration VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      isChecked: true)
    writeContext = try Statement(
      database, "INSERT OR REPLACE INTO token_context VALUES (?, ?, ?)", isChecked: true)
    writeChosen = try Statement(
      database, "INSERT OR REPLACE INTO chosen_token VALUES (?, ?, ?)", isChecked: true)
    readTopics = try Statement(database, "SELECT * FROM topic ORDER BY id", isChecked: true)
    readDevices = try Statement(database, "SELECT * FROM device ORDER BY id", isChecked: true)
    readRegistrations = try Statement(database, "SELECT * FROM registration ORDER BY id", isChecked: true)
    readContexts = try Statement(database, "SELECT * FROM token_context ORDER BY id", isChecked: true)
    readChosen = try Statement(database, "SELECT * FROM chosen_token ORDER BY id", isChecked: true)
  }

  // MARK: Writing

  /// Writes the rows that changed. Inside a transaction.
  func write(_ changes: BrokerChanges, of registry: Registry) throws(StoreError) {
    // One that has made room for another within the turn is there no more.
    for id in Self.once(changes.topics) where registry.contains(id) { try write(id, registry[id]) }
    for id in Self.once(changes.devices) { try write(id, registry[id]) }
    for id in Self.once(changes.registrations) {
      try write(id, registry[id])
      if let context = registry.context(of: id) { try write(id, context) }
      if registry[id].isChosen { try writeChosen(id, registry.bytes(of: id)) }
    }
  }

  /// In order, each once: the tables are written from front to back.
  private static func once<ID: RowID>(_ rows: [ID]) -> [ID] {
    guard rows.count > 1 else { return rows }
    var result: [ID] = []
    result.reserveCapacity(rows.count)
    for row in rows.sorted() where row != result.last { result.append(row) }
    return result
  }

  private func write(_ id: TopicID, _ topic: TopicEntry) throws(StoreError) {
    writeTopic.bind(1, id)
    topic.hash.bytes.withUnsafeBytes { writeTopic.bind(2, $0) }
    writeTopic.bind(3, topic.name?.name)
    try writeTopic.run()
  }

  private func write(_ id: DeviceID, _ device: Device) throws(StoreError) {
    writeDevice.bind(1, id)
    writeDevice.bind(2, device.udid.text)
    writeDevice.bind(3, Int64(device.identity))
    device.keyFingerprint.withUnsafeBytes { writeDevice.bind(4, $0) }
    writeDevice.bind(5, device.firstSeenAt.nanoseconds)
    writeDevice.bind(6, device.lastSeenAt.nanoseconds)
    try writeDevice.run()
  }

  private func write(_ id: RegistrationID, _ row: Registration) throws(StoreError) {
    writeRegistration.bind(1, id)
    row.token.withUnsafeBytes { writeRegistration.bind(2, $0) }
    writeRegistration.bind(3, row.device)
    writeRegistration.bind(4, row.topic)
    writeRegistration.bind(5, Int64(row.install))
    writeRegistration.bind(6, Int64(row.environment.rawValue))
    writeRegistration.bind(7, row.isAbandoned ? 1 : 0)
    writeRegistration.bind(8, row.awaitsFeedback ? 1 : 0)
    writeRegistration.bind(9, row.issuedAt.nanoseconds)
    writeRegistration.bind(10, row.goneAt.nanoseconds)
    try writeRegistration.run()
  }

  private func write(_ id: RegistrationID, _ context: TokenContext) throws(StoreError) {
    writeContext.bind(1, id)
    writeContext.bind(2, context.text)
    try writeContext.run()
  }

  private func writeChosen(_ id: RegistrationID, _ token: [UInt8]) throws(StoreError) {
    writeChosen.bind(1, id)
    token.withUnsafeBytes { writeChosen.bind(2, $0) }
    try writeChosen.run()
  }

  // MARK: Reading

  /// Gives an empty registry all rows in order.
  func load(into broker: Broker) throws(StoreError) {
    var count: Int64 = 0
    while try readTopics.step() {
      guard loadTopic(count, broker) else { throw damaged("topic", count) }
      count += 1
    }
    count = 0
    while try readDevices.step() {
      guard loadDevice(count, broker) else { throw damaged("device", count) }
      count += 1
    }
    count = 0
    var contexts = try loadContexts()
    var chosen = try loadChosen()
    while try readRegistrations.step() {
      let (context, token) = (contexts.removeValue(forKey: count), chosen.removeValue(forKey: count))
      guard loadRegistration(count, context, token, broker) else {
        throw damaged("registration", count)
      }
      count += 1
    }
    if let other = contexts.keys.min() { throw damaged("token_context", other) }
    if let other = chosen.keys.min() { throw damaged("chosen_token", other) }
  }

  /// Of the rows that have one, by the number of the row.
  private func loadChosen() throws(StoreError) -> [Int64: ChosenToken] {
    var tokens: [Int64: ChosenToken] = [:]
    while try readChosen.step() {
      let row = readChosen.integer(0)
      guard let token = ChosenToken(bytes: Array(readChosen.bytes(1))) else {
        throw damaged("chosen_token", row)
      }
      tokens[row] = token
    }
    return tokens
  }

  /// Of the rows that have one, by the number of the row.
  private func loadContexts() throws(StoreError) -> [Int64: TokenContext] {
    var contexts: [Int64: TokenContext] = [:]
    while try readContexts.step() {
      let row = readContexts.integer(0)
      guard let context = TokenContext(readContexts.text(1)) else { throw damaged("token_context", row) }
      contexts[row] = context
    }
    return contexts
  }

  private func loadTopic(_ index: Int64, _ broker: Broker) -> Bool {
    guard readTopics.integer(0) == index, let hash = TopicHash(readTopics.bytes(1)) else { return false }
    let name = readTopics.isNull(2) ? nil : Topic(readTopics.text(2))
    // The registry finds a named topic by the hash of its name.
    if let name, TopicHash(name) != hash { return false }
    broker.restoreTopic(hash: hash, name: name)
    return broker.registry.topicCount == index + 1
  }

  private func loadDevice(_ index: Int64, _ broker: Broker) -> Bool {
    guard readDevices.integer(0) == index, let udid = UDID(readDevices.text(1)),
      let identity = Int32(exactly: readDevices.integer(2)), Device.identities.contains(identity)
    else { return false }
    broker.restoreDevice(
      udid: udid, identity: identity, keyFingerprint: Array(readDevices.bytes(3)),
      firstSeenAt: Timestamp(nanoseconds: readDevices.integer(4)),
      lastSeenAt: Timestamp(nanoseconds: readDevices.integer(5)))
    return broker.registry.deviceCount == index + 1
  }

  private func loadRegistration(
    _ index: Int64, _ context: TokenContext?, _ chosen: ChosenToken?, _ broker: Broker
  ) -> Bool {
    let read = readRegistrations
    guard read.integer(0) == index, let token = DeviceToken(read.bytes(1)),
      let device = DeviceID(read, 2), let topic = TopicID(read, 3),
      let install = Int32(exactly: read.integer(4)), Registration.installs.contains(install),
      let environment = UInt8(exactly: read.integer(5)).flatMap(Environment.init(rawValue:))
    else { return false }
    var row = Registration(
      token: token, device: device, topic: topic, install: install, environment: environment,
      issuedAt: Timestamp(nanoseconds: read.integer(8)))
    (row.isAbandoned, row.awaitsFeedback) = (read.integer(6) != 0, read.integer(7) != 0)
    row.goneAt = Timestamp(nanoseconds: read.integer(9))
    return broker.restore(row, context, chosen: chosen)
  }

  private func damaged(_ table: String, _ row: Int64) -> StoreError {
    StoreError(
      code: .damaged, sentence: "the store \(path) is damaged: \(table) \(row) is not as it was written")
  }
}
