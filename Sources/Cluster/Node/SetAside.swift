import NATSWire
import PushModel
import Zones

/// Records of zones' logs that count for nothing, because an operator has said so (`ClusterRepair`): a stream of NATS has them, one
/// a message, which nodes read when they join.
///
///     {"kind": "aside", "zone": 3, "made": "2026-01-02T03:04:05Z", "sequence": 17}
struct SetAside: Equatable, Sendable {
  /// Most messages that are read, the newest, as a count: one after the other, in far less time than a node has for joining. Somebody else
  /// may have written more.
  static let limit: UInt64 = 256

  private struct Log: Hashable, Sendable {
    var zone: Int
    /// When its stream was made.
    var made: String
  }

  private var sequences: [Log: Set<UInt64>] = [:]

  /// How many there are, of all zones.
  var count: Int { sequences.values.reduce(0) { $0 + $1.count } }

  func sequences(of zone: ZoneNumber, madeAt made: String) -> Set<UInt64> {
    sequences[Log(zone: zone.number, made: made)] ?? []
  }

  static func document(_ zone: ZoneNumber, madeAt made: String, _ sequence: UInt64) -> JSONValue {
    [
      "kind": "aside", "zone": .integer(Int64(zone.number)), "made": .string(made),
      "sequence": .integer(Int64(clamping: sequence)),
    ]
  }

  /// Takes a message; one that says nothing of the kind is passed over.
  mutating func read(_ message: [UInt8]) {
    guard let document = JSONReader.read(message), document.string("kind") == "aside",
      case .integer(let zone)? = document.member("zone"), let made = document.string("made"),
      case .integer(let sequence)? = document.member("sequence"), sequence > 0
    else { return }
    sequences[Log(zone: Int(clamping: zone), made: made), default: []].insert(UInt64(sequence))
  }

  /// Reads them; none of a log that is not there. What an operator has removed from it counts no more.
  static func read(
    _ log: LogStream, done: @escaping (Result<SetAside, JetStreamFailure>) -> Void
  ) {
    log.open(isMade: false) {
      switch $0 {
      case .success(let state):
        let newest = state.lastSequence < limit ? 1 : state.lastSequence - limit + 1
        next(max(newest, state.firstSequence), of: state.lastSequence, SetAside(), log, done)
      case .failure(.refused(JetStreamFailure.streamNotFoundCode, _)): done(.success(SetAside()))
      case .failure(let failure): done(.failure(failure))
      }
    }
  }

  private static func next(
    _ sequence: UInt64, of last: UInt64, _ found: SetAside, _ log: LogStream,
    _ done: @escaping (Result<SetAside, JetStreamFailure>) -> Void
  ) {
    guard sequence <= last else { return done(.success(found)) }
    log.readBack(sequence) {
      var found = found
      switch $0 {
      case .success(let record): found.read(record.payload)
      // Nobody of the cluster has said it, or an operator has taken it back.
      case .failure(.alien), .failure(.refused(JetStreamFailure.messageNotFoundCode, _)): break
      case .failure(let failure): return done(.failure(failure))
      }
      next(sequence + 1, of: last, found, log, done)
    }
  }
}
