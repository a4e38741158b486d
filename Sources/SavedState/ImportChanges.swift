import Basics
import Broker
import Console
import ConsoleAnswers
import Faults
import PushModel

/// Makes what a saved state says so, bit by bit. What was checked may have changed since, as devices and people go on: a row that
/// does not fit any more ends it half-way.
struct ImportChanges {
  private enum Stage { case clock, apps, devices, sorting, messages, feedback, channels, faults, end }

  private let live: LiveState
  private let tokens: [[DeviceToken]]
  private var stage = Stage.clock
  /// Which app, device, message, channel or fault is next, and which row or subscriber of it.
  private var (index, inner) = (0, 0)
  /// When it began: meant by messages that do not say when they came.
  private var now: Timestamp
  /// The device that is being imported, with its rows so far and those that were here.
  private var device: (id: DeviceID, rows: Set<RegistrationID>, known: KnownInstalls)?
  private var rows: [DeviceToken: RegistrationID] = [:]
  private var told: Set<RegistrationID> = []
  private var feedback = FeedbackImport(rows: [])
  private var messages: [(row: RegistrationID, message: SavedNotification)] = []
  private var sort: SlicedSort<(row: RegistrationID, message: SavedNotification)>?

  private var broker: Broker { live.broker }
  private var registry: Registry { live.broker.registry }

  /// `tokens` are those of all rows, device by device.
  init(_ live: LiveState, tokens: [[DeviceToken]]) {
    (self.live, self.tokens, now) = (live, tokens, live.clock.now())
  }

  /// Does a little; whether there is more to do. Devices are let go of once they are done.
  mutating func step(_ state: inout SavedState, _ slice: inout Slice) throws -> Bool {
    slice.spend(Slice.row)
    switch stage {
    // First the clock: it says what has expired.
    case .clock: setClock(state.clock)
    case .apps:
      if let index = next(state.apps.count, .devices) { _ = registry.topic(named: state.apps[index].topic) }
    case .devices: try stepDevice(&state, &slice)
    case .sorting: if sort?.step(&slice) != true { begin(.messages) }
    case .messages: stepNotification()
    case .feedback:
      if let tokens = state.feedback, feedback.step(tokens, rows, broker) { break }
      begin(.channels)
    case .channels: try stepChannel(state.channels, &slice)
    case .faults:
      guard let rule = next(state.faults.count, .end).map({ state.faults[$0] }) else { break }
      if live.faults[rule.name]?.document.text != rule.document.text { live.faults.set(rule) }
    case .end: return false
    }
    return true
  }

  private mutating func begin(_ stage: Stage) { (self.stage, index, inner) = (stage, 0, 0) }

  /// The next of so many; after the last nil, and another stage begins.
  private mutating func next(_ count: Int, _ behind: Stage) -> Int? {
    guard index < count else {
      begin(behind)
      return nil
    }
    index += 1
    return index - 1
  }

  private mutating func setClock(_ saved: SavedClock?) {
    saved?.apply(to: live.clock)
    now = live.clock.now()
    begin(.apps)
  }

  // MARK: Devices

  private mutating func stepDevice(_ state: inout SavedState, _ slice: inout Slice) throws {
    guard index < state.devices.count else { return beginNotifications() }
    // Not bound to a name, which would have the set of rows copied for each.
    guard let owner = device?.id else { return try beginDevice(state.devices[index], &slice) }
    guard inner < state.devices[index].rows.count else { return endDevice(owner, &state, &slice) }
    let (row, token) = (state.devices[index].rows[inner], tokens[index][inner])
    try device?.known.check(token, row, registry)
    let id = try importRow(row, token, of: owner)
    // Those whose feedback is told are looked for in the queue.
    slice.spend(broker.feedback.count / Slice.bytesSearched)
    rows[token] = id
    told.insert(id)
    device?.rows.insert(id)
    if let message = row.message { messages.append((id, message)) }
    inner += 1
  }

  /// Of several nodes each takes its own.
  private mutating func beginDevice(_ device: SavedDevice, _ slice: inout Slice) throws {
    guard broker.zones.leads(device.udid) else {
      index += 1
      return
    }
    let known = KnownInstalls(of: device.udid, registry)
    slice.spend(known.count)
    guard let id = broker.rows.admit(device.told, now: now) else {
      throw ConsoleError.full("devices", limit: Registry.rowLimit)
    }
    self.device = (id, [], known)
  }

  /// What it has besides is taken off it.
  private mutating func endDevice(_ id: DeviceID, _ state: inout SavedState, _ slice: inout Slice) {
    slice.spend(device?.known.count ?? 0)
    broker.apps.abandonOthers(id, keeping: device?.rows ?? [], now: now)
    state.devices[index].rows = []
    (device, inner) = (nil, 0)
    index += 1
  }

  // MARK: Messages and channels

  /// In the order in which they came: that is the order in which a device gets them.
  private mutating func beginNotifications() {
    let now = now
    sort = SlicedSort(messages) { ($0.message.receivedAt ?? now) < ($1.message.receivedAt ?? now) }
    messages = []
    begin(.sorting)
  }

  private mutating func stepNotification() {
    guard let sort, index < sort.elements.count else {
      (self.sort, feedback) = (nil, FeedbackImport(rows: told))
      return begin(.feedback)
    }
    let (row, message) = sort.elements[index]
    importNotification(message, row)
    index += 1
  }

  /// First who listens: a broadcast goes to those who have not seen it.
  private mutating func stepChannel(_ channels: [SavedChannel], _ slice: inout Slice) throws {
    guard index < channels.count else { return begin(.faults) }
    let channel = channels[index]
    guard let key = importChannel(channel) else { return nextChannel() }
    guard inner < channel.subscribers.count else {
      if let message = channel.message { importBroadcast(message, key) }
      return nextChannel()
    }
    try importSubscriber(channel.subscribers[inner], key)
    inner += 1
  }

  private mutating func nextChannel() { (index, inner) = (index + 1, 0) }
}

/// Single entries, put where they belong. Doing it twice is the same as once.
extension ImportChanges {
  private func importRow(_ row: SavedRow, _ token: DeviceToken, of device: DeviceID) throws -> RegistrationID
  {
    guard let topic = registry.topic(row.topic) else {
      throw ConsoleError.full("topics", limit: Registry.topicLimit)
    }
    var told = row.told
    told.token = token
    guard let index = broker.rows.admit(told, of: device, topic, because: .imported, now: now) else {
      guard told.custom == nil || registry.customCount < broker.registry.customLimit else {
        throw ConsoleError.full("custom device tokens", limit: broker.registry.customLimit)
      }
      throw ConsoleError.full("tokens", limit: Registry.rowLimit)
    }
    return index
  }

  private func importNotification(_ message: SavedNotification, _ row: RegistrationID) {
    // The app may have gone since its row was imported.
    guard registry[row].isActive else { return }
    if let kept = broker.deliveries.stored(row), message.isSame(as: SavedNotification(kept)) { return }
    let registration = registry[row]
    let receivedAt = message.receivedAt ?? now
    let latest = receivedAt.adding(nanoseconds: Limits.defaultStorageSeconds * 1_000_000_000)
    let asked = message.expiration.map { Timestamp(seconds: Int64($0)) } ?? latest
    let token = registry.bytes(of: row)
    let payload = message.payload
    var submission = Submission(
      interface: .console, topic: registration.topic, environment: registration.environment,
      token: token.span,
      payload: payload.span)
    (submission.plain.priority, submission.plain.pushType) = (
      message.priority ?? .immediate, message.pushType
    )
    submission.plain.saysPriority = message.priority != nil
    (submission.plain.apnsID, submission.plain.expiration) = (message.apnsId, message.expiration)
    submission.detail = NotificationDetail(explanation: "stored in a saved state that was imported")
    let collapseId = Array((message.collapseId ?? "").utf8)
    submission.plain.collapseId = collapseId.span
    broker.deliveries.importNotification(
      submission, row: row, receivedAt: receivedAt, expiresAt: message.expiresAt ?? min(asked, latest),
      now: now)
  }

  /// The channel, made or changed to be as told; nil when there are too many topics.
  private func importChannel(_ channel: SavedChannel) -> ChannelTable.Key? {
    guard let topic = registry.topic(named: channel.topic) else { return nil }
    let key = ChannelTable.Key(topic: topic, environment: channel.environment, id: channel.id)
    if broker.channels.storesNewest(key) != channel.storesNewest {
      _ = broker.channels.delete(key)
      broker.channels.create(key, storesNewest: channel.storesNewest)
    }
    return key
  }

  /// Of several nodes each takes its own.
  private func importSubscriber(_ subscriber: SavedSubscriber, _ key: ChannelTable.Key) throws {
    guard broker.zones.leads(subscriber.udid) else { return }
    guard let device = registry.device(subscriber.udid, now: now) else {
      throw ConsoleError.full("devices", limit: Registry.rowLimit)
    }
    let seenUntil = subscriber.seenUntil ?? Timestamp(nanoseconds: .min)
    guard broker.broadcasts.importSubscription(device, key, seenUntil: seenUntil, now: now) else {
      throw ConsoleError.conflict("there are too many channels or subscriptions")
    }
  }

  /// How long a broadcast is kept at most, in seconds (`Documentation/provider-api.md#channel-management`).
  private static let broadcastSeconds: Int64 = 8 * 3600

  private func importBroadcast(_ message: SavedNotification, _ key: ChannelTable.Key) {
    guard broker.zones.leads(channel: key.id) else { return }
    if let kept = broker.channels.newest(key).map(SavedNotification.init) {
      // One that is kept always has an expiration, a person's document need not.
      var told = message
      told.expiration = message.expiration ?? kept.expiration
      if told.isSame(as: kept) { return }
    }
    let sentAt = message.receivedAt ?? now
    let latest = sentAt.adding(nanoseconds: Self.broadcastSeconds * 1_000_000_000)
    let asked = message.expiration.map { Timestamp(seconds: Int64($0)) } ?? latest
    let payload = message.payload
    var submission = Submission(
      interface: .console, topic: key.topic, environment: key.environment, token: .none, payload: payload.span
    )
    (submission.plain.priority, submission.plain.pushType) = (message.priority ?? .immediate, .liveactivity)
    submission.plain.expiration = message.expiration ?? UInt32(clamping: latest.seconds)
    submission.detail = NotificationDetail(explanation: "stored in a saved state that was imported")
    broker.broadcasts.importBroadcast(
      submission, to: key, sentAt: sentAt, expiresAt: message.expiresAt ?? min(asked, latest), now: now)
  }
}

extension SavedNotification {
  /// Times in a document have milliseconds, those in the broker nanoseconds.
  fileprivate func isSame(as other: SavedNotification) -> Bool {
    payload == other.payload && (priority ?? .immediate) == (other.priority ?? .immediate)
      && pushType == other.pushType
      && expiration == other.expiration && apnsId == other.apnsId
      && (receivedAt == nil || receivedAt?.milliseconds == other.receivedAt?.milliseconds)
      && (expiresAt == nil || expiresAt?.milliseconds == other.expiresAt?.milliseconds)
  }
}

/// Makes the entries of the feedback service what a saved state says of them, bit by bit, in the order of the document. Entries of
/// rows that it does not tell of take their place before them.
struct FeedbackImport {
  private enum Stage { case finding, placing, settling }

  private var stage = Stage.finding
  private var index = 0
  /// Rows that the document tells of.
  private var told: Set<RegistrationID>
  /// Those of them that wait, in order, each once.
  private var entries: [RegistrationID] = []
  private var waiting: Set<RegistrationID> = []
  /// What waited before.
  private var taken: [RegistrationID] = []
  private var wasWaiting: Set<RegistrationID> = []

  /// `rows` are those of the document.
  init(rows: Set<RegistrationID>) { told = rows }

  /// Does a little; whether there is more to do. `rows` are those of the document by their tokens.
  mutating func step(_ tokens: [CustomToken], _ rows: [DeviceToken: RegistrationID], _ broker: Broker) -> Bool
  {
    switch stage {
    case .finding:
      if let token = next(tokens) { find(token, rows, broker) } else { take(broker) }
    case .placing:
      if let row = next(entries) { place(row, broker) } else { (stage, index) = (.settling, 0) }
    case .settling:
      guard let row = next(taken) else { return false }
      if !waiting.contains(row) { broker.feedback.settle(row) }
    }
    return true
  }

  private mutating func next<Element>(_ elements: [Element]) -> Element? {
    guard index < elements.count else { return nil }
    index += 1
    return elements[index - 1]
  }

  /// Of several nodes each takes its own.
  private mutating func find(_ token: CustomToken, _ rows: [DeviceToken: RegistrationID], _ broker: Broker) {
    let name = broker.registry.name(of: token)
    guard let row = rows[name] ?? broker.registry.find(name), broker.zones.leads(broker.registry[row].zone)
    else {
      return
    }
    told.insert(row)
    if waiting.insert(row).inserted { entries.append(row) }
  }

  private mutating func take(_ broker: Broker) {
    taken = broker.feedback.take(told)
    wasWaiting = Set(taken)
    (stage, index) = (.placing, 0)
  }

  /// It may have been reported gone meanwhile, and wait already.
  private func place(_ row: RegistrationID, _ broker: Broker) {
    if wasWaiting.contains(row) || !broker.registry[row].awaitsFeedback { broker.feedback.putBehind(row) }
  }
}
