import Basics

/// A table of numbered rows, whose other columns are fields of a form: those of their names. The last column is the row's check.
struct RowTable<Row> {
  let name: String
  private let path: String
  private let fields: [RowField<Row>]
  private let blank: Row
  private let number: WritableKeyPath<Row, Int64>?
  private let insert, delete, deleteAll, select: Statement

  /// Rows are read into `blank`, and their numbers to where they know them, if they do. With a second key, several rows have a number.
  init(
    _ database: Database, _ name: String, _ fields: [RowField<Row>], blank: Row,
    number: WritableKeyPath<Row, Int64>? = nil, keys: (String, second: String?) = ("id", nil)
  ) throws(StoreError) {
    (self.name, self.blank, self.number, path) = (name, blank, number, database.path)
    let keys = [keys.0] + (keys.second.map { [$0] } ?? [])
    select = try Statement(
      database, "SELECT * FROM \(name) ORDER BY \(keys.joined(separator: ", "))", isChecked: true)
    let columns = select.columnNames.dropLast()
    self.fields = columns.dropFirst().compactMap { column in fields.first { $0.name == column } }
    // The file says what its columns are called.
    let known = fields.count { !$0.name.isEmpty }
    guard columns.first == keys[0], self.fields.count == known, columns.count == known + 1 else {
      throw StoreError(
        code: .damaged, sentence: "the store \(path) is damaged: the table \(name) has other columns")
    }
    let values = Array(repeating: "?", count: columns.count + 1).joined(separator: ", ")
    insert = try Statement(database, "INSERT OR REPLACE INTO \(name) VALUES (\(values))", isChecked: true)
    let condition = keys.map { "\($0) = ?" }.joined(separator: " AND ")
    delete = try Statement(database, "DELETE FROM \(name) WHERE \(condition)")
    deleteAll = try Statement(database, "DELETE FROM \(name)")
  }

  /// Inside a transaction.
  func write(_ id: Int64, _ row: Row) throws(StoreError) {
    insert.bind(1, id)
    for (position, field) in fields.enumerated() { insert.bind(Int32(position + 2), field.write(row)) }
    try insert.run()
  }

  /// Inside a transaction.
  func remove(_ keys: Int64...) throws(StoreError) {
    for (position, key) in keys.enumerated() { delete.bind(Int32(position + 1), key) }
    try delete.run()
  }

  /// Inside a transaction.
  func removeAll() throws(StoreError) { try deleteAll.run() }

  /// Writes rows, and removes those that are no more. Inside a transaction.
  func write(_ ids: some Sequence<Int64>, _ find: (Int64) -> Row?) throws(StoreError) {
    for id in ids { if let row = find(id) { try write(id, row) } else { try remove(id) } }
  }

  /// Gives away all rows in order, with their numbers; `take` answers whether one fits.
  func forEach(_ take: (Int64, Row) -> Bool) throws(StoreError) {
    while try select.step() {
      let id = select.integer(0)
      guard let row = row(id), take(id, row) else { throw damaged(id) }
    }
  }

  /// The same of rows that are numbered from 0 without a gap.
  func forEachInOrder(_ take: (Int64, Row) -> Bool) throws(StoreError) {
    var count: Int64 = 0
    try forEach { id, row in
      defer { count += 1 }
      return id == count && take(id, row)
    }
  }

  private func row(_ id: Int64) -> Row? {
    var row = blank
    if let number { row[keyPath: number] = id }
    for (position, field) in fields.enumerated() {
      guard field.read(select.value(Int32(position + 1), field.shape), &row) else { return nil }
    }
    return row
  }

  func damaged(_ row: Int64) -> StoreError {
    StoreError(
      code: .damaged, sentence: "the store \(path) is damaged: \(name) \(row) is not as it was written")
  }
}
