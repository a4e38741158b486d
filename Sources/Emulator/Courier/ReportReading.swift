import CourierWire
import PushModel

/// When the reports of phones are read: so much each turn, whoever they are from, in the order in which they came. What one
/// device may tell is its `PhoneReportAllowance`; this is so that many together don't take the loop.
struct ReportReading {
  /// Most that is read in a turn, in reports as `PhoneReportAllowance` counts them: some 2 ms of one that is full of values. One that
  /// counts as more is read alone.
  static let turnBudget: Int64 = 16

  private var left = turnBudget
  private var waiting = FIFO<CourierConnection>()

  var isEmpty: Bool { waiting.isEmpty }

  mutating func beginTurn() { left = Self.turnBudget }

  /// Whether a report of this weight may be read now; otherwise its device is to wait.
  mutating func takes(_ weight: Int64) -> Bool {
    guard waiting.isEmpty, left > 0 else { return false }
    left -= weight
    return true
  }

  /// A device waits with its report.
  mutating func add(_ connection: CourierConnection) { waiting.append(connection) }

  /// Whose report is to be read now; nil for nobody's in this turn.
  mutating func next() -> CourierConnection? {
    guard left > 0, !waiting.isEmpty else { return nil }
    let connection = waiting.removeFirst()
    left -= connection.unreadWeight
    return connection
  }
}
