import Basics
import NATSWire
import Platform
import Transport

/// What every node of a cluster does, in one order: the cluster's own log, read by all.
///
///     order ─→ appended ─→ read by each node in its turn ─→ carried out there; whoever has ordered it hears its number
package final class ClusterOrders {
  /// Most orders of this node that wait, as a count.
  private static let limit = 1000

  private let log: LogStream
  /// Orders of this node by number: those that the log has, and nobody has carried out here.
  private var waiting: [UInt64: (Result<UInt64, JetStreamFailure>) -> Void] = [:]
  /// The first of `appends` is on its way.
  private var isAppending = false
  /// What is to be appended.
  private var appends: [(bytes: [UInt8], done: (Result<UInt64, JetStreamFailure>) -> Void)] = []
  /// The last one that was read.
  package private(set) var last: UInt64 = 0
  /// Who waits until so many were.
  private var watchers: [(number: UInt64, then: () -> Void)] = []
  /// All orders that there were at the start have been carried out here.
  package private(set) var hasRead = false
  /// As far as the log was read.
  private(set) var members = ClusterMembers()

  init(_ log: LogStream) { self.log = log }

  /// The name of its stream.
  var stream: String { log.configuration.name }

  /// Begins to read, from the first order that there was. `passedOver` hears of what nobody of the cluster has written.
  func follow(
    carryOut: @escaping (UInt64, [UInt8]) -> Void, passedOver: @escaping () -> Void,
    failed: @escaping (String) -> Void
  ) {
    // The first record is the cluster's birth.
    log.follow(from: 2) { [unowned self] event in
      switch event {
      case .record(let record): read(record, carryOut)
      case .alien(let sequence):
        passedOver()
        last = sequence
        tellWatchers()
      case .caughtUp: hasRead = true
      case .gap: break
      case .purged(let first): failed("the cluster's log begins at \(first)")
      case .lost(let failure): failed("the cluster's log: \(failure)")
      }
    }
  }

  private func read(_ record: JetStreamRecord, _ carryOut: (UInt64, [UInt8]) -> Void) {
    last = record.sequence
    defer { tellWatchers() }
    guard let document = JSONReader.read(record.payload, maximumDepth: JSONObject.bodyDepth) else { return }
    if document.string("kind") == "order" {
      carryOut(record.sequence, record.payload)
    } else {
      members.read(document, at: record.sequence)
    }
    waiting.removeValue(forKey: record.sequence)?(.success(record.sequence))
  }

  /// Calls back when all up to a number have been carried out here, at once if they have. False if too many wait for that.
  package func whenRead(_ number: UInt64, then: @escaping () -> Void) -> Bool {
    guard number > last else {
      then()
      return true
    }
    guard watchers.count < Self.limit else { return false }
    watchers.append((number, then))
    return true
  }

  private func tellWatchers() {
    guard !watchers.isEmpty else { return }
    let due = watchers.filter { $0.number <= last }
    watchers.removeAll { $0.number <= last }
    for watcher in due { watcher.then() }
  }

  /// Has all nodes carry out a document whose kind is `order`; `done` hears its number when this one has. After a failure it may be
  /// carried out nevertheless.
  package func order(_ document: JSONValue, done: @escaping (Result<UInt64, JetStreamFailure>) -> Void) {
    guard appends.count < Self.limit else { return done(.failure(.late)) }
    appends.append((document.encoded, done))
    appendNext()
  }

  /// One after the other, so that they are not in each other's way.
  private func appendNext() {
    guard !isAppending, let (bytes, done) = appends.first else { return }
    isAppending = true
    log.appendAtEnd(bytes, behind: last) { [weak self] result in
      guard let self else { return }
      isAppending = false
      appends.removeFirst()
      // Whoever hears of it may order more at once.
      appended(result, done)
      appendNext()
    }
  }

  private func appended(
    _ result: Result<UInt64, JetStreamFailure>, _ done: @escaping (Result<UInt64, JetStreamFailure>) -> Void
  ) {
    switch result {
    // It may have been read before NATS has said where it is.
    case .success(let number) where number <= last: done(.success(number))
    case .success(let number): waiting[number] = done
    case .failure(let failure): done(.failure(failure))
    }
  }
}

/// Which nodes belong to the cluster, whether they live or not, by the cluster's log: who has joined, and has neither left in order
/// nor was forgotten since.
///
///     {"kind": "joined", "node": "b", "leaves": true}, {"kind": "left", "node": "b", "ordinal": 7}
///
/// The first versions wrote no `left`, nor `leaves`: who of them is missing has ended, for all that is known, and nobody misses it.
package struct ClusterMembers {
  /// Most nodes that are remembered, as a count: as many as can live.
  package static let limit = NodeBoard.limit

  /// By name, the number of its joining.
  private var ordinals: [String: UInt64] = [:]

  package init() {}

  /// What a node writes that comes, and will say when it leaves.
  package static func joined(_ node: String) -> JSONValue {
    ["kind": "joined", "node": .string(node), "leaves": true]
  }

  /// What a node writes that ends in order, or another one of a node that will not come back. The same node may have joined again:
  /// then that counts.
  package static func left(_ node: String, ordinal: UInt64) -> JSONValue {
    ["kind": "left", "node": .string(node), "ordinal": .integer(Int64(clamping: ordinal))]
  }

  /// Takes a record of the cluster's log; what says nothing of nodes is passed over.
  package mutating func read(_ record: JSONValue, at sequence: UInt64) {
    guard let node = record.string("node") else { return }
    switch record.string("kind") {
    case "joined":
      guard case .bool(true)? = record.member("leaves") else { return ordinals[node] = nil }
      ordinals[node] = sequence
      // Who joined first is likeliest not to come back.
      if ordinals.count > Self.limit, let oldest = ordinals.min(by: { $0.value < $1.value }) {
        ordinals[oldest.key] = nil
      }
    case "left":
      guard case .integer(let ordinal)? = record.member("ordinal"), let known = ordinals[node],
        known <= UInt64(clamping: ordinal)
      else { return }
      ordinals[node] = nil
    default: break
    }
  }

  /// Whether a node that speaks has left in order, as far as the log was read up to `last`. One that was forgotten and lives has not.
  package func hasLeft(_ said: NodeAnnouncement, asOf last: UInt64) -> Bool {
    said.isDraining && last >= said.ordinal && ordinals[said.name] == nil
  }

  /// The number of its joining; nil for who does not belong to the cluster.
  subscript(node: String) -> UInt64? { ordinals[node] }

  /// By name.
  package var names: [String] { ordinals.keys.sorted() }
}
