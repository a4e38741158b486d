import Basics
import PushModel

/// The broadcast channels of all apps, and which devices listen to them
/// (`Documentation/provider-api.md#channels-and-broadcast`, `Documentation/device-protocol.md#channels`).
///
/// A channel that stores keeps its newest broadcast itself. A subscription remembers how far its device got, so that a
/// device that comes back gets what it missed whether or not it says again what it listens to.
public final class ChannelTable {
  /// Names a channel: an id means something only for its app and environment.
  public struct Key: Hashable, Sendable {
    public var topic: TopicID
    public var environment: Environment
    public var id: [UInt8]

    public init(topic: TopicID, environment: Environment, id: [UInt8]) {
      (self.topic, self.environment, self.id) = (topic, environment, id)
    }

    var app: App { App(topic: topic, environment: environment) }
  }

  /// A broadcast as devices get it.
  public struct Broadcast: Sendable {
    public var id: UInt64
    public var payload: [UInt8]
    public var priority: Priority
    public var sentAt: Timestamp
    public var expiresAt: Timestamp
    /// As the device is told, UNIX seconds.
    public var expiry: UInt32

    public init(
      id: UInt64, payload: [UInt8], priority: Priority, sentAt: Timestamp, expiresAt: Timestamp,
      expiry: UInt32
    ) {
      (self.id, self.payload, self.priority) = (id, payload, priority)
      (self.sentAt, self.expiresAt, self.expiry) = (sentAt, expiresAt, expiry)
    }

    init(_ submission: Submission, id: UInt64, sentAt: Timestamp, expiresAt: Timestamp) {
      self.init(
        id: id, payload: Array(submission.plain.payload), priority: submission.plain.priority, sentAt: sentAt,
        expiresAt: expiresAt, expiry: submission.plain.expiration ?? 0)
    }

    public static let form = RowForm<Broadcast>([
      RowField(1, "broadcast", .u64, \.id), RowField(2, "payload", .bytes, \.payload),
      RowField(3, "priority", .word("a priority"), \.priority), RowField(4, "sentAt", .time, \.sentAt),
      RowField(5, "expiresAt", .time, \.expiresAt), RowField(6, "expiry", .u32, \.expiry),
    ])

    /// What a row is read into.
    public static let blank = Broadcast(
      id: 0, payload: [], priority: .immediate, sentAt: .never, expiresAt: .never, expiry: 0)
  }

  struct App: Hashable {
    var topic: TopicID
    var environment: Environment
  }

  struct Channel {
    var key: Key
    var storesNewest: Bool
    var newest: Broadcast?
    /// Who is connected and listens.
    var listeners = ListenerList()
    /// All devices that listen, also those that are offline.
    var subscribers: Set<DeviceID> = []
  }

  /// Most channels that one device may listen to in an environment, as a count.
  public static let channelsPerSession = 1000
  /// Most channels of all apps together, as a count: whoever may push to any topic could otherwise fill the memory with
  /// channels of apps that it invents, at a stored payload each.
  public static let limit = 100_000
  /// Most subscriptions of all devices together, as a count, so that devices can't fill the memory either. Variable so that a test can
  /// have fewer.
  var subscriptionLimit = 4_000_000

  /// By row: the number under which the store keeps a channel. Not used twice while this process runs.
  private(set) var channels: [Int64: Channel] = [:]
  private var rows: [Key: Int64] = [:]
  private var rowsOfApp: [App: Set<Int64>] = [:]
  private var nextRow: Int64 = 1
  /// How far each device got in each channel that it listens to, as of the end of its last connection.
  private(set) var subscriptions: [DeviceID: [Int64: Timestamp]] = [:]
  /// Subscriptions of all devices, as a count.
  public private(set) var subscriptionCount = 0
  /// What the store has not seen; a row may be named more than once.
  private var changes = BrokerChanges()
  /// Broadcasts are told with what changes: others send them to devices too.
  private let tellsBroadcasts: Bool

  /// Channels that were deleted whose listeners do not know it yet, oldest first.
  private var departed = FIFO<DepartedChannel>()

  /// Whose topics its channels are of; nil for a table alone.
  private let registry: Registry?

  public init(_ registry: Registry? = nil) {
    self.registry = registry
    tellsBroadcasts = registry?.zones.isShared == true
  }

  // MARK: Looking

  /// Number of channels of an app in an environment.
  public func count(_ topic: TopicID, _ environment: Environment) -> Int {
    rowsOfApp[App(topic: topic, environment: environment)]?.count ?? 0
  }

  /// Number of channels of all apps.
  public var count: Int { channels.count }

  /// Every channel, in a stable order.
  public var keys: [Key] {
    rows.keys.sorted { left, right in
      (left.topic, left.environment.rawValue) == (right.topic, right.environment.rawValue)
        ? left.id.lexicographicallyPrecedes(right.id)
        : (left.topic, left.environment.rawValue) < (right.topic, right.environment.rawValue)
    }
  }

  /// Rows of all channels, in the order in which they were made.
  public var rowNumbers: [Int64] { channels.keys.sorted() }

  /// Rows of the channels that a device listens to.
  public func rows(of device: DeviceID) -> [Int64] { (subscriptions[device] ?? [:]).keys.sorted() }

  /// The channel of a row; nil once it was deleted.
  public func key(_ row: Int64) -> Key? { channels[row]?.key }

  /// How many sessions listen to a channel now.
  public func listenerCount(_ key: Key) -> Int { self[key]?.listeners.count ?? 0 }

  /// The broadcast that a channel keeps.
  public func newest(_ key: Key) -> Broadcast? { self[key]?.newest }

  /// Ids of the channels of an app in an environment, in a stable order.
  public func ids(_ topic: TopicID, _ environment: Environment) -> [[UInt8]] {
    (rowsOfApp[App(topic: topic, environment: environment)] ?? []).compactMap { channels[$0]?.key.id }
      .sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Whether a channel keeps its newest broadcast; nil if there is no such channel.
  public func storesNewest(_ key: Key) -> Bool? { self[key]?.storesNewest }

  func row(_ key: Key) -> Int64? { rows[key] }

  private subscript(_ key: Key) -> Channel? { rows[key].flatMap { channels[$0] } }

  // MARK: Channels

  /// Adds a channel; false if there are too many, or there is one with this key.
  @discardableResult
  public func create(_ key: Key, storesNewest: Bool) -> Bool {
    let told = StoredChannel(row: nextRow, key: key, storesNewest: storesNewest, newest: nil)
    return admit(told, because: .issued) != nil
  }

  /// The one way in: the row of a channel that is made, or, as another process says it, changed to be as told. nil when there are too
  /// many, or there is one with its key or its row.
  func admit(_ told: StoredChannel, because cause: RowCause) -> Int64? {
    if cause == .replicated, let known = rows[told.key] {
      channels[known]?.storesNewest = told.storesNewest
      channels[known]?.newest = told.newest
      return known
    }
    let row = cause == .stored ? told.row : nextRow
    guard row > 0, row <= CountedNumber.limit, cause == .stored || channels.count < Self.limit,
      rows[told.key] == nil, channels[row] == nil
    else { return nil }
    channels[row] = Channel(key: told.key, storesNewest: told.storesNewest, newest: told.newest)
    rows[told.key] = row
    rowsOfApp[told.key.app, default: []].insert(row)
    registry?.retain(told.key.topic)
    nextRow = max(nextRow, row + 1)
    if cause != .stored { changes.channels.append(row) }
    return row
  }

  /// Removes a channel for good; false if there is no such channel. Who listens to it follows bit by bit (`goOnWithDepartures`).
  public func delete(_ key: Key) -> Bool {
    guard let row = rows.removeValue(forKey: key), let channel = channels.removeValue(forKey: row) else {
      return false
    }
    registry?.release(key.topic)
    if channel.listeners.count > 0 || !channel.subscribers.isEmpty { departed.append(.init(row, channel)) }
    rowsOfApp[key.app]?.remove(row)
    if rowsOfApp[key.app]?.isEmpty == true { rowsOfApp[key.app] = nil }
    changes.channels.append(row)
    changes.deletedChannels.append(key)
    return true
  }

  /// Removes up to `count` channels, whichever they are. Answers whether there are more.
  public func deleteSome(_ count: Int) -> Bool {
    for key in Array(rows.keys.prefix(count)) { _ = delete(key) }
    return !rows.isEmpty
  }

  /// Keeps a broadcast in place of the one before.
  func keep(_ broadcast: Broadcast?, in row: Int64) {
    guard channels[row]?.storesNewest == true else { return }
    channels[row]?.newest = broadcast
    changes.channels.append(row)
  }

  /// A broadcast goes out.
  func noteSent(_ broadcast: Broadcast, in row: Int64) {
    if tellsBroadcasts { changes.broadcasts.append((row, broadcast)) }
  }

  /// Drops every broadcast that a channel keeps.
  public func dropBroadcasts() {
    for (row, channel) in channels where channel.newest != nil { keep(nil, in: row) }
  }

  // MARK: Subscriptions

  /// A device listens from now on; false if there are too many subscriptions.
  func subscribe(_ device: DeviceID, _ row: Int64, seenUntil: Timestamp) -> Bool {
    let known = subscriptions[device]?[row]
    if known == seenUntil { return true }
    guard channels[row] != nil, known != nil || subscriptionCount < subscriptionLimit else {
      return false
    }
    if known == nil { subscriptionCount += 1 }
    subscriptions[device, default: [:]][row] = seenUntil
    channels[row]?.subscribers.insert(device)
    changes.subscriptions.append(.init(device: device, channel: row))
    return true
  }

  func unsubscribe(_ device: DeviceID, _ row: Int64) {
    guard forget(device, row) else { return }
    channels[row]?.subscribers.remove(device)
    changes.subscriptions.append(.init(device: device, channel: row))
  }

  @discardableResult
  private func forget(_ device: DeviceID, _ row: Int64) -> Bool {
    guard subscriptions[device]?.removeValue(forKey: row) != nil else { return false }
    if subscriptions[device]?.isEmpty == true { subscriptions[device] = nil }
    subscriptionCount -= 1
    return true
  }

  /// Forgets who listens; the store is told otherwise.
  func forgetSubscriptions() {
    for row in channels.keys {
      channels[row]?.listeners = ListenerList()
      channels[row]?.subscribers = []
    }
    (subscriptions, subscriptionCount, changes.subscriptions) = ([:], 0, [])
    departed = FIFO()
  }

  /// Answers the place of the session among those who listen.
  func addListener(_ session: DeviceSession, _ row: Int64) -> Int {
    channels[row]?.listeners.add(session) ?? 0
  }

  func removeListener(at place: Int, _ row: Int64) { channels[row]?.listeners.remove(at: place) }

  // MARK: Those who listened to what was deleted

  /// Most who are told apart from deleted channels in a turn, as a count: each costs about a microsecond, and a row of the store.
  public static let departuresPerTurn = 256

  /// A session that may listen to no more is told at once of those that were deleted.
  func forgetDeparted(_ session: DeviceSession) {
    if !departed.isEmpty { session.joined = session.joined.filter { channels[$0.key] != nil } }
  }

  /// To be called once a turn, before it is committed. Answers whether there is more to do.
  func goOnWithDepartures() -> Bool {
    var left = Self.departuresPerTurn
    while left > 0, !departed.isEmpty {
      left -= 1
      switch departed[0].next() {
      case .listener(let session, let row): session.joined[row] = nil
      case .subscriber(let device, let row): unsubscribe(device, row)
      case nil: _ = departed.removeFirst()
      }
    }
    return !departed.isEmpty
  }

  // MARK: The store

  /// A channel that is to be written; nil if it is to be removed. Its subscriptions change by themselves.
  public func stored(_ row: Int64) -> StoredChannel? {
    channels[row].map {
      StoredChannel(row: row, key: $0.key, storesNewest: $0.storesNewest, newest: $0.newest)
    }
  }

  /// How far a subscription that is to be written got; nil if it is to be removed.
  public func stored(_ subscription: StoredSubscription) -> Timestamp? {
    subscriptions[subscription.device]?[subscription.channel]
  }

  /// Adds what changed since the last call.
  func takeChanges(into all: inout BrokerChanges) {
    (all.channels, all.subscriptions) = (changes.channels, changes.subscriptions)
    (all.deletedChannels, all.broadcasts) = (changes.deletedChannels, changes.broadcasts)
    changes = BrokerChanges()
  }

  func restore(_ subscription: StoredSubscription, seenUntil: Timestamp) -> Bool {
    let isNew = subscriptions[subscription.device]?[subscription.channel] == nil
    guard isNew, subscribe(subscription.device, subscription.channel, seenUntil: seenUntil) else {
      return false
    }
    changes.subscriptions = []
    return true
  }
}

/// A channel that was deleted, with those who listened: they are told apart from it bit by bit. Until then they have the number of
/// its row, which no other channel gets. They count among the subscriptions until then, whose limit is that of channels on their way, too.
private struct DepartedChannel {
  private let row: Int64
  private let listeners: ListenerList
  private var place = 0
  private var subscribers: Set<DeviceID>.Iterator

  init(_ row: Int64, _ channel: ChannelTable.Channel) {
    (self.row, listeners, subscribers) = (row, channel.listeners, channel.subscribers.makeIterator())
  }

  /// The next who does not know yet; nil when all do.
  mutating func next() -> Step? {
    while place < listeners.end {
      place += 1
      if let session = listeners[place - 1] { return .listener(session, row) }
    }
    return subscribers.next().map { .subscriber($0, row) }
  }

  enum Step {
    case listener(DeviceSession, Int64)
    case subscriber(DeviceID, Int64)
  }
}

/// Who is connected and listens to a channel. Coming and leaving cost the same however many there are: who leaves makes a
/// gap, which the next to come fills.
public struct ListenerList {
  private var places: [DeviceSession?] = []
  private var gaps: [Int] = []

  public init() {}

  public var count: Int { places.count - gaps.count }
  /// Behind the last place.
  public var end: Int { places.count }

  /// nil for a gap, and beyond the end.
  public subscript(place: Int) -> DeviceSession? { places.indices.contains(place) ? places[place] : nil }

  /// Answers the place that it has until it leaves.
  public mutating func add(_ session: DeviceSession) -> Int {
    guard let gap = gaps.popLast() else {
      places.append(session)
      return places.count - 1
    }
    places[gap] = session
    return gap
  }

  public mutating func remove(at place: Int) {
    guard self[place] != nil else { return }
    places[place] = nil
    gaps.append(place)
    if count == 0 { self = ListenerList() }
  }
}
