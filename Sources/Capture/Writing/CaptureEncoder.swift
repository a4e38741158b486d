import Basics
import PushModel

/// Writes the lines of a capture, one whole line a call, into memory that it keeps for the next ones.
public struct CaptureEncoder: ~Copyable {
  /// Grows in large steps: what is copied is touched twice, what is never reached is never touched.
  private var text: ByteBuffer
  private let alignment: Int
  private var start = 0

  /// Memory for lines begins at a multiple of `alignment` bytes.
  public init(alignment: Int = 16) {
    text = ByteBuffer(capacity: 1 << 16, growingBy: 8, alignment: alignment)
    self.alignment = alignment
  }

  /// The lines since `removeAll`.
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self) get { text.span.dropping(start) }
  }

  /// Makes room for the next lines, which will lie in memory as they lie behind the first `size` bytes of a file: where
  /// the file has a multiple of the alignment, so does the memory.
  public mutating func removeAll(forFileOf size: Int = 0) {
    text.removeAll()
    start = size % alignment
    text.append(atMost: start) { [start] in $0.append(repeating: 0, count: start) }
  }

  /// The first line of a file.
  public mutating func header(startedAt: Timestamp, software: String) {
    add("{\"format\":", CaptureFormat.name)
    add(",\"version\":", Int64(CaptureFormat.version))
    add(",\"software\":", software)
    add(",\"startedAt\":", startedAt.rfc3339)
    text.append(json: "}\n")
  }

  /// A connection that pushes may follow on.
  public mutating func connection(_ connection: CapturedConnection, nanoseconds: Int64) {
    begin(nanoseconds, connection.number)
    add(",\"interface\":", connection.interface.name)
    add(",\"environment\":", connection.environment.name)
    if let topic = connection.topic {
      add(",\"topic\":", topic)
    }
    text.append(json: "}\n")
  }

  /// Nothing follows on this connection.
  public mutating func connectionClosed(_ number: UInt32, nanoseconds: Int64) {
    begin(nanoseconds, number)
    text.append(json: ",\"closed\":true}\n")
  }

  /// Pushes that could not be written.
  public mutating func lost(_ count: Int, nanoseconds: Int64) {
    add("{\"ns\":", nanoseconds)
    add(",\"lost\":", Int64(count))
    text.append(json: "}\n")
  }

  /// A push over the binary gateway, malformed or not. `outcome` is nil for silence.
  @inline(__always)
  public mutating func frame(
    _ frame: Span<UInt8>, connection: UInt32, nanoseconds: Int64, outcome: CapturedOutcome?
  ) {
    begin(nanoseconds, connection)
    text.append(json: ",\"frame\":")
    text.append(jsonBase64: frame)
    if let outcome { self.outcome(outcome) }
    text.append(json: "}\n")
  }

  /// Frames that were accepted, one behind the other, each of which says how long it is: a line for each, or one for all
  /// if they are many.
  @inline(__always)
  public mutating func frames(_ frames: Span<UInt8>, count: Int, connection: UInt32, nanoseconds: Int64) {
    guard count >= CaptureFormat.sharedFrom else {
      return FrameExtent.forEach(in: frames, 0..<frames.count) { frame, _ in
        self.frame(frame, connection: connection, nanoseconds: nanoseconds, outcome: nil)
      }
    }
    begin(nanoseconds, connection)
    add(",\"count\":", Int64(count))
    text.append(json: ",\"frames\":")
    text.append(jsonBase64: frames)
    text.append(json: "}\n")
  }

  /// A push over HTTP. `fields` is a `FieldBlock` in which `authorization` has no value; `authorization` is what
  /// stands for it.
  public mutating func request(
    fields: Span<UInt8>, authorization: String, body: Span<UInt8>, connection: UInt32,
    nanoseconds: Int64, outcome: CapturedOutcome
  ) {
    begin(nanoseconds, connection)
    text.append(json: ",\"request\":{\"method\":")
    repaired(FieldBlock.value(of: ":method", in: fields))
    text.append(json: ",\"path\":")
    repaired(FieldBlock.value(of: ":path", in: fields))
    text.append(json: ",\"headers\":[")
    headers(fields, Array(authorization.utf8).span)
    text.append(json: "],\"body\":")
    text.append(jsonBase64: body)
    text.append(json: "}")
    self.outcome(outcome)
    text.append(json: "}\n")
  }

  /// A member, with what stands before it.
  @inline(__always)
  private mutating func add(_ name: StaticString, _ number: Int64) {
    text.append(json: name)
    text.append(number)
  }

  private mutating func add(_ name: StaticString, _ value: String) {
    text.append(json: name)
    text.append(jsonString: value)
  }

  @inline(__always)
  private mutating func begin(_ nanoseconds: Int64, _ connection: UInt32) {
    add("{\"ns\":", nanoseconds)
    add(",\"connection\":", Int64(connection))
  }

  private mutating func headers(_ fields: Span<UInt8>, _ authorization: Span<UInt8>) {
    var isFirst = true
    FieldBlock.forEach(in: fields) { name, value in
      if name.spells(":method") || name.spells(":path") { return }
      text.append(json: isFirst ? "[" : ",[")
      isFirst = false
      string(name)
      text.append(json: ",")
      string(name.spells("authorization") ? authorization : value)
      text.append(json: "]")
    }
  }

  /// Text as it came; what is no UTF-8 is made good.
  private mutating func repaired(_ value: Span<UInt8>) {
    if JSONText.isPlain(value) {
      text.append(jsonString: value)
    } else {
      text.append(jsonString: value.text)
    }
  }

  /// Text as it came; bytes that are not UTF-8 as `null` and base64, which only names and values of fields can be.
  private mutating func string(_ value: Span<UInt8>) {
    if JSONText.isPlain(value) || String(validating: Array(value), as: UTF8.self) != nil {
      text.append(jsonString: value)
    } else {
      text.append(json: "null,")
      text.append(jsonBase64: value)
    }
  }

  private mutating func outcome(_ outcome: CapturedOutcome) {
    add(",\"outcome\":{\"status\":", Int64(outcome.status))
    if let reason = outcome.reason {
      add(",\"reason\":", reason)
    }
    if let identifier = outcome.identifier {
      add(",\"identifier\":", Int64(identifier))
    }
    if outcome.isClosed { text.append(json: ",\"closed\":true") }
    if let id = outcome.apnsID {
      text.append(json: ",\"apnsId\":")
      text.append(jsonString: id.description)
    }
    text.append(json: "}")
  }
}
