import Basics
import PushModel

/// What one line says, in whatever order it says it.
struct LineReading {
  private let line: Int
  private var nanoseconds: Int64 = 0
  private var connection: UInt32?
  private var frame: CaptureEntry.Piece?
  private var frames: CaptureEntry.Piece?
  private var count: Int64?
  private var request: CaptureEntry?
  private var outcome: CapturedOutcome?
  private var isClosed = false
  private var lost: Int64?
  private var interface: Interface?
  private var environment: Environment?
  private var topic: String?
  private var startedAt: String?
  private var format: String?
  private var version: Int64?

  init(line: Int) { self.line = line }

  var isHeader: Bool { format != nil }

  // MARK: Members

  @inline(__always)
  mutating func read(_ cursor: inout JSONCursor, into batch: inout CaptureBatch) throws(JSONSurprise) {
    try cursor.members { name, cursor throws(JSONSurprise) in try member(name, &cursor, &batch) }
  }

  @inline(__always)
  private mutating func member(
    _ name: JSONString, _ cursor: inout JSONCursor, _ batch: inout CaptureBatch
  ) throws(JSONSurprise) {
    if name.spells("ns") {
      nanoseconds = try cursor.whole(upTo: .max)
    } else if name.spells("connection") {
      connection = UInt32(truncatingIfNeeded: try cursor.whole(upTo: Int64(UInt32.max)))
    } else if name.spells("frame") {
      frame = try cursor.base64(into: &batch.text)
    } else {
      try rareMember(name, &cursor, &batch)
    }
  }

  private mutating func rareMember(
    _ name: JSONString, _ cursor: inout JSONCursor, _ batch: inout CaptureBatch
  ) throws(JSONSurprise) {
    switch name.text {
    case "frames": frames = try cursor.base64(into: &batch.text)
    case "count": count = try cursor.whole(upTo: Int64(Int32.max))
    case "request": request = try cursor.request(into: &batch.text)
    case "outcome": outcome = try cursor.outcome()
    case "closed": isClosed = try cursor.boolean()
    case "lost": lost = try cursor.whole(upTo: Int64(Int32.max))
    case "interface":
      interface = try cursor.named("gateway, provider or console") { name in
        Interface.allCases.first { $0.name == name }
      }
    case "environment": environment = try cursor.named("sandbox or production") { Environment(name: $0) }
    case "topic": topic = try cursor.string().text
    case "format": format = try cursor.named(CaptureFormat.name) { $0 == CaptureFormat.name ? $0 : nil }
    case "version": version = try cursor.whole(upTo: Int64(Int32.max))
    case "startedAt": startedAt = try cursor.string().text
    default: try cursor.skipUnknown()
    }
  }

  // MARK: The line

  /// What the members make.
  @inline(__always)
  func entry(in batch: inout CaptureBatch) throws(CaptureError) -> CaptureEntry {
    guard let frame, let connection else { return try rareEntry(in: &batch) }
    var entry = CaptureEntry(kind: .frame, line: line, nanoseconds: nanoseconds, connection: connection)
    entry.content = frame
    if let outcome { entry.detail = Self.add(outcome, to: &batch) }
    return entry
  }

  private func rareEntry(in batch: inout CaptureBatch) throws(CaptureError) -> CaptureEntry {
    var entry = CaptureEntry(kind: .lost, line: line, nanoseconds: nanoseconds)
    if isHeader {
      guard let version, version <= CaptureFormat.version else {
        throw wrong("\"version\":\(CaptureFormat.version)", version.map { "version \($0)" } ?? "none")
      }
      entry.kind = .header
      entry.detail = Int32(batch.starts.count)
      batch.starts.append(startedAt ?? "")
      return entry
    }
    if let lost {
      entry.detail = Int32(truncatingIfNeeded: lost)
      return entry
    }
    guard let connection else {
      throw wrong("\"connection\", or a header", "neither")
    }
    return try connectionEntry(connection, in: &batch)
  }

  private func connectionEntry(_ connection: UInt32, in batch: inout CaptureBatch) throws(CaptureError)
    -> CaptureEntry
  {
    if var entry = request {
      (entry.line, entry.nanoseconds, entry.connection) = (line, nanoseconds, connection)
      guard let outcome else { throw wrong("the outcome of a request", "none") }
      entry.detail = Self.add(outcome, to: &batch)
      return entry
    }
    var entry = CaptureEntry(kind: .closed, line: line, nanoseconds: nanoseconds, connection: connection)
    if isClosed { return entry }
    if let frames { return try sharedEntry(frames, entry, in: &batch) }
    guard let interface, let environment else {
      throw wrong("\"frame\", \"request\", \"closed\", or \"interface\" and \"environment\"", "none of them")
    }
    entry.kind = .opened
    entry.detail = Int32(batch.connections.count)
    batch.connections.append(
      CapturedConnection(number: connection, interface: interface, environment: environment, topic: topic))
    return entry
  }

  private func sharedEntry(_ frames: CaptureEntry.Piece, _ entry: CaptureEntry, in batch: inout CaptureBatch)
    throws(CaptureError) -> CaptureEntry
  {
    guard let count, count > 0 else { throw wrong("the count of frames that share a line", "none") }
    let found = batch.text.count(framesIn: frames)
    guard found == Int(count) else {
      throw wrong("\(count) whole frames", found.map { "\($0)" } ?? "something else among them")
    }
    var entry = entry
    (entry.kind, entry.content, entry.frames) = (.frame, frames, Int32(truncatingIfNeeded: count))
    return entry
  }

  private static func add(_ outcome: CapturedOutcome, to batch: inout CaptureBatch) -> Int32 {
    batch.outcomes.append(outcome)
    return Int32(batch.outcomes.count - 1)
  }

  private func wrong(_ expected: String, _ got: String) -> CaptureError {
    CaptureError(line: line, expected: expected, got: got)
  }
}
