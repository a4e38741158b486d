import Broker
import PushModel

/// Notifications that wait to be forwarded on disk. A table's row id is the entry's id.
struct PendingForwardTable {
  private let path: String
  private let write, remove, read: Statement

  init(_ database: Database) throws(StoreError) {
    path = database.path
    write = try Statement(
      database, "INSERT OR REPLACE INTO pending_forward VALUES (?, ?, ?, ?, ?, ?, ?)", isChecked: true)
    remove = try Statement(database, "DELETE FROM pending_forward WHERE id = ?")
    read = try Statement(database, "SELECT * FROM pending_forward ORDER BY id", isChecked: true)
  }

  /// Writes the entries that changed. Inside a transaction.
  func write(_ ids: [Int64], of broker: Broker) throws(StoreError) {
    for id in ids {
      if let entry = broker.pendingForwards[id] {
        try write(entry)
      } else {
        remove.bind(1, id)
        try remove.run()
      }
    }
  }

  private func write(_ entry: PendingForwards.Entry) throws(StoreError) {
    write.bind(1, entry.id)
    entry.frame.withUnsafeBytes { write.bind(2, $0) }
    write.bind(3, entry.topic)
    write.bind(4, Int64(entry.environment.rawValue))
    write.bind(5, entry.messageID.description)
    write.bind(6, entry.receivedAt.nanoseconds)
    try write.run()
  }

  /// Gives the broker all entries in order.
  func load(into broker: Broker) throws(StoreError) {
    while try read.step() {
      guard let environment = UInt8(exactly: read.integer(3)).flatMap(Environment.init(rawValue:)),
        let messageID = MessageID(read.bytes(4)), Topic(read.text(2)) != nil,
        broker.pendingForwards.restore(
          PendingForwards.Entry(
            id: read.integer(0), frame: Array(read.bytes(1)), topic: read.text(2), environment: environment,
            messageID: messageID, receivedAt: Timestamp(nanoseconds: read.integer(5))))
      else {
        throw StoreError(
          code: .damaged,
          sentence:
            "the store \(path) is damaged: pending_forward \(read.integer(0)) is not as it was written")
      }
    }
  }
}
