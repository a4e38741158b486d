import CSQLite

/// One open SQLite database.
@safe final class Database {
  let path: String
  /// Owned; closed in `deinit`, after all statements, which hold on to this object. Of use to `Statement` alone.
  let handle: OpaquePointer

  /// Opens or creates the file. SQLite looks into it at the first statement only.
  init(path: String) throws(StoreError) {
    var opened: OpaquePointer?
    let status = unsafe sqlite3_open_v2(
      path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
    guard status == SQLITE_OK, let opened = unsafe opened else {
      unsafe sqlite3_close_v2(opened)
      throw Self.error(status, path, detail: nil)
    }
    unsafe (self.path, handle) = unsafe (path, opened)
  }

  deinit { unsafe sqlite3_close_v2(handle) }

  /// Runs statements that answer nothing.
  func execute(_ sql: String) throws(StoreError) {
    let status = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard status == SQLITE_OK else { throw error(status) }
  }

  /// The first column of the first row, as an integer; 0 if there is none.
  func integer(_ sql: String) throws(StoreError) -> Int64 {
    let statement = try Statement(self, sql)
    return try statement.step() ? statement.integer(0) : 0
  }

  /// Throws if the pages don't fit together: SQLite itself looks no further than it needs, and would miss rows without a word.
  func checkPages() throws(StoreError) {
    let check = try Statement(self, "PRAGMA quick_check(1)")
    guard try check.step() else { return }
    let said = check.text(0)
    guard said == "ok" else {
      throw StoreError(code: .damaged, sentence: "the store \(path) is damaged: \(said)")
    }
  }

  /// Writes the write-ahead log back into the file, as far as nobody reads it.
  func checkpoint() throws(StoreError) {
    let status = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    guard status == SQLITE_OK else { throw error(status) }
  }

  /// SQLite's last complaint as ours.
  func error(_ status: Int32) -> StoreError {
    unsafe Self.error(status, path, detail: sqlite3_errmsg(handle).map { unsafe String(cString: $0) })
  }

  private static func error(_ status: Int32, _ path: String, detail: String?) -> StoreError {
    let said = unsafe detail ?? String(cString: sqlite3_errstr(status))
    switch status & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return StoreError(code: .inUse, sentence: "the store \(path) is in use by another process")
    case SQLITE_NOTADB:
      return StoreError(code: .notADatabase, sentence: "\(path) is not a database of this program")
    case SQLITE_CORRUPT:
      return StoreError(code: .damaged, sentence: "the store \(path) is damaged: \(said)")
    case SQLITE_FULL:
      return StoreError(code: .full, sentence: "no disk space left for the store \(path)")
    case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM:
      return StoreError(code: .notWritable, sentence: "can't write the store \(path): \(said)")
    default:
      return StoreError(code: .failed, sentence: "the store \(path) failed: \(said) (\(status))")
    }
  }
}
