/// What is kept and told of a thing, as one list of its fields: columns in the store, bytes between nodes and members of documents come
/// from the list.
///
///     static let form = RowForm<DeviceRow>([
///       RowField(1, "udid", .udid, \.udid, JSONField("udid", .udid, \.udid).needed),
///       RowField(2, "identity", .number(Device.identities, "an identity"), \.identity),
///     ])
public struct RowForm<Root>: Sendable {
  /// In the order of documents.
  public let fields: [RowField<Root>]
  /// What other nodes are told, in that order.
  public let told: [RowField<Root>]

  public init(_ fields: [RowField<Root>]) {
    self.fields = fields
    told = fields.filter { $0.place != nil }.sorted { ($0.place ?? 0) < ($1.place ?? 0) }
  }

  public var members: [JSONField<Root>] { fields.compactMap(\.member) }
}

/// One field of a row.
public struct RowField<Root>: Sendable {
  /// Of its column.
  public let name: String
  /// Where it stands between nodes, for good: nodes of different versions read each other. nil for what they are not told.
  public let place: Int?
  public let shape: RowShape
  /// What is asked for where something else is.
  public let expected: String
  /// A table of its own, with a row for each row that has one; nil for a column of the row's.
  public let table: String?
  public let member: JSONField<Root>?
  /// False, if it can't be what was written.
  public let read: @Sendable (RowValue, inout Root) -> Bool
  public let write: @Sendable (Root) -> RowValue

  public init<Value>(
    _ place: Int?, _ name: String, _ kind: RowKind<Value>, get: @escaping @Sendable (Root) -> Value,
    set: @escaping @Sendable (inout Root, Value) -> Void, table: String? = nil,
    _ member: JSONField<Root>? = nil
  ) {
    self.init(place, name, kind.shape, kind.expected, table, member) { value, root in
      guard let taken = kind.read(value) else { return false }
      set(&root, taken)
      return true
    } write: {
      kind.write(get($0))
    }
  }

  public init<Value>(
    _ place: Int?, _ name: String, _ kind: RowKind<Value>,
    _ path: WritableKeyPath<Root, Value> & Sendable, table: String? = nil, _ member: JSONField<Root>? = nil
  ) {
    self.init(
      place, name, kind, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 }, table: table, member)
  }

  /// One that is always known but to a person who writes a document.
  public init<Value>(
    _ place: Int?, _ name: String, _ kind: RowKind<Value>,
    _ path: WritableKeyPath<Root, Value?> & Sendable, _ member: JSONField<Root>? = nil
  ) {
    self.init(place, name, kind.shape, kind.expected, nil, member) { value, root in
      root[keyPath: path] = kind.read(value)
      return root[keyPath: path] != nil
    } write: {
      $0[keyPath: path].map(kind.write) ?? kind.shape.empty
    }
  }

  /// What only documents say.
  public init(document member: JSONField<Root>) {
    self.init(nil, "", .bytes, "", nil, member, read: { _, _ in true }, write: { _ in .none })
  }

  fileprivate init(
    _ place: Int?, _ name: String, _ shape: RowShape, _ expected: String, _ table: String?,
    _ member: JSONField<Root>?, read: @escaping @Sendable (RowValue, inout Root) -> Bool,
    write: @escaping @Sendable (Root) -> RowValue
  ) {
    (self.place, self.name, self.shape, self.expected, self.table) = (place, name, shape, expected, table)
    (self.member, self.read, self.write) = (member, read, write)
  }

  /// The same of what holds it.
  public func of<Outer>(_ path: WritableKeyPath<Outer, Root> & Sendable) -> RowField<Outer> {
    RowField<Outer>(place, name, shape, expected, table, member?.of(path)) {
      read($0, &$1[keyPath: path])
    } write: {
      write($0[keyPath: path])
    }
  }
}

extension RowForm {
  /// The columns of a part that a row may have or not: the first of them is empty where there is none. `blank` is what they are read
  /// into.
  public func columns<Outer>(
    of path: WritableKeyPath<Outer, Root?> & Sendable, blank: Root
  ) -> [RowField<Outer>] where Root: Sendable {
    told.enumerated().map { index, field in
      RowField<Outer>(nil, field.name, field.shape, field.expected, nil, nil) { value, outer in
        if index == 0 { outer[keyPath: path] = value == field.shape.empty ? nil : blank }
        guard var part = outer[keyPath: path] else { return true }
        defer { outer[keyPath: path] = part }
        return field.read(value, &part)
      } write: {
        $0[keyPath: path].map(field.write) ?? field.shape.empty
      }
    }
  }
}
