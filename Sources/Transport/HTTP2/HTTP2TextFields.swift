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
