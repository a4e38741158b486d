import Transport

/// Where a reader of several nodes' histories was: an id of each node at most, which says by itself whose it is.
///
///     137438953487~206158430215
///
/// Of a node that it does not name nothing has been read.
struct HistoryCursor: Equatable {
  /// More nodes than there can be need not be read, as a count.
  private static let limit = 1024

  var ids: [UInt64]

  init(_ ids: [UInt64]) { self.ids = ids.sorted() }

  /// nil for what is no cursor, as a time.
  init?(_ text: String) {
    let parts = text.split(separator: "~", omittingEmptySubsequences: false)
    let ids = parts.compactMap { UInt64($0) }.filter { $0 <= UInt64(Int64.max) }
    guard ids.count == parts.count, ids.count <= Self.limit else { return nil }
    self.init(ids)
  }

  /// As `next` says it.
  var text: String { ids.map(String.init).joined(separator: "~") }
}

extension HTTPRequest {
  /// Query items that are cursors.
  private static let cursors: Set<String> = ["since", "before"]

  /// The request as one of several nodes is asked: of a cursor it gets what is its own.
  func part(isItsOwn: (UInt64) -> Bool) -> HTTPRequest {
    var part = self
    part.query = query.compactMap { item in
      guard Self.cursors.contains(item.name), let cursor = HistoryCursor(item.value) else { return item }
      return cursor.ids.first(where: isItsOwn).map { (item.name, String($0)) }
    }
    return part
  }
}
