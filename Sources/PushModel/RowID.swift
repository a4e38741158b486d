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

/// A device that has been seen.
@frozen
public struct DeviceID: RowID {
  public let number: Int32
  @inlinable public init(number: Int32) { self.number = number }
}

/// A topic that somebody has mentioned: a place in the table of topics, and which of the topics that have had it.
@frozen
public struct TopicID: RowID {
  /// Bits of the place. Above them is the round, in which the bit of the sign stays free.
  @usableFromInline static let placeBits: Int32 = 20
  @usableFromInline static let roundMask: Int32 = .max >> placeBits
  /// Most places, as a count.
  public static let placeLimit = 1 << Int(placeBits)

  public let number: Int32
  @inlinable public init(number: Int32) { self.number = number }

  @inlinable
  public init(place: Int, round: Int32) {
    number = round << Self.placeBits | Int32(truncatingIfNeeded: place) & (1 << Self.placeBits - 1)
  }

  /// Where the topic is in the table.
  @inlinable @inline(__always)
  public var place: Int { Int(number & (1 << Self.placeBits - 1)) }

  /// How often the place was given to another topic; begins again with 0.
  @inlinable
  public var round: Int32 { number >> Self.placeBits }

  /// The round behind this one.
  @inlinable
  public var nextRound: Int32 { (round + 1) & Self.roundMask }
}

/// A row of the token map: a token, and the message that is kept for it.
@frozen
public struct RegistrationID: RowID {
  public let number: Int32
  @inlinable public init(number: Int32) { self.number = number }
}

/// A context that some token was made for.
@frozen
public struct TokenContextID: RowID {
  public let number: Int32
  @inlinable public init(number: Int32) { self.number = number }
}

/// A row or none in the four bytes of a row: an `Optional` takes eight, and there is one in every record of the history.
@frozen
@propertyWrapper
public struct Packed<ID: RowID>: BitwiseCopyable, Sendable, Equatable {
  /// Rows count from 0, so -1 is nobody's.
  @usableFromInline var number: Int32

  @inlinable @inline(__always)
  public init(wrappedValue: ID?) { number = wrappedValue?.number ?? -1 }

  @inlinable
  public var wrappedValue: ID? {
    @inline(__always) get { number < 0 ? nil : ID(number: number) }
    @inline(__always) set { number = newValue?.number ?? -1 }
  }
}
