import Basics
import NATSWire
import Platform
import Transport
import Zones

/// Finds the last whole snapshot of a zone and reads it piece by piece.
///
///     look ─ none ─→ done(nil)
///       └─ its end ─→ pieces, in order ─→ done(place)     a piece that has gone meanwhile: look again
final class SnapshotReader {
  /// What is heard of a snapshot: where it is of, first of all, then its pieces.
  enum Event {
    case begins(SnapshotEnd)
    case piece([UInt8])
    /// All has been told; nil if there is no snapshot.
    case done(SnapshotEnd?)
    case failed(String)
  }

  private static let pause: Int64 = 100_000_000
  /// Most messages at the end of the stream that are passed over as nobody of the cluster has written them, as a count.
  static let alienLimit: UInt64 = 1000

  private let client: NATSClient
  private let log: LogStream
  private let stream: String
  private let handle: (Event) -> Void
  private var end: SnapshotEnd?
  private var snapshot: UInt64 = 0
  /// When the stream was made, and its oldest message.
  private var created: String?
  private var first: UInt64 = 0
  /// The piece that is asked for.
  private var next: UInt64 = 0
  private var timer: LoopEvent?

  /// `stream` says when the zone's log was made.
  init(_ client: NATSClient, _ log: LogStream, of stream: String, handle: @escaping (Event) -> Void) {
    (self.client, self.log, self.stream, self.handle) = (client, log, stream, handle)
  }

  func begin() {
    let name = log.configuration.name
    client.request(.information(stream: name), within: 5_000_000_000) { [weak self] answer in
      guard let self else { return }
      let state = Result { () throws(JetStreamFailure) in try answer.state(of: self.log.configuration) }
      switch state {
      case .success(let state) where state.lastSequence > 0:
        (created, first) = (state.created, state.firstSequence)
        look(at: state.lastSequence)
      case .success: handle(.done(nil))
      case .failure(.refused(JetStreamFailure.streamNotFoundCode, _)): handle(.done(nil))
      case .failure: again()
      }
    }
  }

  private func again() {
    timer = log.after(Self.pause) { [weak self] in self?.begin() }
  }

  /// The last message is the end of a snapshot, or says where the last one ends.
  private func look(at sequence: UInt64, aliens: UInt64 = 0) {
    guard sequence >= first, aliens < Self.alienLimit else { return handle(.done(nil)) }
    log.readBack(sequence, madeAt: created) { [weak self] in
      guard let self else { return }
      if case .failure(.alien) = $0 { return look(at: sequence - 1, aliens: aliens + 1) }
      guard case .success(let record) = $0 else { return again() }
      if SnapshotMessage.isForeign(record.payload) { return look(at: sequence - 1, aliens: aliens + 1) }
      do {
        let message = try SnapshotMessage(record.payload)
        switch message.body {
        case .end(let end) where end.stream == stream: read(end, message.snapshot)
        case .end: handle(.done(nil))
        case .piece where message.previousEnd == 0: handle(.done(nil))
        case .piece where message.previousEnd < sequence: look(at: message.previousEnd)
        case .piece:
          handle(
            .failed("its snapshot: piece \(sequence) says that the one before ends at \(message.previousEnd)")
          )
        }
      } catch { handle(.failed("its snapshot: \(error)")) }
    }
  }

  private func read(_ end: SnapshotEnd, _ snapshot: UInt64) {
    (self.end, self.snapshot, next) = (end, snapshot, end.first)
    handle(.begins(end))
    ask()
  }

  /// One piece at a time: all zones of a node are read beside each other.
  private func ask() {
    guard let end, next < end.first + UInt64(end.pieces) else { return handle(.done(end)) }
    log.readBack(next, madeAt: created) { [weak self] in self?.take($0) }
  }

  private func take(_ answer: Result<JetStreamRecord, JetStreamFailure>) {
    if case .failure(.alien) = answer {
      return handle(
        .failed("its snapshot: message \(next) of \(log.configuration.name) was changed by another client"))
    }
    // It may have been replaced by a newer one: what was told of it is told again, which is no harm.
    guard case .success(let record) = answer, let message = try? SnapshotMessage(record.payload),
      message.snapshot == snapshot, case .piece(let bytes) = message.body
    else { return again() }
    next += 1
    handle(.piece(bytes))
    ask()
  }
}
