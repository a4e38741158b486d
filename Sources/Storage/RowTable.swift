import PushModel

/// A table whose columns are fields of a form: those of their names. Its last column is the row's check.
struct RowTable<Row> {
  let name: String
  private let path: String
  private let fields: [RowField<Row>]
  private let blank: Row
  private let insert, delete, deleteAll, select: Statement

  /// Rows are read into `blank`. The first `keys` columns name a row.
  init(
    _ database: Database, _ name: String, _ fields: [RowField<Row>], blank: Row, keys: Int = 1
  ) throws(StoreError) {
    (self.name, self.blank, path) = (name, blank, database.path)
    select = try Statement(
      database, "SELECT * FROM \(name) ORDER BY \(keys == 1 ? "1" : "1, 2")", isChecked: true)
    let columns = select.columnNames.dropLast()
    self.fields = columns.compactMap { column in fields.first { $0.name == column } }
    // The file says what its columns are called.
    guard self.fields.count == columns.count, columns.count == fields.count(where: { !$0.name.isEmpty })
    else {
      throw StoreError(
        code: .damaged, sentence: "the store \(path) is damaged: the table \(name) has other columns")
    }
    let values = Array(repeating: "?", count: columns.count + 1).joined(separator: ", ")
    insert = try Statement(database, "INSERT OR REPLACE INTO \(name) VALUES (\(values))", isChecked: true)
    let condition = columns.prefix(keys).map { "\($0) = ?" }.joined(separator: " AND ")
    delete = try Statement(database, "DELETE FROM \(name) WHERE \(condition)")
    deleteAll = try Statement(database, "DELETE FROM \(name)")
  }

  /// Inside a transaction.
  func write(_ row: Row) throws(StoreError) {
    for (position, field) in fields.enumerated() { insert.bind(Int32(position + 1), field.write(row)) }
    try insert.run()
  }

  /// Inside a transaction.
  func remove(_ keys: Int64...) throws(StoreError) {
    for (position, key) in keys.enumerated() { delete.bind(Int32(position + 1), key) }
    try delete.run()
  }

  /// Inside a transaction.
  func removeAll() throws(StoreError) { try deleteAll.run() }

  /// Writes the rows of some keys, and removes those that are no more. Inside a transaction.
  func write(_ keys: some Sequence<Int64>, _ find: (Int64) -> Row?) throws(StoreError) {
    for key in keys { if let row = find(key) { try write(row) } else { try remove(key) } }
  }

  /// Gives away all rows in the order of their keys; `take` answers whether one fits.
  func forEach(_ take: (Row) -> Bool) throws(StoreError) {
    while try select.step() {
      guard let row = row(), take(row) else { throw damaged(select.integer(0)) }
    }
  }

  private func row() -> Row? {
    var row = blank
    for (position, field) in fields.enumerated() {
      guard field.read(select.value(Int32(position), field.shape), &row) else { return nil }
    }
    return row
  }

  func damaged(_ row: Int64) -> StoreError {
    StoreError(
      code: .damaged, sentence: "the store \(path) is damaged: \(name) \(row) is not as it was written")
  }
}

/// A row with the number that it has in the store.
struct Numbered<Row> {
  var id: Int64
  var row: Row

  static func fields(_ fields: [RowField<Row>]) -> [RowField<Numbered>] {
    [RowField(nil, "id", .i64, \.id)] + fields.map { $0.of(\.row) }
  }
}

extension RowTable {
  /// Of rows that do not know their numbers.
  init<Inner>(
    _ database: Database, _ name: String, numbering fields: [RowField<Inner>], blank: Inner
  ) throws(StoreError) where Row == Numbered<Inner> {
    try self.init(database, name, Row.fields(fields), blank: Row(id: 0, row: blank))
  }

  /// Gives away rows that are numbered from 0 without a gap, with their numbers.
  func forEachInOrder<Inner>(_ take: (Int64, Inner) -> Bool) throws(StoreError)
  where Row == Numbered<Inner> {
    var count: Int64 = 0
    try forEach { numbered in
      defer { count += 1 }
      return numbered.id == count && take(count, numbered.row)
    }
  }
}
