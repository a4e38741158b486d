import Basics
import PushModel

/// Writes the lines of a capture, one whole line a call, into memory that it keeps for the next ones.
package final class CaptureEncoder {
  private let text: CaptureText
  private let alignment: Int
  private var start = 0

  /// Memory for lines begins at a multiple of `alignment` bytes.
  package init(alignment: Int = 16) {
    text = CaptureText(alignment: alignment)
    self.alignment = alignment
  }

  /// The lines since `removeAll`.
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: text.bytes[start...]) }

  /// Makes room for the next lines, which will lie in memory as they lie behind the first `size` bytes of a file: where
  /// the file has a multiple of the alignment, so does the memory.
  package func removeAll(forFileOf size: Int = 0) {
    text.removeAll()
    start = size % alignment
    _ = text.extend(atMost: start) { [start] _ in start }
  }

  /// The first line of a file.
  package func header(startedAt: Timestamp, software: String) {
    text.literal("{\"format\":")
    text.string(CaptureFormat.name)
    text.literal(",\"version\":")
    text.number(CaptureFormat.version)
    text.literal(",\"software\":")
    text.string(software)
    text.literal(",\"startedAt\":")
    text.string(startedAt.rfc3339)
    text.literal("}\n")
  }

  /// A connection that pushes may follow on.
  package func connection(_ connection: CapturedConnection, nanoseconds: Int64) {
    begin(nanoseconds, connection.number)
    text.literal(",\"interface\":")
    text.string(connection.interface.name)
    text.literal(",\"environment\":")
    text.string(connection.environment.name)
    if let topic = connection.topic {
      text.literal(",\"topic\":")
      text.string(topic)
    }
    text.literal("}\n")
  }

  /// Nothing follows on this connection.
  package func connectionClosed(_ number: UInt32, nanoseconds: Int64) {
    begin(nanoseconds, number)
    text.literal(",\"closed\":true}\n")
  }

  /// Pushes that could not be written.
  package func lost(_ count: Int, nanoseconds: Int64) {
    text.literal("{\"ns\":")
    text.number(nanoseconds)
    text.literal(",\"lost\":")
    text.number(count)
    text.literal("}\n")
  }

  /// A push over the binary gateway, malformed or not. `outcome` is nil for silence.
  @inline(__always)
  package func frame(
    _ frame: UnsafeRawBufferPointer, connection: UInt32, nanoseconds: Int64, outcome: CapturedOutcome?
  ) {
    begin(nanoseconds, connection)
    text.literal(",\"frame\":")
    text.base64(frame)
    if let outcome { self.outcome(outcome) }
    text.literal("}\n")
  }

  /// Frames that were accepted, one behind the other, each of which says how long it is: a line for each, or one for all
  /// if they are many.
  @inline(__always)
  package func frames(_ frames: UnsafeRawBufferPointer, count: Int, connection: UInt32, nanoseconds: Int64) {
    guard count >= CaptureFormat.sharedFrom else {
      return FrameExtent.forEach(in: frames, 0..<frames.count) { frame, _ in
        self.frame(frame, connection: connection, nanoseconds: nanoseconds, outcome: nil)
      }
    }
    begin(nanoseconds, connection)
    text.literal(",\"count\":")
    text.number(count)
    text.literal(",\"frames\":")
    text.base64(frames)
    text.literal("}\n")
  }

  /// A push over HTTP. `fields` is a `FieldBlock` in which `authorization` has no value; `authorization` is what
  /// stands for it.
  package func request(
    fields: UnsafeRawBufferPointer, authorization: String, body: UnsafeRawBufferPointer, connection: UInt32,
    nanoseconds: Int64, outcome: CapturedOutcome
  ) {
    begin(nanoseconds, connection)
    text.literal(",\"request\":{\"method\":")
    text.text(FieldBlock.value(of: ":method", in: fields))
    text.literal(",\"path\":")
    text.text(FieldBlock.value(of: ":path", in: fields))
    text.literal(",\"headers\":[")
    var authorization = authorization
    authorization.withUTF8 { headers(fields, UnsafeRawBufferPointer($0)) }
    text.literal("],\"body\":")
    text.base64(body)
    text.literal("}")
    self.outcome(outcome)
    text.literal("}\n")
  }

  @inline(__always)
  private func begin(_ nanoseconds: Int64, _ connection: UInt32) {
    text.literal("{\"ns\":")
    text.number(nanoseconds)
    text.literal(",\"connection\":")
    text.number(connection)
  }

  private func headers(_ fields: UnsafeRawBufferPointer, _ authorization: UnsafeRawBufferPointer) {
    var isFirst = true
    FieldBlock.forEach(in: fields) { name, value in
      if name.spells(":method") || name.spells(":path") { return }
      text.literal(isFirst ? "[" : ",[")
      isFirst = false
      string(name)
      text.literal(",")
      string(name.spells("authorization") ? authorization : value)
      text.literal("]")
    }
  }

  /// Text as it came; bytes that are not UTF-8 as `null` and base64, which only names and values of fields can be.
  private func string(_ value: UnsafeRawBufferPointer) {
    if JSONText.isPlain(value) {
      text.plainString(value)
    } else if String(validating: value, as: UTF8.self) != nil {
      text.string(value)
    } else {
      text.literal("null,")
      text.base64(value)
    }
  }

  private func outcome(_ outcome: CapturedOutcome) {
    text.literal(",\"outcome\":{\"status\":")
    text.number(outcome.status)
    if let reason = outcome.reason {
      text.literal(",\"reason\":")
      text.string(reason)
    }
    if let identifier = outcome.identifier {
      text.literal(",\"identifier\":")
      text.number(identifier)
    }
    if outcome.isClosed { text.literal(",\"closed\":true") }
    if let id = outcome.apnsID {
      text.literal(",\"apnsId\":")
      text.apnsID(id)
    }
    text.literal("}")
  }
}
