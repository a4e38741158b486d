import Basics
import Broker
import Platform
import PushModel

/// Keeps the registry, the stored notifications, the channels and what is to be forwarded in one SQLite file, so that a stop at
/// any moment loses nothing that was accepted (`Sources/ARCHITECTURE.md#promises` 1).
///
/// Used from the loop's thread. Everything a turn changed is committed in one transaction before anything of it becomes
/// visible. After an error nothing more may be written: what is on disk is the state after the last commit.
public final class SQLiteStore: BrokerStore {
  /// The file.
  public let path: String
  let database: Database
  var notifications: NotificationLog
  let registry: RegistryTables
  let foreignFeedback: RowTable<ForeignFeedback.Entry>
  let pendingForwards: RowTable<PendingForwards.Entry>
  let channels: ChannelTables
  private let begin: Statement
  private let end: Statement
  private let rollback: Statement
  /// Something was committed since the last checkpoint.
  private var hasUncheckpointed = false
  /// Something was committed since `checkpointIfIdle` looked last.
  private var wasBusy = false

  /// Opens or creates the store; its folder is made for this user alone (0700). Throws `inUse` while another process has
  /// it, `notADatabase`, `newerVersion`, `notWritable` or `damaged`.
  public init(path: String) throws(StoreError) {
    self.path = path
    try StoreFolder.make(for: path)
    StoreFolder.makeFile(path)
    database = try Database(path: path)
    try Schema.prepare(database)
    try database.checkPages()
    begin = try Statement(database, "BEGIN IMMEDIATE")
    end = try Statement(database, "COMMIT")
    rollback = try Statement(database, "ROLLBACK")
    notifications = try NotificationLog(database)
    registry = try RegistryTables(database)
    foreignFeedback = try RowTable(
      database, "foreign_feedback", ForeignFeedback.Entry.columns, blank: .blank, number: \.id)
    pendingForwards = try RowTable(
      database, "pending_forward", PendingForwards.Entry.columns, blank: .blank, number: \.id)
    channels = try ChannelTables(database)
  }

  /// Fills a new broker. Call once, before the first turn.
  public func load(into broker: Broker) throws(StoreError) {
    try registry.load(into: broker)
    try foreignFeedback.forEach { broker.feedback.restore($1) }
    try notifications.load(into: broker, path: path)
    try pendingForwards.forEach { broker.pendingForwards.restore($1) }
    try channels.load(into: broker)
  }

  public var commitsLater: Bool { false }

  /// Writes the changes of a turn in one transaction, reading the rows from `broker`. When it returns, a killed process
  /// no longer loses them: `ended` is never called.
  @discardableResult
  public func commit(
    _ changes: BrokerChanges, of broker: Broker, ended: @escaping (Result<Void, any Error>) -> Void = { _ in }
  ) throws(StoreError) -> CommitProgress {
    guard !changes.isEmpty else { return .complete }
    try transaction { () throws(StoreError) in
      if changes.startsOver { try deleteDevices() }
      try registry.write(changes, of: broker.registry)
      try notifications.write(changes.notifications, of: broker)
      try foreignFeedback.write(changes.foreignFeedback) { broker.feedback.foreign[$0] }
      try pendingForwards.write(changes.pendingForwards) { broker.pendingForwards[$0] }
      try channels.write(changes, of: broker.channels)
    }
    (hasUncheckpointed, wasBusy) = (true, true)
    return .complete
  }

  private func deleteDevices() throws(StoreError) {
    try registry.removeAll()
    try foreignFeedback.removeAll()
    try channels.removeSubscriptions()
    try notifications.removeAll()
  }

  /// Writes the log back into the file if nothing was committed since the last call. That waits for the disk, so call
  /// this about once a second: busy turns then rarely have to.
  public func checkpointIfIdle() throws(StoreError) {
    defer { wasBusy = false }
    guard hasUncheckpointed, !wasBusy else { return }
    try database.checkpoint()
    hasUncheckpointed = false
  }

  /// Writes the log back, so that the next start has nothing to recover. The file is let go with this object.
  public func close() {
    // A store that can't do this is as complete as one whose process was killed.
    try? database.checkpoint()
    hasUncheckpointed = false
  }

  private func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    try begin.run()
    do {
      try body()
      try end.run()
    } catch {
      // The first error says more than one about the rollback.
      try? rollback.run()
      throw error
    }
  }
}

/// Feedback on tokens of another service.
extension ForeignFeedback.Entry {
  static let columns = [
    RowField<Self>(nil, "token", .bytes, \.token),
    RowField(nil, "topic", .topicRow, \.topic), RowField(nil, "environment", .environment, \.environment),
    RowField(nil, "goneAt", .time, \.goneAt),
  ]

  static let blank = ForeignFeedback.Entry(
    id: 0, token: [], topic: TopicID(0), environment: .sandbox, goneAt: .never)
}

/// Notifications that wait to be forwarded.
extension PendingForwards.Entry {
  static let columns = [
    RowField<Self>(nil, "frame", .bytes, \.frame),
    RowField(nil, "topic", .ofText("a topic", { Topic($0)?.name }, { $0 }), \.topic),
    RowField(nil, "environment", .environment, \.environment),
    RowField(nil, "apnsId", .apnsID, \.apnsID), RowField(nil, "receivedAt", .time, \.receivedAt),
  ]

  static let blank = PendingForwards.Entry(
    id: 0, frame: [], topic: "", environment: .sandbox, apnsID: APNSID(high: 0, low: 0),
    receivedAt: .never)
}
