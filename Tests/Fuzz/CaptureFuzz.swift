import Basics
import Capture

/// The reader of captures: no bytes trap it, and a file cut anywhere is the same file.
struct CaptureFuzz: FuzzTarget {
  private let header = Array("{\"format\":\"apns-emulator-capture\",\"version\":1}\n".utf8)

  func take(_ input: UnsafeRawBufferPointer) {
    var (whole, inPieces) = (CaptureBatch(), CaptureBatch())
    let first = outcome(&whole) { reader, batch in try unsafe reader.receive(input.span, into: &batch) }
    let second = outcome(&inPieces) { reader, batch in
      var failure: (any Error)?
      input.forEachPiece { piece in
        guard failure == nil else { return }
        do { try unsafe reader.receive(piece.span, into: &batch) } catch { failure = error }
      }
      if let failure { throw failure }
    }
    precondition(first == second)
    guard first == nil else { return }
    precondition(whole.entries.count == inPieces.entries.count)
    for (one, other) in zip(whole.entries, inPieces.entries) {
      precondition(whole.content(one).hasSameBytes(as: inPieces.content(other)))
      precondition(whole.fields(one).hasSameBytes(as: inPieces.fields(other)))
    }
  }

  private func outcome(
    _ batch: inout CaptureBatch, _ body: (inout CaptureReader, inout CaptureBatch) throws -> Void
  ) -> String? {
    var reader = CaptureReader()
    do {
      try reader.receive(header.span, into: &batch)
      try body(&reader, &batch)
      try reader.finish()
      return nil
    } catch {
      return "\(error)"
    }
  }
}
