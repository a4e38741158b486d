import Basics

/// Reads one capture file, cut anywhere, line by line. Owns at most one line that has not come whole.
///
///     header expected ──header──→ lines ──end──→ done (a last line that is torn is left out)
///           └──anything else──→ CaptureError
public struct CaptureReader {
  private static let newline = UInt8(ascii: "\n")

  private var partial: [UInt8] = []
  private var line = 0
  private var hasHeader = false
  private let leavesTogether: Bool
  /// The file ended amid a line, as it does when its writer was killed.
  public private(set) var endedTorn = false

  /// With `leavesTogether`, frames that share a line make one entry.
  public init(leavesTogether: Bool = false) { self.leavesTogether = leavesTogether }

  /// Adds the lines that `bytes` complete to the batch.
  public mutating func receive(_ bytes: Span<UInt8>, into batch: inout CaptureBatch)
    throws(CaptureError)
  {
    guard let last = bytes.lastPlace(of: Self.newline) else { return try hold(bytes) }
    var rest = bytes
    if !partial.isEmpty {
      let first = bytes.place(of: Self.newline)
      partial.append(bytes.prefix(first + 1))
      try readHeld(into: &batch)
      rest = bytes.dropping(first + 1)
      if first == last { return try hold(rest) }
    }
    let whole = last + 1 - (bytes.count - rest.count)
    try readLines(rest.prefix(whole), into: &batch)
    try hold(rest.dropping(whole))
  }

  /// The file is at its end.
  public mutating func finish() throws(CaptureError) {
    endedTorn = !partial.isEmpty
    guard hasHeader else { throw noHeader(endedTorn ? "an incomplete line" : "an empty file") }
  }

  private mutating func readHeld(into batch: inout CaptureBatch) throws(CaptureError) {
    var whole: [UInt8] = []
    swap(&whole, &partial)
    defer {
      whole.removeAll(keepingCapacity: true)
      swap(&whole, &partial)
    }
    try readLines(whole.span, into: &batch)
  }

  private mutating func hold(_ bytes: Span<UInt8>) throws(CaptureError) {
    partial.append(bytes)
    guard partial.count <= CaptureFormat.lineLimit else {
      throw CaptureError(
        line: line + 1, expected: "a line of at most \(CaptureFormat.lineLimit) bytes", got: "a longer one")
    }
  }

  private func noHeader(_ got: String) -> CaptureError {
    CaptureError(
      line: max(1, line), expected: "a header with \"format\":\"\(CaptureFormat.name)\"", got: got)
  }

  // MARK: Lines

  private mutating func readLines(_ bytes: Span<UInt8>, into batch: inout CaptureBatch)
    throws(CaptureError)
  {
    var position = 0
    while position < bytes.count {
      line += 1
      if hasHeader {
        var walk = JSONCursor(bytes, from: position)
        if let entry = walk.frameLine(line, into: &batch.text) {
          add(entry, to: &batch)
          position = walk.position
          continue
        }
      }
      let end = bytes.place(of: Self.newline, from: position)
      var cursor = JSONCursor(bytes.extracting(position..<end))
      try readLine(&cursor, into: &batch)
      position = end + 1
    }
  }

  private mutating func readLine(_ cursor: inout JSONCursor, into batch: inout CaptureBatch)
    throws(CaptureError)
  {
    cursor.skipBlanks()
    if cursor.isAtEnd, hasHeader { return }
    var reading = LineReading(line: line)
    do throws(JSONSurprise) {
      try reading.read(&cursor, into: &batch)
      cursor.skipBlanks()
      guard cursor.isAtEnd else { throw cursor.unexpected("the end of the line") }
    } catch {
      let found = cursor.found(at: error.position) ?? "the end of the line"
      throw hasHeader ? CaptureError(line: line, expected: error.expected, got: found) : noHeader(found)
    }
    if !hasHeader, !reading.isHeader { throw noHeader("a line without it") }
    hasHeader = true
    add(try reading.entry(in: &batch), to: &batch)
  }

  @inline(__always)
  private func add(_ entry: CaptureEntry, to batch: inout CaptureBatch) {
    if entry.frames == 1 || leavesTogether { batch.entries.append(entry) } else { batch.addParted(entry) }
  }
}
