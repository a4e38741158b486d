import Basics
import Broker
import Zones

/// One message of the stream that keeps a zone's snapshots: a piece of its state, or the end of one, which makes the pieces count.
///
///     version u8 = 1 | kind u8 | snapshot u64 | end of the last whole one u64 | body
package struct SnapshotMessage: Equatable {
  package enum Body: Equatable {
    case piece([UInt8])
    case end(SnapshotEnd)
  }

  private static let version: UInt8 = 1

  /// Tells the pieces of one snapshot from those of another that was given up.
  package var snapshot: UInt64
  /// Where the last whole one ends; 0 for none.
  package var previousEnd: UInt64
  package var body: Body

  package var encoded: [UInt8] {
    switch body {
    case .piece(let bytes): return head(1).bytes + bytes
    case .end(let end):
      var out = head(2)
      out.write(end, SnapshotEnd.form)
      return out.bytes
    }
  }

  private func head(_ kind: UInt8) -> StateWriter {
    var out = StateWriter()
    out.bytes = [Self.version, kind]
    out.write(snapshot)
    out.write(previousEnd)
    return out
  }

  package init(snapshot: UInt64, previousEnd: UInt64, _ body: Body) {
    (self.snapshot, self.previousEnd, self.body) = (snapshot, previousEnd, body)
  }

  /// Whether bytes are nothing that a node of any version has written; as for records of zones, no version will be higher than 31.
  static func isForeign(_ bytes: [UInt8]) -> Bool {
    bytes.first.map { !(version...maximalVersion).contains($0) } ?? true
  }
  private static let maximalVersion: UInt8 = 31

  package init(_ bytes: [UInt8]) throws(StateCursor.Damage) {
    var cursor = StateCursor(bytes.span)
    let version = try cursor.integer(UInt8.self)
    guard version == Self.version else {
      throw StateCursor.Damage(
        description:
          "it may be of another version of apns-emulator: expected version \(Self.version), got \(version)")
    }
    let kind = try cursor.integer(UInt8.self)
    (snapshot, previousEnd) = (try cursor.integer(), try cursor.integer())
    switch kind {
    case 1: body = .piece(Array(try cursor.take(bytes.count - cursor.position)))
    case 2: body = .end(try cursor.row(SnapshotEnd.form, .blank))
    default: throw StateCursor.Damage(description: "expected a piece of a snapshot or its end, got \(kind)")
    }
  }
}

/// Where a snapshot lies, and what it is of.
package struct SnapshotEnd: Equatable {
  /// The sequence of its first piece.
  package var first: UInt64
  /// Pieces, as a count.
  package var pieces: UInt32
  /// The log as it was when the first piece was made: what the log says behind that may be in the pieces already, and says the same.
  package var place: ZonePlace
  /// When the log's stream was made: a snapshot of another is of no use.
  package var stream: String
  /// The last new beginning that the state has behind it.
  package var startsOver: UInt64

  package init(first: UInt64, pieces: UInt32, place: ZonePlace, stream: String, startsOver: UInt64) {
    (self.first, self.pieces, self.place) = (first, pieces, place)
    (self.stream, self.startsOver) = (stream, startsOver)
  }

  static let form = RowForm<SnapshotEnd>([
    RowField(1, "", .counted("a first piece"), \.first), RowField(2, "", .u32, \.pieces),
    RowField(3, "", .counted("a sequence"), \.place.sequence),
    RowField(4, "", .counted("an epoch"), \.place.epoch),
    RowField(5, "", .counted("a number"), \.place.number),
    RowField(6, "", .optional(.text), \.place.leader), RowField(7, "", .optional(.text), \.place.successor),
    RowField(8, "", .text, \.stream), RowField(9, "", .counted("a new beginning"), \.startsOver),
  ])

  /// What is read into.
  static let blank = SnapshotEnd(first: 0, pieces: 0, place: ZonePlace(), stream: "", startsOver: 0)
}

extension RowKind<UInt64> {
  /// What a log has counted, and is counted on from.
  static func counted(_ what: String) -> RowKind {
    let limit = CountedNumber.limit
    return .ofInteger(
      .i64, "\(what) from 0 to \(limit)", { (0...limit).contains($0) ? UInt64($0) : nil },
      { Int64(clamping: $0) })
  }
}
