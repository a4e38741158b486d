import Commands
import Transport

/// The reader of an event stream: the same events in any segmentation, and a line for each that a terminal can show.
struct EventsFuzz: FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer) {
    var whole = EventStreamReader()
    let events = whole.take(Array(input))
    var reader = EventStreamReader()
    var inPieces: [EventStreamReader.Event] = []
    input.forEachPiece { inPieces += reader.take(Array($0)) }
    precondition(events == inPieces)
    for event in events {
      let line = EventLine.text(event)
      precondition(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f })
    }
  }
}
