import Broker
import PushModel

/// Feedback on tokens of another service on disk. A table's row id is the entry's id.
struct ForeignFeedbackTable {
  private let path: String
  private let write, remove, read: Statement

  init(_ database: Database) throws(StoreError) {
    path = database.path
    write = try Statement(
      database, "INSERT OR REPLACE INTO foreign_feedback VALUES (?, ?, ?, ?, ?, ?)", isChecked: true)
    remove = try Statement(database, "DELETE FROM foreign_feedback WHERE id = ?")
    read = try Statement(database, "SELECT * FROM foreign_feedback ORDER BY id", isChecked: true)
  }

  /// Writes the entries that changed. Inside a transaction.
  func write(_ ids: [Int64], of broker: Broker) throws(StoreError) {
    for id in ids {
      if let entry = broker.foreignFeedback[id] {
        try write(entry)
      } else {
        remove.bind(1, id)
        try remove.run()
      }
    }
  }

  private func write(_ entry: ForeignFeedback.Entry) throws(StoreError) {
    write.bind(1, entry.id)
    entry.token.withUnsafeBytes { write.bind(2, $0) }
    write.bind(3, Int64(entry.topic))
    write.bind(4, Int64(entry.environment.rawValue))
    write.bind(5, entry.goneAt.nanoseconds)
    try write.run()
  }

  /// Gives a broker that has its topics all entries in order.
  func load(into broker: Broker) throws(StoreError) {
    while try read.step() {
      guard let topic = Int32(exactly: read.integer(2)),
        let environment = UInt8(exactly: read.integer(3)).flatMap(Environment.init(rawValue:)),
        broker.restoreForeignFeedback(
          ForeignFeedback.Entry(
            id: read.integer(0), token: Array(read.bytes(1)), topic: topic, environment: environment,
            goneAt: Timestamp(nanoseconds: read.integer(4))))
      else {
        throw StoreError(
          code: .damaged,
          sentence:
            "the store \(path) is damaged: foreign_feedback \(read.integer(0)) is not as it was written"
        )
      }
    }
  }
}
