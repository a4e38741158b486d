import CSQLite
import PushModel

/// A prepared statement, kept for the life of the database and used again and again.
///
/// A *checked* one writes or reads whole rows whose last column is their `RowCheck`: values must be bound in order, and a row
/// that is not as it was written is an error of the step that reads it.
///
/// Bytes bound as `lent` must stay until `run`, or the last `step`, has returned; others are copied.
final class Statement {
  private let database: Database
  /// Owned; finalised in `deinit`.
  private let handle: OpaquePointer
  private let isChecked: Bool
  /// Of the values bound so far.
  private var check = RowCheck()

  init(_ database: Database, _ sql: String, isChecked: Bool = false) throws(StoreError) {
    self.isChecked = isChecked
    var prepared: OpaquePointer?
    let status = sqlite3_prepare_v3(
      database.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard status == SQLITE_OK, let prepared else { throw database.error(status) }
    (self.database, handle) = (database, prepared)
  }

  deinit { sqlite3_finalize(handle) }

  func bind(_ position: Int32, _ value: Int64) {
    check.add(value)
    sqlite3_bind_int64(handle, position, value)
  }

  func bind(_ position: Int32, lent value: UnsafeRawBufferPointer) {
    check.add(value)
    sqlite3_bind_blob64(handle, position, value.baseAddress, UInt64(value.count), nil)
  }

  func bind(_ position: Int32, _ value: UnsafeRawBufferPointer) {
    check.add(value)
    // A null pointer would bind NULL; no bytes are still bytes.
    guard let base = value.baseAddress else { return _ = sqlite3_bind_zeroblob(handle, position, 0) }
    sqlite3_bind_blob64(handle, position, base, UInt64(value.count), Self.copied)
  }

  func bind(_ position: Int32, _ value: String?) {
    guard var value else {
      check.addNull()
      return _ = sqlite3_bind_null(handle, position)
    }
    value.withUTF8 { check.add(UnsafeRawBufferPointer($0)) }
    sqlite3_bind_text(handle, position, value, -1, Self.copied)
  }

  /// `SQLITE_TRANSIENT`, which the importer leaves out because it is a cast: SQLite copies at once.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  func bind(_ position: Int32, _ value: RowValue) {
    switch value {
    case .integer(let number): bind(position, number)
    case .bytes(let bytes): bytes.withUnsafeBytes { bind(position, $0) }
    case .text(let text): bind(position, text)
    case .none: bind(position, nil as String?)
    }
  }

  /// Goes to the next row; answers whether there is one. After the last the statement may be used again.
  func step() throws(StoreError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW:
      if isChecked { try checkRow() }
      return true
    case SQLITE_DONE:
      sqlite3_reset(handle)
      return false
    default:
      throw database.error(sqlite3_reset(handle))
    }
  }

  /// Runs a statement that answers no rows.
  func run() throws(StoreError) {
    if isChecked { sqlite3_bind_int64(handle, sqlite3_bind_parameter_count(handle), check.value) }
    check = RowCheck()
    while try step() {}
  }

  /// Rows of stores made before there were checks have none.
  private func checkRow() throws(StoreError) {
    let last = sqlite3_column_count(handle) - 1
    guard !isNull(last) else { return }
    var check = RowCheck()
    for column in 0..<last { add(column, to: &check) }
    guard sqlite3_column_type(handle, last) == SQLITE_INTEGER, integer(last) == check.value else {
      sqlite3_reset(handle)
      throw StoreError(
        code: .damaged, sentence: "the store \(database.path) is damaged: a row is not as it was written")
    }
  }

  private func add(_ column: Int32, to check: inout RowCheck) {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: check.add(integer(column))
    case SQLITE_NULL: check.addNull()
    default: check.add(bytes(column))
    }
  }

  var columnNames: [String] {
    (0..<sqlite3_column_count(handle)).map {
      sqlite3_column_name(handle, $0).map { String(cString: $0) } ?? ""
    }
  }

  /// A column of the present row.
  func value(_ column: Int32, _ shape: RowShape) -> RowValue {
    switch shape {
    case .u8, .u32, .i32, .i64: .integer(integer(column))
    case .fixed, .bytes: .bytes(Array(bytes(column)))
    case .text: isNull(column) ? .none : .text(text(column))
    }
  }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// The bytes of a column, lent until the next step.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let base = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// The text of a column; malformed UTF-8 is repaired.
  func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
}
