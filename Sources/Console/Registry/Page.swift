import PushModel

/// A part of a long list of rows: those after a cursor, up to a limit.
struct Page {
  /// Default and largest `limit` of lists of rows, as counts. A million rows at once would be 300 MB of JSON.
  static let defaultLimit = 10_000
  static let limits = 1...100_000

  private let start: Int
  private let limit: Int

  init(_ query: inout QueryReader) throws {
    start = try query.integer("since", 0...Int(Int32.max)) ?? 0
    limit = try query.integer("limit", Self.limits) ?? Self.defaultLimit
  }

  /// The rows that are `wanted`, in order, and where the next page begins: null when there is none.
  func take(
    _ rows: some Collection<Int32>, where isWanted: (Int32) -> Bool, _ make: (Int32) -> JSONValue
  ) -> (rows: JSONValue, next: JSONValue) {
    var values: [JSONValue] = []
    for row in rows where Int(row) >= start && isWanted(row) {
      guard values.count < limit else { return (.array(values), .integer(Int64(row))) }
      values.append(make(row))
    }
    return (.array(values), .null)
  }
}
