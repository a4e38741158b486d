/// What long work may still do in this turn of the loop, in units of about a microsecond.
///
/// Units are counted rather than time measured: the same work is cut at the same places everywhere, and tests can count
/// it. Measured: 10,000 notifications of the history took 660 ms to write, 1 kB of JSON each.
struct Slice {
  /// Looking at a record or a row, in units.
  static let look = 1
  /// Making a value of a document, before its bytes are counted, in units.
  static let value = 8
  /// A row of the token map made, changed or looked up with its HMAC, in units.
  static let row = 4
  /// Rows whose message is looked at, and dropped from some, for one unit.
  static let rowsSwept = 16
  /// Reading a small file and decoding what it says, in units: counted high rather than low.
  static let file = 100
  /// Bytes of JSON written for one unit.
  static let bytesWritten = 16
  /// Bytes of a payload searched for one unit.
  static let bytesSearched = 4096

  private(set) var left: Int

  init(_ units: Int) { left = units }

  var isSpent: Bool { left <= 0 }

  mutating func spend(_ units: Int) { left -= units }
}

/// Work that is done bit by bit.
protocol SlicedWork: AnyObject {
  /// Does some of it, for as long as the slice lasts or a bit longer: what can't be divided is finished.
  func work(_ slice: inout Slice) -> SliceOutcome
}

/// What became of work that got a slice.
enum SliceOutcome {
  /// There is more to do.
  case goesOn
  /// Nothing can be done now; whoever does it asks for slices again.
  case waits
  case done
}
