import CNghttp2
import PushModel

/// All header fields of a client's requests but the path, laid out once and sent many times.
///
/// nghttp2 is given pointers into this object; each stream that uses it retains it until the stream closes.
public final class HTTP2RequestHead {
  private let bytes: UnsafeMutableRawBufferPointer
  private var entries: [nghttp2_nv] = []
  /// The path follows the three other pseudo-fields; its value is put in for each request.
  private static let pathIndex = 3

  /// The head of requests to `authority`. Names of `fields` are put into lower case.
  public init(method: String = "POST", authority: String, fields: [(name: String, value: String)] = []) {
    let pseudo = [(":method", method), (":scheme", "https"), (":authority", authority)]
    let text = HTTP2TextFields(pseudo.map { (name: $0.0, value: $0.1) } + fields)
    bytes = .allocate(byteCount: max(1, text.bytes.count), alignment: 1)
    bytes.copyBytes(from: text.bytes)
    let lent = UnsafeRawBufferPointer(bytes)
    entries = text.places.map {
      .lending(
        UnsafeRawBufferPointer(rebasing: lent[$0.name.lowerBound..<$0.value.upperBound]),
        nameCount: $0.name.count)
    }
    entries.insert(.emptyPath, at: Self.pathIndex)
  }

  deinit { bytes.deallocate() }

  /// Lends the fields with `path` among them.
  func withFields(path: String, _ body: (UnsafePointer<nghttp2_nv>, Int) -> Void) {
    var path = path
    path.withUTF8 { path in
      entries[Self.pathIndex].value = UnsafeMutablePointer(mutating: path.baseAddress)
      entries[Self.pathIndex].valuelen = path.count
      entries.withUnsafeBufferPointer { entries in
        if let base = entries.baseAddress { body(base, entries.count) }
      }
    }
  }
}

extension nghttp2_nv {
  /// A field whose bytes stay in place: the name directly followed by the value.
  fileprivate static func lending(_ bytes: UnsafeRawBufferPointer, nameCount: Int) -> nghttp2_nv {
    let base = UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    return nghttp2_nv(
      name: base, value: base.map { $0 + nameCount }, namelen: nameCount, valuelen: bytes.count - nameCount,
      flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue))
  }

  /// nghttp2 copies the value of this one.
  fileprivate static var emptyPath: nghttp2_nv {
    let name = ProviderField.path.name
    return nghttp2_nv(
      name: UnsafeMutablePointer(mutating: name.utf8Start), value: nil, namelen: name.utf8CodeUnitCount,
      valuelen: 0, flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_INDEX.rawValue))
  }
}

/// Fields given as text, laid out in one run of bytes that no recipient can misread.
struct HTTP2TextFields {
  private(set) var bytes: [UInt8] = []
  /// Each value follows its name.
  private(set) var places: [(name: Range<Int>, value: Range<Int>)] = []

  init(_ fields: [(name: String, value: String)]) {
    for field in fields {
      let start = bytes.count
      bytes += field.name.lowercased().utf8
      let nameEnd = bytes.count
      bytes += field.value.utf8.map { $0 >= 0x20 && $0 < 0x7f ? $0 : UInt8(ascii: "?") }
      places.append((start..<nameEnd, nameEnd..<bytes.count))
    }
  }

  /// Lends all names and values for the call.
  func withFields(_ body: ([(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)]) -> Void) {
    bytes.withUnsafeBytes { bytes in
      body(
        places.map {
          (
            UnsafeRawBufferPointer(rebasing: bytes[$0.name]),
            UnsafeRawBufferPointer(rebasing: bytes[$0.value])
          )
        })
    }
  }
}
