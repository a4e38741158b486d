/// Whether bytes are UTF-8.
enum UTF8Text {
  /// The place of the first byte that is no part of a character; nil if all are.
  static func firstInvalid(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard let first = bytes.firstIndex(where: { $0 >= 0x80 }) else { return nil }
    var rest = bytes[first...].makeIterator()
    var (decoder, place) = (UTF8(), first)
    while true {
      switch decoder.decode(&rest) {
      case .scalarValue(let scalar): place += UTF8.width(scalar)
      case .emptyInput: return nil
      case .error: return place
      }
    }
  }
}
