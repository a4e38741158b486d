import Basics
import NATSWire
import Transport
import Zones

/// Sets one message of a zone's log aside, at NATS itself, as no node may be left to ask: nodes that join from then on pass over
/// it, and over what is missing up to the next record. The message stays where it is.
package struct ClusterRepair {
  private static let timeout: Int64 = 10_000_000_000
  private static let shownBytes = 24

  private let loop: EventLoop
  private let client: NATSClient
  private let settings: NodeSettings

  /// Turns the loop until it is done; answers what was set aside, as a sentence. Throws a sentence.
  package static func run(
    loop: EventLoop, nats: NATSClient.Settings, _ settings: NodeSettings, zone: Int, sequence: UInt64
  ) throws -> String {
    let client = NATSClient(loop: loop, settings: nats)
    client.start()
    defer { client.close() }
    let repair = ClusterRepair(loop: loop, client: client, settings: settings)
    try repair.refuseWhileNodesLive(madeAt: try repair.openCluster())
    return try repair.setAside(sequence, of: ZoneNumber(zone))
  }

  /// Answers when the cluster was made; refuses where what this writes would be nothing to its nodes.
  private func openCluster() throws -> String {
    let cluster = settings.log(client, loop) { $0.orders(replicas: $1) }
    do {
      _ = try open(cluster, isMade: false)
      let birth: JetStreamRecord = try wait { cluster.readBack(1, done: $0) }
      guard settings.seal != nil || !ClusterSeal.isSealed(birth.payload) else {
        throw Self.refusal("the cluster was made with --cluster-secret: give the file that its nodes have")
      }
      return cluster.created ?? ""
    } catch JetStreamFailure.alien(let isSealed) {
      throw Self.refusal(
        isSealed
          ? "the cluster was made with another secret than that of --cluster-secret: give the file that its nodes have"
          : "the cluster was made without --cluster-secret: leave that out")
    } catch JetStreamFailure.refused(JetStreamFailure.streamNotFoundCode, _) {
      throw Self.refusal(
        "the NATS server has no such cluster: give --nats and --cluster as its nodes have them")
    }
  }

  /// A node that lives has read the log already, or is about to end at the message.
  private func refuseWhileNodesLive(madeAt created: String) throws {
    let (call, subject) = (NodeCall(), settings.names.calls)
    let answer: NATSAnswer = try wait { done in
      client.request(subject, call.question, within: NodeCall.timeout) { done(.success($0)) }
    }
    let place = ClusterSeal.Place(name: subject, created: created)
    guard case .message(let message) = answer,
      let node = call.answerer(message.payload, settings.seal, at: place)
    else { return }
    throw Self.refusal("the node \(node.name) is running: stop all nodes, then try again")
  }

  private func setAside(_ sequence: UInt64, of zone: ZoneNumber) throws -> String {
    let log = settings.log(client, loop) { $0.log(of: zone, replicas: $1) }
    _ = try open(log, isMade: false)
    let found: JetStreamRecord = try wait { log.readBack(sequence, done: $0) }
    let repairs = settings.log(client, loop) { $0.repairs(replicas: $1) }
    let asides: SetAside = try wait { SetAside.read(repairs, done: $0) }
    guard asides.count < SetAside.limit else {
      throw Self.refusal("\(SetAside.limit) messages are set aside already: make the cluster again")
    }
    let last = try open(repairs, isMade: true).lastSequence
    let document = SetAside.document(zone, madeAt: log.created ?? "", sequence)
    _ = try wait { repairs.appendAtEnd(document.encoded, behind: last, done: $0) }
    return "message \(sequence) of \(log.configuration.name) is set aside, \(found.payload.count) bytes: "
      + Hex.encode(found.payload.prefix(Self.shownBytes)) + (found.payload.count > Self.shownBytes ? "…" : "")
  }

  // MARK: NATS

  private func open(_ log: LogStream, isMade: Bool) throws -> JetStreamState {
    try wait { log.open(isMade: isMade, done: $0) }
  }

  private func wait<Value>(
    _ begin: (@escaping (Result<Value, JetStreamFailure>) -> Void) -> Void
  ) throws -> Value {
    var result: Result<Value, JetStreamFailure>?
    begin { result = $0 }
    _ = loop.turn(until: { result != nil }, within: Self.timeout)
    guard let result else {
      throw Self.refusal(client.unreachableBecause ?? "the NATS server does not answer")
    }
    return try result.get()
  }

  private static func refusal(_ sentence: String) -> ClusterJoin.Refusal {
    ClusterJoin.Refusal(description: sentence)
  }
}

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
