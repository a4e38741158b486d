import Basics
import Broker
import PushModel

/// Writes what a zone's log says of its state. Integers are big endian; texts and bytes have their length before them.
struct StateWriter {
  var bytes: [UInt8] = []

  /// `capacity` is in bytes: fewer are written without moving any.
  init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  mutating func write<Value: FixedWidthInteger>(_ value: Value) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }
  mutating func write(_ time: Timestamp) { write(time.nanoseconds) }

  /// At most 65,535 bytes.
  mutating func write(_ value: some Collection<UInt8>) {
    precondition(value.count <= UInt16.max, "names and payloads are shorter")
    write(UInt16(value.count))
    bytes.append(contentsOf: value)
  }

  mutating func write(_ text: String) { write(text.utf8) }
  mutating func write(_ token: DeviceToken) { token.withUnsafeBytes { bytes.append(contentsOf: $0) } }

  /// All that other nodes are told of a row.
  mutating func write<Row>(_ row: Row, _ form: RowForm<Row>) {
    for field in form.told { write(field.write(row), field.shape) }
  }

  private mutating func write(_ value: RowValue, _ shape: RowShape) {
    switch (shape, value) {
    case (.u8, .integer(let number)): write(UInt8(truncatingIfNeeded: number))
    case (.u32, .integer(let number)), (.i32, .integer(let number)): write(UInt32(truncatingIfNeeded: number))
    case (.i64, .integer(let number)): write(number)
    case (.fixed, .bytes(let value)): bytes += value
    case (.bytes, .bytes(let value)): write(value)
    case (.text, .text(let value)): write(value)
    // There is none.
    default: write(0 as UInt16)
    }
  }
}

/// Reads what `StateWriter` has written.
package struct StateCursor {
  /// What was read is not what any version of ours has written.
  package struct Damage: Error, Equatable, CustomStringConvertible {
    package let description: String
  }

  private let bytes: UnsafeRawBufferPointer
  private(set) var position = 0

  /// Reads bytes that are lent for as long as this is used.
  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  package var isAtEnd: Bool { position == bytes.count }

  mutating func take(_ count: Int) throws(Damage) -> UnsafeRawBufferPointer {
    guard bytes.count - position >= count else {
      throw Damage(description: "expected \(count) bytes at \(position), got \(bytes.count - position)")
    }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
  }

  mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(Damage) -> Value {
    Value(bigEndian: try take(MemoryLayout<Value>.size).loadUnaligned(as: Value.self))
  }

  mutating func flag() throws(Damage) -> Bool {
    switch try integer(UInt8.self) {
    case 0: false
    case 1: true
    case let other: throw Damage(description: "expected 0 or 1 before \(position), got \(other)")
    }
  }

  mutating func time() throws(Damage) -> Timestamp { Timestamp(nanoseconds: try integer()) }

  /// Bytes with their length before them.
  mutating func counted() throws(Damage) -> UnsafeRawBufferPointer { try take(Int(try integer(UInt16.self))) }

  package mutating func text() throws(Damage) -> String {
    let start = position
    guard let text = String(validating: try counted(), as: UTF8.self) else {
      throw Damage(description: "expected UTF-8 at \(start)")
    }
    return text
  }

  package mutating func token() throws(Damage) -> DeviceToken {
    DeviceToken(loadingFrom: try take(DeviceToken.byteCount).baseAddress.unsafelyUnwrapped)
  }

  /// What `write` has told of a row, in the place of what is `blank`.
  mutating func row<Row>(_ form: RowForm<Row>, _ blank: Row) throws(Damage) -> Row {
    var row = blank
    for field in form.told {
      let found = try value(field.shape)
      guard field.read(found, &row) else {
        // Bytes and texts may be what nobody else is to read.
        let got = if case .integer(let number) = found { ", got \(number)" } else { "" }
        throw Damage(description: "expected \(field.expected) before \(position)\(got)")
      }
    }
    return row
  }

  private mutating func value(_ shape: RowShape) throws(Damage) -> RowValue {
    switch shape {
    case .u8: .integer(Int64(try integer(UInt8.self)))
    case .u32: .integer(Int64(try integer(UInt32.self)))
    case .i32: .integer(Int64(try integer(Int32.self)))
    case .i64: .integer(try integer())
    case .fixed(let count): .bytes(Array(try take(count)))
    case .bytes: .bytes(Array(try counted()))
    case .text: .text(try text())
    }
  }

  /// What a failable initializer made of what was read.
  func require<Value>(_ value: Value?, _ what: String) throws(Damage) -> Value {
    guard let value else { throw Damage(description: "expected \(what) before \(position)") }
    return value
  }
}
