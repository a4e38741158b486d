import Broker
import PushModel

/// What stands in a table of its own, one row each. The row id is the entry's id.
protocol StoredEntry {
  static var table: String { get }
  /// Columns of a row with its check, as a count.
  static var columnCount: Int { get }
  /// The entry that the broker has under an id; nil once it is gone.
  static func find(_ id: Int64, in broker: Broker) -> Self?
  /// The entry in a row as it was written; nil if it is another one.
  init?(_ row: Statement)
  /// Binds all columns but the check.
  func bind(to row: Statement)
  /// Gives it back to a broker that has its topics; false if that has no place for it.
  func restore(to broker: Broker) -> Bool
}

/// Entries on disk.
struct EntryTable<Entry: StoredEntry> {
  private let path: String
  private let write, remove, read: Statement

  init(_ database: Database) throws(StoreError) {
    path = database.path
    let values = Array(repeating: "?", count: Entry.columnCount).joined(separator: ", ")
    write = try Statement(
      database, "INSERT OR REPLACE INTO \(Entry.table) VALUES (\(values))", isChecked: true)
    remove = try Statement(database, "DELETE FROM \(Entry.table) WHERE id = ?")
    read = try Statement(database, "SELECT * FROM \(Entry.table) ORDER BY id", isChecked: true)
  }

  /// Writes the entries that changed. Inside a transaction.
  func write(_ ids: [Int64], of broker: Broker) throws(StoreError) {
    for id in ids {
      if let entry = Entry.find(id, in: broker) {
        entry.bind(to: write)
        try write.run()
      } else {
        remove.bind(1, id)
        try remove.run()
      }
    }
  }

  /// Gives a broker that has its topics all entries in order.
  func load(into broker: Broker) throws(StoreError) {
    while try read.step() {
      guard let entry = Entry(read), entry.restore(to: broker) else {
        throw StoreError(
          code: .damaged,
          sentence:
            "the store \(path) is damaged: \(Entry.table) \(read.integer(0)) is not as it was written")
      }
    }
  }
}

/// Feedback on tokens of another service.
extension ForeignFeedback.Entry: StoredEntry {
  static var table: String { "foreign_feedback" }
  static var columnCount: Int { 6 }

  static func find(_ id: Int64, in broker: Broker) -> Self? { broker.feedback.foreign[id] }

  init?(_ row: Statement) {
    guard let topic = TopicID(row, 2), let environment = Environment(row, 3) else {
      return nil
    }
    self.init(
      id: row.integer(0), token: Array(row.bytes(1)), topic: topic, environment: environment,
      goneAt: Timestamp(nanoseconds: row.integer(4)))
  }

  func bind(to row: Statement) {
    row.bind(1, id)
    token.withUnsafeBytes { row.bind(2, $0) }
    row.bind(3, topic)
    row.bind(4, Int64(environment.rawValue))
    row.bind(5, goneAt.nanoseconds)
  }

  func restore(to broker: Broker) -> Bool { broker.feedback.restore(self) }
}

/// Notifications that wait to be forwarded.
extension PendingForwards.Entry: StoredEntry {
  static var table: String { "pending_forward" }
  static var columnCount: Int { 7 }

  static func find(_ id: Int64, in broker: Broker) -> Self? { broker.pendingForwards[id] }

  init?(_ row: Statement) {
    guard let environment = Environment(row, 3), let messageID = MessageID(row.bytes(4)),
      Topic(row.text(2)) != nil
    else { return nil }
    self.init(
      id: row.integer(0), frame: Array(row.bytes(1)), topic: row.text(2), environment: environment,
      messageID: messageID, receivedAt: Timestamp(nanoseconds: row.integer(5)))
  }

  func bind(to row: Statement) {
    row.bind(1, id)
    frame.withUnsafeBytes { row.bind(2, $0) }
    row.bind(3, topic)
    row.bind(4, Int64(environment.rawValue))
    row.bind(5, messageID.description)
    row.bind(6, receivedAt.nanoseconds)
  }

  func restore(to broker: Broker) -> Bool { broker.pendingForwards.restore(self) }
}

extension Environment {
  fileprivate init?(_ row: Statement, _ column: Int32) {
    guard let value = UInt8(exactly: row.integer(column)) else { return nil }
    self.init(rawValue: value)
  }
}
