import Broker
import PushModel

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
    let cursor = PageCursor(rows, self, registry, isWanted, make)
    return GrowingDocument([.list(name, cursor.look), .late { [("next", .optional(cursor.next?.number))] }])
  }
}

/// A page on its way through the rows.
private final class PageCursor<ID: RowID> {
  private var rows: AnyIterator<ID>
  private let page: Page
  private let registry: Registry
  private let generation: Int
  private let isWanted: (ID) -> Bool
  private let make: (ID) -> GrowingDocument.Element
  private var found = 0
  private(set) var next: ID?

  init(
    _ rows: some Sequence<ID>, _ page: Page, _ registry: Registry, _ isWanted: @escaping (ID) -> Bool,
    _ make: @escaping (ID) -> GrowingDocument.Element
  ) {
    (self.rows, self.page, self.registry) = (AnyIterator(rows.makeIterator()), page, registry)
    (self.isWanted, self.make, generation) = (isWanted, make, registry.generation)
  }

  func look(_ slice: inout Slice) -> GrowingDocument.Element {
    guard generation == registry.generation, let row = rows.next() else { return .end }
    guard row.index >= page.start, isWanted(row) else { return .nothing }
    guard found < page.limit else {
      next = row
      return .end
    }
    found += 1
    return make(row)
  }
}
