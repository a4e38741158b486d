import Broker
import Faults
import PushModel

/// Makes an emulator know what a saved state says. What can be wrong is checked before anything is changed.
struct StateImport {
  let context: ConsoleContext
  let state: SavedState
  private var broker: Broker { context.broker }
  private var registry: Registry { context.broker.registry }

  /// What there was in the document, by kind.
  struct Counts {
    var apps = 0, keys = 0, devices = 0, tokens = 0, messages = 0, channels = 0, subscriptions = 0, faults = 0
  }

  func run() throws -> Counts {
    let tokens = try tokens()
    let credentials = try missingCredentials()
    try checkFaults()
    try issue(credentials)
    // First the clock: it says what has expired.
    if let clock = context.clock { state.clock?.apply(to: clock) }
    let now = context.now()
    for app in state.apps { _ = registry.topic(named: app.topic) }
    try importDevices(tokens, now)
    for channel in state.channels { try importChannel(channel, now) }
    for rule in state.faults where context.faults?[rule.name]?.setting.text != rule.setting.text {
      context.faults?.set(rule)
    }
    return counts
  }

  private var counts: Counts {
    let rows = state.devices.flatMap(\.rows)
    return Counts(
      apps: state.apps.count, keys: state.keys.count, devices: state.devices.count, tokens: rows.count,
      messages: rows.count { $0.message != nil }, channels: state.channels.count,
      subscriptions: state.channels.reduce(0) { $0 + $1.subscribers.count }, faults: state.faults.count)
  }

  // MARK: Checks

  /// The token of each row, device by device: the one the document gives, else the one that this emulator's secret
  /// gives. A given token that differs is kept as it is, since providers have it in their books.
  private func tokens() throws -> [[DeviceToken]] {
    var owners: Set<DeviceToken> = []
    return try state.devices.map { device in
      try device.rows.map { row in
        let token = row.token.map(registry.name(of:)) ?? derived(row, device.udid)
        guard owners.insert(token).inserted else {
          throw ConsoleError.bad(
            "\(row.place).token", expected: "one that no earlier row has", got: row.token?.hex ?? token.hex)
        }
        try checkOwner(token, row, device.udid)
        return token
      }
    }
  }

  private func derived(_ row: SavedRow, _ udid: UDID) -> DeviceToken {
    registry.derivedToken(udid, hash(row.app), row.environment, install: row.install, context: row.context)
  }

  private func hash(_ app: SavedRow.App) -> TopicHash {
    switch app {
    case .named(let topic): registry.hash(of: topic)
    case .hashed(let hash): hash
    }
  }

  /// A token stands for the same install everywhere, and an install has one token.
  private func checkOwner(_ token: DeviceToken, _ row: SavedRow, _ udid: UDID) throws {
    let known = registry.knownDevice(udid).map { registry.registrations(of: $0) } ?? []
    let same = known.first { isSame(row, registry[$0]) }
    if let same, registry[same].token != token {
      throw ConsoleError.conflict(
        "\(row.place).token: install \(row.install) has the token \(registry.text(of: same)) here, "
          + "got \(row.token?.hex ?? token.hex); reset the devices first, or start with the same --token-seed"
      )
    }
    if same == nil, let other = registry.find(token) {
      let owner = registry[registry[other].device].udid
      throw ConsoleError.conflict(
        "\(row.place).token: expected a token that is nobody's, got one of \(owner)")
    }
  }

  private func isSame(_ row: SavedRow, _ registration: Registration) -> Bool {
    registration.install == row.install && registration.environment == row.environment
      && registry[registration.topic].hash == hash(row.app)
      && registration.context.map { registry[$0] } == row.context
  }

  private struct Credentials {
    var certificates: [SavedCertificate] = []
    var keys: [SavedKey] = []
  }

  /// What must be issued. One that is there for something else is not replaced: providers use it.
  private func missingCredentials() throws -> Credentials {
    var missing = Credentials()
    guard let issuer = context.credentials else { return missing }
    // A certificate that was revoked is made anew; the id of a revoked key is used up.
    let certificates = issuer.certificates().filter { !$0.isRevoked }.map(\.certificate)
    let keys = issuer.keys().map(\.key)
    for (index, app) in state.apps.enumerated() {
      guard let wanted = app.certificate else { continue }
      let present = certificates.first { $0.topic == wanted.topic }
      try Self.check("apps[\(index)].certificate", present == nil || present == wanted)
      if present == nil { missing.certificates.append(wanted) }
    }
    for (index, wanted) in state.keys.enumerated() {
      let present = keys.first { $0.keyId == wanted.keyId }
      try Self.check("keys[\(index)]", present == nil || present == wanted)
      if present == nil { missing.keys.append(wanted) }
    }
    return missing
  }

  private static func check(_ place: String, _ isFine: Bool) throws {
    guard isFine else {
      throw ConsoleError.conflict(
        "\(place): one of this name is in the certs folder already, for other topics, environments or team; "
          + "remove its files there to have it issued anew")
    }
  }

  private func issue(_ credentials: Credentials) throws {
    do {
      for certificate in credentials.certificates { try context.credentials?.issue(certificate) }
      for key in credentials.keys { try context.credentials?.issue(key) }
    } catch {
      throw ConsoleError.conflict("issuing certificates and keys: \(error)")
    }
  }

  private func checkFaults() throws {
    guard !state.faults.isEmpty else { return }
    guard let engine = context.faults else {
      throw ConsoleError.conflict("faults: they are not part of this run")
    }
    let names = Set(engine.rules.map(\.name)).union(state.faults.map(\.name))
    guard names.count <= FaultEngine.ruleLimit else {
      throw ConsoleError.conflict(
        "faults: expected at most \(FaultEngine.ruleLimit) rules, got \(names.count)")
    }
  }

  // MARK: Changes

  private func importDevices(_ tokens: [[DeviceToken]], _ now: Timestamp) throws {
    var rows: [DeviceToken: RegistrationID] = [:]
    var messages: [(row: RegistrationID, message: SavedMessage)] = []
    // Of several nodes each takes its own.
    for (device, tokens) in zip(state.devices, tokens) where broker.owns(device.udid) {
      let index = try importDevice(device, now)
      var kept: Set<RegistrationID> = []
      for (row, token) in zip(device.rows, tokens) {
        let rowIndex = try importRow(row, token, of: index, now)
        rows[token] = rowIndex
        kept.insert(rowIndex)
        if let message = row.message { messages.append((rowIndex, message)) }
      }
      broker.abandonOthers(index, keeping: kept, now: now)
    }
    // In the order in which they came: that is the order in which a device gets them.
    for (row, message) in messages.sorted(by: {
      ($0.message.receivedAt ?? now) < ($1.message.receivedAt ?? now)
    }) { importMessage(message, row, now) }
    importFeedback(rows)
  }

  private func importDevice(_ device: SavedDevice, _ now: Timestamp) throws -> DeviceID {
    let index = broker.importDevice(
      device.udid, identity: device.identity, keyFingerprint: device.keyFingerprint,
      firstSeenAt: device.firstSeenAt, lastSeenAt: device.lastSeenAt, now: now)
    guard let index else { throw ConsoleError.full("devices", limit: Registry.rowLimit) }
    return index
  }

  private func importRow(
    _ row: SavedRow, _ token: DeviceToken, of device: DeviceID, _ now: Timestamp
  ) throws -> RegistrationID {
    let topic =
      switch row.app {
      case .named(let name): registry.topic(named: name)
      case .hashed(let hash): registry.topic(hashed: hash)
      }
    guard let topic else { throw ConsoleError.full("topics", limit: Registry.topicLimit) }
    var told = ImportedRegistration(
      token: token, device: device, topic: topic, install: row.install, environment: row.environment)
    told.context = row.context
    told.chosen = row.isChosen || row.token?.plain == nil ? row.token : nil
    told.isAbandoned = row.state != .installed
    told.issuedAt = row.issuedAt
    told.goneAt = row.state == .gone ? row.goneAt ?? now : nil
    guard let index = broker.importRegistration(told, now: now) else {
      guard told.chosen == nil || registry.chosenCount < broker.registry.chosenLimit else {
        throw ConsoleError.full("chosen tokens", limit: broker.registry.chosenLimit)
      }
      throw ConsoleError.full("tokens", limit: Registry.rowLimit)
    }
    return index
  }

  private func importMessage(_ message: SavedMessage, _ row: RegistrationID, _ now: Timestamp) {
    if let kept = broker.keptMessage(row), message.isSame(as: SavedMessage(kept)) { return }
    let registration = registry[row]
    let receivedAt = message.receivedAt ?? now
    let latest = receivedAt.adding(nanoseconds: Limits.defaultStorageSeconds * 1_000_000_000)
    let asked = message.expiration.map { Timestamp(seconds: Int64($0)) } ?? latest
    registry.bytes(of: row).withUnsafeBytes { token in
      message.payload.withUnsafeBytes { payload in
        var submission = Submission(
          interface: .console, topic: registration.topic, environment: registration.environment, token: token,
          payload: payload)
        (submission.priority, submission.pushType) = (message.priority ?? .immediate, message.pushType)
        submission.saysPriority = message.priority != nil
        (submission.messageID, submission.expiration) = (message.apnsId, message.expiration)
        submission.detail = NotificationDetail(explanation: "kept in a saved state that was imported")
        Array((message.collapseId ?? "").utf8).withUnsafeBytes { collapseId in
          submission.collapseId = collapseId
          broker.importMessage(
            submission, row: row, receivedAt: receivedAt, expiresAt: message.expiresAt ?? min(asked, latest),
            now: now)
        }
      }
    }
  }

  private func importFeedback(_ rows: [DeviceToken: RegistrationID]) {
    guard let tokens = state.feedback else { return }
    broker.importFeedback(
      tokens.map(registry.name(of:)).compactMap { rows[$0] ?? registry.find($0) }, ofRows: Set(rows.values))
  }

  private func importChannel(_ channel: SavedChannel, _ now: Timestamp) throws {
    guard let topic = registry.topic(named: channel.topic) else { return }
    let key = ChannelTable.Key(topic: topic, environment: channel.environment, id: channel.id)
    if broker.channels.storesNewest(key) != channel.storesNewest {
      _ = broker.channels.delete(key)
      broker.channels.create(key, storesNewest: channel.storesNewest)
    }
    // First who listens: a broadcast goes to those who have not seen it.
    for subscriber in channel.subscribers where broker.owns(subscriber.udid) {
      try importSubscriber(subscriber, key, now)
    }
    if let message = channel.message, broker.owns(channel: key.id) { importBroadcast(message, key, now) }
  }

  private func importSubscriber(
    _ subscriber: SavedSubscriber, _ key: ChannelTable.Key, _ now: Timestamp
  ) throws {
    guard let device = registry.device(subscriber.udid, now: now) else {
      throw ConsoleError.full("devices", limit: Registry.rowLimit)
    }
    let seenUntil = subscriber.seenUntil ?? Timestamp(nanoseconds: .min)
    guard broker.importSubscription(device, key, seenUntil: seenUntil, now: now) else {
      throw ConsoleError.conflict("there are too many channels or subscriptions")
    }
  }

  /// How long a broadcast is kept at most, in seconds (`Documentation/provider-api.md#channel-management`).
  private static let broadcastSeconds: Int64 = 8 * 3600

  private func importBroadcast(_ message: SavedMessage, _ key: ChannelTable.Key, _ now: Timestamp) {
    if let kept = broker.channels.newest(key).map(SavedMessage.init) {
      // One that is kept always has an expiration, a person's document need not.
      var told = message
      told.expiration = message.expiration ?? kept.expiration
      if told.isSame(as: kept) { return }
    }
    let sentAt = message.receivedAt ?? now
    let latest = sentAt.adding(nanoseconds: Self.broadcastSeconds * 1_000_000_000)
    let asked = message.expiration.map { Timestamp(seconds: Int64($0)) } ?? latest
    message.payload.withUnsafeBytes { payload in
      var submission = Submission(
        interface: .console, topic: key.topic, environment: key.environment,
        token: .init(start: nil, count: 0), payload: payload)
      (submission.priority, submission.pushType) = (message.priority ?? .immediate, .liveactivity)
      submission.expiration = message.expiration ?? UInt32(clamping: latest.seconds)
      submission.detail = NotificationDetail(explanation: "kept in a saved state that was imported")
      broker.importBroadcast(
        submission, to: key, sentAt: sentAt, expiresAt: message.expiresAt ?? min(asked, latest), now: now)
    }
  }
}

extension SavedMessage {
  /// Times in a document have milliseconds, those in the broker nanoseconds.
  fileprivate func isSame(as other: SavedMessage) -> Bool {
    payload == other.payload && (priority ?? .immediate) == (other.priority ?? .immediate)
      && pushType == other.pushType
      && expiration == other.expiration && apnsId == other.apnsId
      && (receivedAt == nil || receivedAt?.milliseconds == other.receivedAt?.milliseconds)
      && (expiresAt == nil || expiresAt?.milliseconds == other.expiresAt?.milliseconds)
  }
}
