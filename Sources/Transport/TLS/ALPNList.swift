/// The list of protocol names in an ALPN offer: each a length byte and that many bytes (RFC 7301).
struct ALPNList {
  private(set) var names: [String] = []
  private var ranges: [Range<Int>] = []

  /// Reads as many whole names as there are.
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    var position = 0
    while position < bytes.count {
      let range = position + 1..<position + 1 + Int(bytes[position])
      guard range.upperBound <= bytes.count else { return }
      names.append(String(decoding: bytes[range], as: UTF8.self))
      ranges.append(range)
      position = range.upperBound
    }
  }

  func range(of name: String) -> Range<Int>? { names.firstIndex(of: name).map { ranges[$0] } }

  /// The offer that a client makes of `names`.
  static func encode(_ names: [String]) -> [UInt8] {
    names.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
  }
}
