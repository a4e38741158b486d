import Basics
import CNghttp2
import PushModel

/// The header fields of one message on their way to nghttp2, which copies them as it takes the message. Used again for the next.
struct HTTP2Fields: Sendable {
  private struct Place {
    /// A name that need not be copied; else it lies before the value.
    var field: ProviderField?
    var nameCount = 0
    var valueCount: Int
    /// Whether it goes into the HPACK table. What differs from message to message is kept out.
    var isIndexed: Bool
  }

  /// Names and values, one behind the other.
  private var bytes: [UInt8] = []
  private var places: [Place] = []

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }

  /// Adds a field whose value `write` appends.
  @inline(__always)
  mutating func add(_ field: ProviderField, isIndexed: Bool = true, _ write: (inout [UInt8]) -> Void) {
    let start = bytes.count
    write(&bytes)
    places.append(Place(field: field, valueCount: bytes.count - start, isIndexed: isIndexed))
  }

  /// Adds a field that is text: the name is put into lower case, and no recipient can misread the value.
  mutating func add(name: String, value: String) {
    let start = bytes.count
    bytes += name.lowercased().utf8
    let nameCount = bytes.count - start
    bytes += value.utf8.map { $0 >= 0x20 && $0 < 0x7f ? $0 : UInt8(ascii: "?") }
    places.append(
      Place(nameCount: nameCount, valueCount: bytes.count - start - nameCount, isIndexed: true))
  }

  /// Adds the fields of another list.
  mutating func add(_ other: HTTP2Fields) {
    bytes += other.bytes
    places += other.places
  }

  /// Lends them as nghttp2 has them.
  func withEntries<Answer>(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Answer) -> Answer {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: places.count) { entries in
        // nghttp2's type asks for mutable bytes; it does not change them.
        var end = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress)
        for (index, place) in places.enumerated() {
          let name = place.field?.name
          let value = unsafe end.map { unsafe $0 + place.nameCount }
          let flags = place.isIndexed ? NGHTTP2_NV_FLAG_NONE.rawValue : NGHTTP2_NV_FLAG_NO_INDEX.rawValue
          let known = name == nil ? NGHTTP2_NV_FLAG_NONE.rawValue : NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue
          unsafe entries.initializeElement(
            at: index,
            to: nghttp2_nv(
              name: unsafe name.map { unsafe UnsafeMutablePointer(mutating: $0.utf8Start) } ?? end,
              value: unsafe value,
              namelen: name?.utf8CodeUnitCount ?? place.nameCount, valuelen: place.valueCount,
              flags: UInt8(truncatingIfNeeded: flags | known)))
          unsafe end = unsafe value.map { unsafe $0 + place.valueCount }
        }
        return unsafe body(UnsafeBufferPointer(entries))
      }
    }
  }
}

/// All header fields of a client's requests but the path, laid out once and sent many times.
public struct HTTP2RequestHead: Sendable {
  private var pseudo = HTTP2Fields()
  private var fields = HTTP2Fields()

  /// The head of requests to `authority`. Names of `fields` are put into lower case.
  public init(method: String = "POST", authority: String, fields: [(name: String, value: String)] = []) {
    pseudo.add(name: ":method", value: method)
    pseudo.add(name: ":scheme", value: "https")
    pseudo.add(name: ":authority", value: authority)
    for field in fields { self.fields.add(name: field.name, value: field.value) }
  }

  /// Sets a list to the fields with `path` among them, which follows the other pseudo-fields.
  func write(to list: inout HTTP2Fields, path: String) {
    list.removeAll()
    list.add(pseudo)
    list.add(.path, isIndexed: false) { $0 += path.utf8 }
    list.add(fields)
  }
}
