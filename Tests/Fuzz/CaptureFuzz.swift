import Basics
import Capture

/// The reader of captures: no bytes trap it, and a file cut anywhere is the same file.
struct CaptureFuzz: FuzzTarget {
  private let header = Array("{\"format\":\"apns-emulator-capture\",\"version\":1}\n".utf8)

  func take(_ input: UnsafeRawBufferPointer) {
    let (whole, inPieces) = (CaptureBatch(), CaptureBatch())
    let first = outcome(whole) { reader in try reader.receive(input, into: whole) }
    let second = outcome(inPieces) { reader in
      var failure: (any Error)?
      input.forEachPiece { piece in
        guard failure == nil else { return }
        do { try reader.receive(piece, into: inPieces) } catch { failure = error }
      }
      if let failure { throw failure }
    }
    precondition(first == second)
    guard first == nil else { return }
    precondition(whole.entries.count == inPieces.entries.count)
    for (one, other) in zip(whole.entries, inPieces.entries) {
      precondition(whole.content(one).elementsEqual(inPieces.content(other)))
      precondition(whole.fields(one).elementsEqual(inPieces.fields(other)))
    }
  }

  private func outcome(_ batch: CaptureBatch, _ body: (inout CaptureReader) throws -> Void) -> String? {
    var reader = CaptureReader()
    do {
      try header.withUnsafeBytes { try reader.receive($0, into: batch) }
      try body(&reader)
      try reader.finish()
      return nil
    } catch {
      return "\(error)"
    }
  }
}
