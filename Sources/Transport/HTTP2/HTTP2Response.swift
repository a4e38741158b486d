import Basics
import CNghttp2
import PushModel

/// An answer to one request.
public struct HTTP2Response: Sendable {
  public static let explanationField = "apns-emulator-explanation"
  /// Most of an explanation that its field carries, in bytes: some clients have little room for header fields.
  private static let explanationLimit = 400

  public var status: Int
  /// Goes out as `idField` says: `apns-id`, or `apns-request-id` for channels.
  public var apnsID: APNSID?
  public var idField = ProviderField.apnsId
  /// Goes out as `apns-unique-id`; only the sandbox sends it (`Documentation/provider-api.md#response`).
  public var uniqueID: APNSID?
  /// Why the request was refused: goes out as `apns-emulator-explanation`, which Apple does not have.
  public var explanation: Explanation?
  /// Further fields, names in lower case. Characters that no field may hold are replaced on sending.
  public var fields: [(name: String, value: String)] = []
  /// JSON, or nothing. Kept, not copied, until it is sent.
  public var body: [UInt8]

  public init(status: Int, apnsID: APNSID? = nil, uniqueID: APNSID? = nil, body: [UInt8] = []) {
    (self.status, self.apnsID, self.uniqueID, self.body) = (status, apnsID, uniqueID, body)
  }

  /// The fields that are text.
  public var textFields: [(name: String, value: String)] {
    guard let explanation else { return fields }
    var buffer = ByteBuffer(capacity: 256)
    explanation.write(to: &buffer)
    buffer.makeVisible(limit: Self.explanationLimit)
    return fields + [(Self.explanationField, buffer.text)]
  }
}

/// The header fields of one answer on their way to nghttp2, which copies their values as it takes the answer. Used again for each
/// answer of a session.
struct HTTP2FieldList: ~Copyable {
  /// Most fields in one answer.
  private static let capacity = 32
  /// Where the text of values lies: two ids, then a status of three digits.
  private static let uniqueOffset = APNSID.textByteCount
  private static let statusOffset = 2 * APNSID.textByteCount

  let entries = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: capacity)
  private(set) var count = 0
  private let scratch = UnsafeMutableRawPointer.allocate(byteCount: statusOffset + 3, alignment: 8)
  /// Fields whose names are in the HPACK table, or were once.
  private var named: ProviderFieldSet = []

  deinit {
    entries.deallocate()
    scratch.deallocate()
  }

  /// The fields of an answer in their cheapest form, but for those that are text.
  mutating func set(_ response: HTTP2Response) {
    count = 0
    if response.status == 200 {
      add(.status, "200")
    } else {
      add(.status, digits(response.status), isIndexed: true)
    }
    if let id = response.apnsID { addID(response.idField, id, at: 0) }
    if let id = response.uniqueID { addID(.apnsUniqueId, id, at: Self.uniqueOffset) }
    if !response.body.isEmpty { add(.contentType, "application/json") }
  }

  /// Adds a field that is text.
  mutating func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) { append(name, value, 0) }

  /// Adds a field whose value no other answer has. Only the first goes into the HPACK table, for its name: others refer to
  /// that, which spares 16 bytes of an answer and their Huffman coding, 2 % of the instructions of a push.
  private mutating func addID(_ field: ProviderField, _ id: APNSID, at offset: Int) {
    // TODO(33)
    let room = UnsafeMutableRawBufferPointer(start: scratch + offset, count: APNSID.textByteCount)
    var output = unsafe OutputSpan(buffer: room.assumingMemoryBound(to: UInt8.self), initializedCount: 0)
    id.write(to: &output)
    _ = unsafe output.finalize(for: room.assumingMemoryBound(to: UInt8.self))
    let text = UnsafeRawBufferPointer(room)
    add(field, text, isIndexed: !named.contains(ProviderFieldSet(field)))
    named.insert(ProviderFieldSet(field))
  }

  private func digits(_ status: Int) -> UnsafeRawBufferPointer {
    let digits = scratch + Self.statusOffset
    for (index, scale) in [100, 10, 1].enumerated() {
      digits.storeBytes(
        of: 48 + UInt8(truncatingIfNeeded: status / scale % 10), toByteOffset: index, as: UInt8.self)
    }
    return UnsafeRawBufferPointer(start: digits, count: 3)
  }

  private mutating func add(_ field: ProviderField, _ value: StaticString) {
    add(
      field, UnsafeRawBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount), isIndexed: true)
  }

  /// Values that differ from answer to answer are kept out of the HPACK table.
  private mutating func add(_ field: ProviderField, _ value: UnsafeRawBufferPointer, isIndexed: Bool) {
    let name = field.name
    append(
      UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), value,
      NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | (isIndexed ? 0 : NGHTTP2_NV_FLAG_NO_INDEX.rawValue))
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
