import CNghttp2
import PushModel

/// The header fields of one message on their way to nghttp2. Used again for each message of a session.
///
/// Names and values are lent pointers. nghttp2 copies a value only if it was added by `addCopied`; the others must
/// stay where they are until the frame has been sent or its stream has closed.
struct HTTP2FieldList: ~Copyable {
  /// Most fields in one message of ours.
  static let capacity = 32

  let entries = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: capacity)
  private(set) var count = 0
  /// Fields whose names are in the HPACK table, or were once.
  private var named: ProviderFieldSet = []

  deinit { entries.deallocate() }

  mutating func removeAll() { count = 0 }

  /// Adds a field of the table. Values that differ from message to message are kept out of the HPACK table.
  mutating func add(_ field: ProviderField, _ value: UnsafeRawBufferPointer, isIndexed: Bool) {
    add(name: field.name, value, isIndexed: isIndexed)
  }

  /// Adds a field whose value no other message has. Only the first goes into the HPACK table, for its name: others refer to
  /// that, which spares 16 bytes of an answer and their Huffman coding, 2 % of the instructions of a push.
  mutating func addID(_ field: ProviderField, _ value: UnsafeRawBufferPointer) {
    add(field, value, isIndexed: !named.contains(ProviderFieldSet(field)))
    named.insert(ProviderFieldSet(field))
  }

  /// Adds a field that is none of Apple's.
  mutating func add(name: StaticString, _ value: UnsafeRawBufferPointer, isIndexed: Bool) {
    let pointer = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    let flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
    append(pointer, value, flags | (isIndexed ? 0 : NGHTTP2_NV_FLAG_NO_INDEX.rawValue))
  }

  mutating func add(_ field: ProviderField, _ value: StaticString) {
    add(
      field, UnsafeRawBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount), isIndexed: true)
  }

  /// Adds a field whose bytes need to stay only until the message is submitted.
  mutating func addCopied(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    append(name, value, 0)
  }

  private mutating func append(
    _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ flags: UInt32
  ) {
    guard count < Self.capacity else { return }
    entries[count] = nghttp2_nv(
      name: Self.bytes(name), value: Self.bytes(value), namelen: name.count, valuelen: value.count,
      flags: UInt8(truncatingIfNeeded: flags))
    count += 1
  }

  /// nghttp2's type asks for mutable bytes; it does not change them.
  private static func bytes(_ buffer: UnsafeRawBufferPointer) -> UnsafeMutablePointer<UInt8>? {
    UnsafeMutablePointer(mutating: buffer.baseAddress?.assumingMemoryBound(to: UInt8.self))
  }
}

/// Fields given as text, laid out in one run of bytes that no recipient can misread.
struct HTTP2TextFields {
  private var bytes: [UInt8] = []
  private var ends: [(name: Int, value: Int)] = []

  var byteCount: Int { bytes.count }

  init(_ fields: [(name: String, value: String)]) {
    for field in fields {
      bytes += field.name.lowercased().utf8
      let nameEnd = bytes.count
      bytes += field.value.utf8.map { $0 >= 0x20 && $0 < 0x7f ? $0 : UInt8(ascii: "?") }
      ends.append((nameEnd, bytes.count))
    }
  }

  /// Lends all names and values for the call.
  func withFields(_ body: ([(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)]) -> Void) {
    bytes.withUnsafeBytes { bytes in
      var start = 0
      let fields = ends.map { end in
        defer { start = end.value }
        return (
          name: UnsafeRawBufferPointer(rebasing: bytes[start..<end.name]),
          value: UnsafeRawBufferPointer(rebasing: bytes[end.name..<end.value])
        )
      }
      body(fields)
    }
  }
}
