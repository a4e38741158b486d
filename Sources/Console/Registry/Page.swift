import Basics
import Broker
import ConsoleAnswers

/// A part of a long list of rows: those after a cursor, up to a limit.
struct Page {
  /// Default and largest `limit` of lists of rows, as counts. A million rows at once would be 300 MB of JSON.
  static let defaultLimit = 10_000
  static let limits = 1...100_000

  let start: Int
  let limit: Int

  init(_ query: inout QueryReader) throws {
    start = try query.integer("since", 0...Int(Int32.max)) ?? 0
    limit = try query.integer("limit", Self.limits) ?? Self.defaultLimit
  }

  /// A document of those `rows` that are `wanted`, in order, and of where the next page begins: null when there is none.
  /// Rows that come while it is written are not part of it, and it ends where all rows are forgotten.
  func document<ID: RowID>(
    _ name: String, _ rows: some Sequence<ID>, of registry: Registry,
    where isWanted: @escaping (ID) -> Bool, _ make: @escaping (ID) -> GrowingDocument.Element
  ) -> GrowingDocument {
    var (rows, found, next) = (AnyIterator(rows.makeIterator()), 0, ID?.none)
    let areThere = registry.holdsRows
    return GrowingDocument([
      .list(name) { _ in
        guard areThere(), let row = rows.next() else { return .end }
        guard row.index >= start, isWanted(row) else { return .nothing }
        guard found < limit else {
          next = row
          return .end
        }
        found += 1
        return make(row)
      }, .late { [("next", .optional(next?.number))] },
    ])
  }
}
