import CSQLite
import Testing

/// Looks into (or tampers with) a store's file behind the store's back, while it is closed.
enum Raw {
  /// Runs statements; answers the first column of the last row, 0 if there was none.
  @discardableResult
  static func run(_ path: String, _ sql: String) throws -> Int64 {
    var handle: OpaquePointer?
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    defer { sqlite3_close_v2(handle) }
    var answer: Int64 = 0
    let status = sqlite3_exec(
      handle, sql,
      { context, _, values, _ in
        if let text = values?[0] {
          context?.storeBytes(of: Int64(String(cString: text)) ?? 0, as: Int64.self)
        }
        return 0
      }, &answer, nil)
    try #require(status == SQLITE_OK)
    return answer
  }

  /// Every row of a table, each as one line of all its columns as SQL spells them.
  static func rows(_ path: String, _ table: String) throws -> [String] {
    let columns = try lines(
      path, "SELECT group_concat('quote(' || name || ')', ' || '' '' || ') FROM pragma_table_info('\(table)')"
    )
    return try lines(path, "SELECT \(try #require(columns.first)) FROM \(table) ORDER BY 1")
  }

  private static func lines(_ path: String, _ sql: String) throws -> [String] {
    var handle: OpaquePointer?
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    defer { sqlite3_close_v2(handle) }
    var lines: [String] = []
    let status = withUnsafeMutablePointer(to: &lines) { lines in
      sqlite3_exec(
        handle, sql,
        { context, _, values, _ in
          if let text = values?[0] {
            context?.assumingMemoryBound(to: [String].self).pointee.append(String(cString: text))
          }
          return 0
        }, lines, nil)
    }
    try #require(status == SQLITE_OK)
    return lines
  }
}
