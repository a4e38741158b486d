/// A value as a column or a record between nodes holds it.
public enum RowValue: Equatable, Sendable {
  /// One of 64 bits without a sign by its bits.
  case integer(Int64)
  case bytes([UInt8])
  case text(String)
  /// There is none.
  case none

  fileprivate var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  fileprivate var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
  fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }
}

/// What a value looks like. A store has numbers of 64 bits, bytes and texts; between nodes numbers have the width that is said here,
/// big endian, and what may be of any length has that before it, in two bytes.
public enum RowShape: Equatable, Sendable {
  case u8, u32, i32, i64
  case fixed(Int)
  case bytes, text

  /// Where there is none.
  public var empty: RowValue {
    switch self {
    case .u8, .u32, .i32, .i64: .integer(0)
    case .fixed, .bytes: .bytes([])
    case .text: .text("")
    }
  }
}

/// How a value stands in a row: what it looks like, how it is read, and how it is written.
public struct RowKind<Value>: Sendable {
  public let shape: RowShape
  /// What is asked for where something else is.
  public let expected: String
  public let read: @Sendable (RowValue) -> Value?
  public let write: @Sendable (Value) -> RowValue

  public init(
    _ shape: RowShape, _ expected: String, read: @escaping @Sendable (RowValue) -> Value?,
    write: @escaping @Sendable (Value) -> RowValue
  ) {
    (self.shape, self.expected, self.read, self.write) = (shape, expected, read, write)
  }

  /// A value that an integer stands for.
  public static func ofInteger(
    _ shape: RowShape, _ expected: String, _ read: @escaping @Sendable (Int64) -> Value?,
    _ write: @escaping @Sendable (Value) -> Int64
  ) -> RowKind {
    RowKind(shape, expected, read: { $0.integer.flatMap(read) }, write: { .integer(write($0)) })
  }

  /// A value that bytes spell: as many as told, or any number of them.
  public static func ofBytes(
    _ count: Int?, _ expected: String, _ read: @escaping @Sendable ([UInt8]) -> Value?,
    _ write: @escaping @Sendable (Value) -> [UInt8]
  ) -> RowKind {
    let shape = count.map(RowShape.fixed) ?? .bytes
    return RowKind(shape, expected, read: { $0.bytes.flatMap(read) }, write: { .bytes(write($0)) })
  }

  /// A value that a text spells.
  public static func ofText(
    _ expected: String, _ read: @escaping @Sendable (String) -> Value?,
    _ write: @escaping @Sendable (Value) -> String
  ) -> RowKind {
    RowKind(.text, expected, read: { $0.text.flatMap(read) }, write: { .text(write($0)) })
  }

  /// One that may not be there: empty bytes or texts between nodes, NULL or no row in a store.
  public static func optional<Wrapped>(_ kind: RowKind<Wrapped>) -> RowKind where Value == Wrapped? {
    RowKind(kind.shape, kind.expected) { value in
      value == .none || value == kind.shape.empty ? .some(nil) : kind.read(value).map(Optional.some)
    } write: {
      $0.map(kind.write) ?? .none
    }
  }
}

extension RowKind where Value: FixedWidthInteger & Sendable {
  /// A number of up to 32 bits that must be one of these; `what` says of what.
  public static func number(_ range: ClosedRange<Value>, _ what: String) -> RowKind {
    .ofInteger(
      Value.isSigned ? .i32 : .u32, "\(what) from \(range.lowerBound) to \(range.upperBound)",
      { Value(exactly: $0).flatMap { range.contains($0) ? $0 : nil } }, { Int64(clamping: $0) })
  }
}

extension RowKind<UInt32> {
  public static var u32: RowKind { .number(0...UInt32.max, "a number") }
}

extension RowKind<UInt64> {
  public static var u64: RowKind {
    .ofInteger(.i64, "a number", { UInt64(bitPattern: $0) }, { Int64(bitPattern: $0) })
  }
}

extension RowKind<Bool> {
  public static var flag: RowKind {
    .ofInteger(.u8, "0 or 1", { $0 == 0 || $0 == 1 ? $0 == 1 : nil }, { $0 ? 1 : 0 })
  }
}

extension RowKind where Value: RawRepresentable & Sendable, Value.RawValue == UInt8 {
  public static func word(_ expected: String) -> RowKind {
    .ofInteger(.u8, expected, { UInt8(exactly: $0).flatMap(Value.init(rawValue:)) }, { Int64($0.rawValue) })
  }
}

extension RowKind where Value: RowID {
  /// The number of a row, which only this process and its store know.
  public static var row: RowKind {
    .ofInteger(
      .i64, "a row", { Int32(exactly: $0).flatMap { $0 < 0 ? nil : Value(number: $0) } }, { Int64($0.number) }
    )
  }
}

extension RowKind<[UInt8]> {
  public static var bytes: RowKind { .ofBytes(nil, "bytes", { $0 }, { $0 }) }
}

extension RowKind<String> {
  public static var text: RowKind { .ofText("a text", { $0 }, { $0 }) }
}

// MARK: The words everybody shares

extension RowKind<Timestamp> {
  public static var time: RowKind {
    .ofInteger(.i64, "a time", { Timestamp(nanoseconds: $0) }, { $0.nanoseconds })
  }
}
