/// A value of the packed form, as far as somebody here wants to know it.
enum PackValue: Equatable {
  /// Data or text.
  case bytes(ArraySlice<UInt8>)
  /// An integer's magnitude, big-endian, shortest form first.
  case integer(ArraySlice<UInt8>, isNegative: Bool)
  case boolean(Bool)
  /// A dictionary or an array: what Apple's own services send upward, which nobody here looks into.
  case structure

  /// As an item of the plain form.
  func plain(command: UInt8, item: UInt8) throws(CourierProtocolError) -> [UInt8] {
    switch self {
    case .bytes(let bytes): return Array(bytes)
    case .boolean(let isTrue): return [isTrue ? 1 : 0]
    case .structure: return []
    case .integer(let magnitude, let isNegative):
      let digits = magnitude.drop { $0 == 0 }
      let width = PackItems.width(command: command, item: item) ?? max(1, digits.count)
      guard !isNegative, digits.count <= width else { throw .itemMalformed(item, length: digits.count) }
      return [UInt8](repeating: 0, count: width - digits.count) + digits
    }
  }
}
