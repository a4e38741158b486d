/// Names a row of a table. Which table is in the type, so that a device's row can't be taken for a topic's.
///
/// One 32-bit word: it costs what a bare number costs.
public protocol RowID: BitwiseCopyable, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Counts the table's rows, from 0.
  var number: Int32 { get }
  init(number: Int32)
}

extension RowID {
  @inlinable @inline(__always)
  public init(_ index: Int) { self.init(number: Int32(truncatingIfNeeded: index)) }

  /// The row's place in the table.
  @inlinable @inline(__always)
  public var index: Int { Int(number) }

  /// The ids of rows from one on, in order.
  public static func rows(from start: Int = 0, below end: Int) -> LazyMapSequence<Range<Int>, Self> {
    let end = min(end, Int(Int32.max))
    return (min(start, end)..<end).lazy.map { Self($0) }
  }

  @inlinable
  public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

  public var description: String { "\(number)" }
}

/// A row or none in the four bytes of a row: an `Optional` takes eight, and there is one in every record of the history.
@propertyWrapper
public struct Packed<ID: RowID>: BitwiseCopyable, Sendable, Equatable {
  /// Rows count from 0, so -1 is nobody's.
  public var number: Int32

  @inlinable @inline(__always)
  public init(wrappedValue: ID?) { number = wrappedValue?.number ?? -1 }

  @inlinable
  public var wrappedValue: ID? {
    @inline(__always) get { number < 0 ? nil : ID(number: number) }
    @inline(__always) set { number = newValue?.number ?? -1 }
  }
}
