import Basics
import Broker
import NATSWire
import Platform
import Transport
import Zones

/// Writes a snapshot of a zone, some rows at a time, while the zone goes on: what changes meanwhile is in the log behind the place
/// where the snapshot began, and says how it is from then on.
///
///     begin: the stream is there ─→ pieces, one under way at a time ─→ end, once the log has what they tell ─→ purge what is older
final class SnapshotWriter {
  /// Rows that are looked at in one step, as a count, and the size of a piece, in bytes.
  private static let rowsAtOnce = 2000
  private static let pieceSize = 128 << 10

  enum Outcome { case done(SnapshotEnd), givenUp(String) }

  private let zone: ZoneNumber
  private let broker: Broker
  private let map: ZoneMap
  private let log: LogStream
  /// As far as it has come.
  private var end: SnapshotEnd
  /// Whether all that was changed up to now is in the log.
  private let isSettled: () -> Bool
  private let done: (Outcome) -> Void
  private let number = UInt64.random(in: .min ... .max)
  private var cursor = ZoneCursor()
  private var last: UInt64 = 0
  private var previousEnd: UInt64 = 0
  private var timer: LoopEvent?
  private var isOver = false

  init(
    _ zone: ZoneNumber, _ broker: Broker, _ map: ZoneMap, _ log: LogStream, at place: ZonePlace,
    of stream: String, startsOver: UInt64, isSettled: @escaping () -> Bool,
    done: @escaping (Outcome) -> Void
  ) {
    (self.zone, self.broker, self.map, self.log) = (zone, broker, map, log)
    end = SnapshotEnd(first: 0, pieces: 0, place: place, stream: stream, startsOver: startsOver)
    (self.isSettled, self.done) = (isSettled, done)
  }

  func begin() {
    log.open { [weak self] in
      switch $0 {
      case .success(let state):
        self?.last = state.lastSequence
        if state.lastSequence == 0 { self?.goOn() } else { self?.findPreviousEnd(at: state.lastSequence) }
      case .failure(let failure): self?.finish(.givenUp("\(failure)"))
      }
    }
  }

  private func findPreviousEnd(at sequence: UInt64) {
    log.readBack(sequence) { [weak self] in
      guard let self else { return }
      let isForeign: Bool =
        switch $0 {
        case .success(let record): SnapshotMessage.isForeign(record.payload)
        case .failure(.alien): true
        case .failure: false
        }
      if isForeign, sequence > 1, last - sequence < SnapshotReader.alienLimit {
        return findPreviousEnd(at: sequence - 1)
      }
      if case .success(let record) = $0, let message = try? SnapshotMessage(record.payload) {
        if case .end = message.body { previousEnd = sequence } else { previousEnd = message.previousEnd }
      }
      goOn()
    }
  }

  /// The zone is not this node's any more, or everything was forgotten.
  func giveUp(_ why: String) { finish(.givenUp(why)) }

  private func goOn() {
    guard !isOver else { return }
    var bytes: [UInt8] = []
    while bytes.count < Self.pieceSize, !cursor.isAtEnd {
      bytes += StateChanges.part(of: zone, map, broker, &cursor, rows: Self.rowsAtOnce)
      // One step a turn, unless there was next to nothing of the zone in it.
      if bytes.count > Self.pieceSize / 4 { break }
    }
    guard bytes.isEmpty else { return append(.piece(bytes)) }
    guard isSettled() else { return later { $0.goOn() } }
    if end.pieces == 0 { end.first = last + 1 }
    append(.end(end))
  }

  private func append(_ body: SnapshotMessage.Body) {
    let message = SnapshotMessage(snapshot: number, previousEnd: previousEnd, body)
    log.append(message.encoded, behind: last) { [weak self] in
      guard let self, !isOver else { return }
      switch $0 {
      case .success(let sequence): appended(body, at: sequence)
      // Half a snapshot is no harm; the next time comes.
      case .failure(let failure): finish(.givenUp("\(failure)"))
      }
    }
  }

  private func appended(_ body: SnapshotMessage.Body, at sequence: UInt64) {
    last = sequence
    guard case .end(let end) = body else {
      if self.end.pieces == 0 { self.end.first = sequence }
      self.end.pieces += 1
      // The loop has others to turn for.
      return later { $0.goOn() }
    }
    log.purge(before: end.first) { _ in }
    finish(.done(end))
  }

  private func later(_ step: @escaping (SnapshotWriter) -> Void) {
    timer = log.after(1_000_000) { [weak self] in if let self { step(self) } }
  }

  private func finish(_ outcome: Outcome) {
    guard !isOver else { return }
    isOver = true
    timer?.cancel()
    done(outcome)
  }
}
