import Basics
import CSQLite

/// A prepared statement, kept for the life of the database and used again and again.
///
/// A *checked* one writes or reads whole rows whose last column is their `RowCheck`: values must be bound in order, and a row
/// that is not as it was written is an error of the step that reads it.
///
/// Bytes that are bound are copied, and so is what it answers; but for those that are lent to one `run`.
@safe final class Statement {
  private let database: Database
  /// Owned; finalised in `deinit`.
  private let handle: OpaquePointer
  private let isChecked: Bool
  /// Of the values bound so far.
  private var check = RowCheck()

  init(_ database: Database, _ sql: String, isChecked: Bool = false) throws(StoreError) {
    self.isChecked = isChecked
    var prepared: OpaquePointer?
    let status = unsafe sqlite3_prepare_v3(
      database.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard status == SQLITE_OK, let prepared = unsafe prepared else { throw database.error(status) }
    unsafe (self.database, handle) = unsafe (database, prepared)
  }

  deinit { unsafe sqlite3_finalize(handle) }

  func bind(_ position: Int32, _ value: Int64) {
    check.add(value)
    unsafe sqlite3_bind_int64(handle, position, value)
  }

  func bind(_ position: Int32, _ value: Span<UInt8>) {
    check.add(value)
    // A null pointer would bind NULL; no bytes are still bytes.
    guard !value.isEmpty else { return _ = unsafe sqlite3_bind_zeroblob(handle, position, 0) }
    unsafe value.withUnsafeBytes {
      _ = unsafe sqlite3_bind_blob64(handle, position, $0.baseAddress, UInt64($0.count), Self.copied)
    }
  }

  func bind(_ position: Int32, _ value: String?) {
    guard let value else {
      check.addNull()
      return _ = unsafe sqlite3_bind_null(handle, position)
    }
    check.add(Array(value.utf8).span)
    unsafe sqlite3_bind_text(handle, position, value, -1, Self.copied)
  }

  /// `SQLITE_TRANSIENT`, which the importer leaves out because it is a cast: SQLite copies at once.
  private static var copied: sqlite3_destructor_type {
    unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }

  func bind(_ position: Int32, _ value: RowValue) {
    switch value {
    case .integer(let number): bind(position, number)
    case .bytes(let bytes): bind(position, bytes.span)
    case .text(let text): bind(position, text)
    case .none: bind(position, nil as String?)
    }
  }

  /// Goes to the next row; answers whether there is one. After the last the statement may be used again.
  func step() throws(StoreError) -> Bool {
    switch unsafe sqlite3_step(handle) {
    case SQLITE_ROW:
      if isChecked { try checkRow() }
      return true
    case SQLITE_DONE:
      unsafe sqlite3_reset(handle)
      return false
    default:
      throw unsafe database.error(sqlite3_reset(handle))
    }
  }

  /// Runs a statement that answers no rows, the value at `position` being bytes, at least one, that are not copied for it.
  func run(lending value: Span<UInt8>, at position: Int32) throws(StoreError) {
    check.add(value)
    try unsafe value.withUnsafeBytes { (bytes) throws(StoreError) in
      unsafe sqlite3_bind_blob64(handle, position, bytes.baseAddress, UInt64(bytes.count), nil)
      // Nothing of it is kept, whatever becomes of the run.
      defer { unsafe sqlite3_bind_null(handle, position) }
      try run()
    }
  }

  /// Runs a statement that answers no rows.
  func run() throws(StoreError) {
    if isChecked { unsafe sqlite3_bind_int64(handle, sqlite3_bind_parameter_count(handle), check.value) }
    check = RowCheck()
    while try step() {}
  }

  /// Rows of stores made before there were checks have none.
  private func checkRow() throws(StoreError) {
    let last = unsafe sqlite3_column_count(handle) - 1
    guard !isNull(last) else { return }
    var check = RowCheck()
    for column in 0..<last { add(column, to: &check) }
    guard unsafe sqlite3_column_type(handle, last) == SQLITE_INTEGER, integer(last) == check.value else {
      unsafe sqlite3_reset(handle)
      throw StoreError(
        code: .damaged, sentence: "the store \(database.path) is damaged: a row is not as it was written")
    }
  }

  private func add(_ column: Int32, to check: inout RowCheck) {
    switch unsafe sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: check.add(integer(column))
    case SQLITE_NULL: check.addNull()
    default: withBytes(column) { check.add($0) }
    }
  }

  var columnNames: [String] {
    unsafe (0..<sqlite3_column_count(handle)).map {
      unsafe sqlite3_column_name(handle, $0).map { unsafe String(cString: $0) } ?? ""
    }
  }

  /// A column of the present row.
  func value(_ column: Int32, _ shape: RowShape) -> RowValue {
    switch shape {
    case .u8, .u32, .i32, .i64: .integer(integer(column))
    case .fixed, .bytes: .bytes(bytes(column))
    case .text: isNull(column) ? .none : .text(text(column))
    }
  }

  func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

  func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

  /// The text of a column; malformed UTF-8 is repaired.
  func text(_ column: Int32) -> String { withBytes(column) { $0.text } }

  /// SQLite keeps them until the next step, or until the column is asked for in another form: `body` does neither.
  private func withBytes<Result>(_ column: Int32, _ body: (Span<UInt8>) -> Result) -> Result {
    let base = unsafe sqlite3_column_blob(handle, column)
    return unsafe body(
      UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(handle, column))).span)
  }
}

/// A number that goes with a row and tells whether it is as it was written: a disk, or a person with an editor, may have changed
/// what SQLite takes for good. Not against people who mean to: they can compute it too.
///
/// Each step is a bijection of the state for given input, and of the input for a given state, so no change within one word goes
/// unnoticed; others do once in 2^64.
struct RowCheck {
  private static let factors: (UInt64, UInt64) = (0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f)
  private var state: UInt64 = 0x6170_6e73_726f_7773

  /// As SQLite keeps it.
  var value: Int64 { Int64(bitPattern: Self.mixed(state)) }

  mutating func add(_ number: Int64) { step(UInt64(bitPattern: number) ^ 1) }

  mutating func addNull() { step(2) }

  /// Four lanes, since a multiplication waits for the one before it.
  mutating func add(_ bytes: Span<UInt8>) {
    var lanes = (state, state &+ 1, state &+ 2, state &+ 3)
    var offset = 0
    while bytes.count - offset >= 32 {
      lanes.0 = Self.next(lanes.0, Self.word(bytes, offset))
      lanes.1 = Self.next(lanes.1, Self.word(bytes, offset + 8))
      lanes.2 = Self.next(lanes.2, Self.word(bytes, offset + 16))
      lanes.3 = Self.next(lanes.3, Self.word(bytes, offset + 24))
      offset += 32
    }
    state = lanes.0
    step(lanes.1)
    step(lanes.2)
    step(lanes.3)
    while bytes.count - offset >= 8 {
      step(Self.word(bytes, offset))
      offset += 8
    }
    var rest: UInt64 = 0
    for place in offset..<bytes.count { rest = rest << 8 | UInt64(bytes[place]) }
    step(rest)
    step(UInt64(bytes.count))
  }

  private mutating func step(_ word: UInt64) { state = Self.next(state, word) }

  @inline(__always)
  private static func next(_ state: UInt64, _ word: UInt64) -> UInt64 {
    let product = (state ^ word) &* factors.0
    return product << 31 | product >> 33
  }

  @inline(__always)
  private static func word(_ bytes: Span<UInt8>, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.native(UInt64.self, at: offset))
  }

  private static func mixed(_ state: UInt64) -> UInt64 {
    let once = (state ^ state >> 29) &* factors.1
    return once ^ once >> 32
  }
}
