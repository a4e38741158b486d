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
  mutating func write(_ hash: TopicHash) { bytes.append(contentsOf: hash.bytes) }
}

/// Reads what `StateWriter` has written.
struct StateCursor {
  /// What was read is not what any version of ours has written.
  struct Damage: Error, Equatable, CustomStringConvertible {
    let description: String
  }

  private let bytes: UnsafeRawBufferPointer
  private(set) var position = 0

  /// Reads bytes that are lent for as long as this is used.
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

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

  /// A number that must be one of these; `what` says of what.
  mutating func integer<Value: FixedWidthInteger>(
    in range: ClosedRange<Value>, _ what: String
  ) throws(Damage) -> Value {
    let read = try integer(Value.self)
    guard range.contains(read) else {
      throw Damage(
        description:
          "expected \(what) from \(range.lowerBound) to \(range.upperBound) before \(position), got \(read)")
    }
    return read
  }

  /// A number that a log has counted, which is counted on from.
  mutating func countedNumber(_ what: String) throws(Damage) -> UInt64 {
    try integer(in: 0...UInt64(CountedNumber.limit), what)
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

  mutating func text() throws(Damage) -> String {
    let start = position
    guard let text = String(validating: try counted(), as: UTF8.self) else {
      throw Damage(description: "expected UTF-8 at \(start)")
    }
    return text
  }

  mutating func token() throws(Damage) -> DeviceToken {
    DeviceToken(loadingFrom: try take(DeviceToken.byteCount).baseAddress.unsafelyUnwrapped)
  }

  mutating func topicHash() throws(Damage) -> TopicHash {
    try value(TopicHash(try take(TopicHash.byteCount)), "a topic's hash")
  }

  /// What a failable initializer made of what was read.
  func value<Value>(_ value: Value?, _ what: String) throws(Damage) -> Value {
    guard let value else { throw Damage(description: "expected \(what) before \(position)") }
    return value
  }
}
