import Capture

/// Where a push stands in the captures, in one word: file, line and place in its line. The tags of frames that share a
/// line follow each other.
struct ReplayTag {
  /// Bits of the place, and of the line; the file is above.
  private static let placeBits = 17
  private static let lineBits = 32

  let word: Int

  init(_ word: Int) { self.word = word }

  init(file: Int, _ entry: CaptureEntry) {
    word = (file << Self.lineBits | entry.line) << Self.placeBits | Int(entry.place)
  }

  /// Counted from 0.
  var file: Int { word >> (Self.placeBits + Self.lineBits) }
  /// Counted from 1.
  var line: Int { word >> Self.placeBits & (1 << Self.lineBits - 1) }
  /// Counted from 0.
  var place: Int { word & (1 << Self.placeBits - 1) }
}
