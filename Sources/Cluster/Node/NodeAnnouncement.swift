import Basics
import NATSWire
import Platform

/// What a node tells the others of itself each second.
package struct NodeAnnouncement: Equatable, Sendable {
  package var name: String
  /// Tells two nodes apart that were given the same name, and the same node's lives: the number of its joining.
  package var ordinal: UInt64
  /// Its nodes' listener; nil until that is open.
  package var address: SocketAddress?
  /// Its console, for people.
  package var console: SocketAddress?
  /// It hands its zones over, and ends then.
  package var isDraining = false
  /// Zones that it leads, as a count.
  package var ledCount = 0
  /// Devices that are connected to it, as a count.
  package var devices = 0
  /// Counts what it has announced in this life.
  package var number: UInt64 = 0
  /// How far it has read the cluster's log.
  package var seen: UInt64 = 0
  /// Of its credentials; nil from a node of a version that does not say.
  var fingerprints: NodeFingerprints?
  /// How often the node says so, in milliseconds; every second where it does not say how often.
  package var everyMs: Int64 = 1000

  /// The version of what it says to other nodes (`NodeHello.version`); of the first version, which does not say, 1.
  package var speaks = 1

  package init(name: String, ordinal: UInt64) { (self.name, self.ordinal) = (name, ordinal) }

  package var encoded: [UInt8] { document.encoded }

  package var document: JSONValue {
    [
      "name": .string(name), "ordinal": .integer(Int64(clamping: ordinal)),
      "address": .optional(address?.description), "console": .optional(console?.description),
      "draining": .bool(isDraining), "owned": .integer(Int64(ledCount)), "devices": .integer(Int64(devices)),
      "number": .integer(Int64(clamping: number)), "seen": .integer(Int64(clamping: seen)),
      "ca": .optional(fingerprints?.ca), "deviceCA": .optional(fingerprints?.deviceCA),
      "tokens": .optional(fingerprints?.tokens), "speaks": .integer(Int64(speaks)),
      "everyMs": .integer(everyMs),
    ]
  }

  /// Why a node that speaks a version can't be in a cluster with this one; nil if it can.
  package func refusal(of node: String, speaking version: Int) -> String? {
    guard version != speaks else { return nil }
    return
      "nodes of different versions can't form a cluster: \(name) has version \(speaks) of the nodes' protocol, \(node) version "
      + "\(version): stop all nodes, then start all with the same apns-emulator; their state stays in the NATS server"
  }

  /// nil for what no node has said.
  package init?(_ bytes: [UInt8]) { self.init(JSONReader.read(bytes) ?? .null) }

  init?(_ document: JSONValue) {
    guard let name = document.string("name"), let ordinal = document.member("ordinal")?.integer, ordinal > 0,
      case .bool(let isDraining)? = document.member("draining")
    else { return nil }
    (self.name, self.ordinal, self.isDraining) = (name, UInt64(ordinal), isDraining)
    if let text = document.string("address") { address = SocketAddress(text) }
    if let text = document.string("console") { console = SocketAddress(text) }
    if let count = document.member("owned")?.integer { ledCount = Int(count) }
    if let count = document.member("devices")?.integer { devices = Int(count) }
    if let count = document.member("number")?.integer { number = UInt64(clamping: count) }
    if let count = document.member("seen")?.integer { seen = UInt64(clamping: count) }
    if let version = document.member("speaks")?.integer { speaks = Int(clamping: version) }
    if let interval = document.member("everyMs")?.integer { everyMs = min(max(interval, 1), 1000) }
    if let ca = document.string("ca"), let devices = document.string("deviceCA"),
      let tokens = document.string("tokens")
    {
      fingerprints = NodeFingerprints(ca: ca, deviceCA: devices, tokens: tokens)
    }
  }
}

/// The nodes that live, by what was heard of them.
package struct NodeBoard {
  /// Without a word for so long a node counts as gone, in nanoseconds: three announcements.
  static let timeout: Int64 = 3_000_000_000
  /// Most nodes that are remembered, as a count.
  package static let limit = 1024

  private var nodes: [String: (announcement: NodeAnnouncement, heardAt: Instant)] = [:]

  package init() {}

  /// Takes what a node says; what a node of the same name said in an earlier life does not count any more.
  package mutating func hear(_ announcement: NodeAnnouncement, now: Instant) {
    guard announcement.ordinal >= nodes[announcement.name]?.announcement.ordinal ?? 0,
      nodes[announcement.name] != nil || nodes.count < Self.limit
    else { return }
    nodes[announcement.name] = (announcement, now)
  }

  /// Those who have missed two announcements, by name; `listening` says since when what they say would have been heard.
  package func silent(_ now: Instant, listening: Instant) -> [String] {
    nodes.filter { _, node in
      now.nanoseconds(since: max(node.heardAt, listening)) >= 2 * node.announcement.everyMs * 1_000_000
    }.keys.sorted()
  }

  /// Forgets who is gone; answers their names.
  mutating func forgetSilent(_ now: Instant) -> [String] {
    let gone = nodes.filter { now.nanoseconds(since: $0.value.heardAt) >= Self.timeout }.keys
    for name in gone { nodes[name] = nil }
    return gone.sorted()
  }

  /// The other side has ended, as its connections say: it need not be waited for.
  mutating func forget(_ name: String) { nodes[name] = nil }

  subscript(name: String) -> NodeAnnouncement? { nodes[name]?.announcement }

  /// By name.
  var all: [NodeAnnouncement] { nodes.values.map(\.announcement).sorted { $0.name < $1.name } }
}

/// Asks whether a node lives, and is answered by it alone: what was said before the question is no answer, so that a node that has just
/// been killed does not seem to live.
///
///     question {"nonce"} ─→ the node's subject ─→ answer {"nonce", "node": its announcement}, sealed where there is a secret
///
/// Nobody listens at the subject of a node that is dead: NATS says so at once.
package struct NodeCall {
  /// A node that says nothing for so long has hung, or its host is gone: failover of its zones begins as well then.
  package static let timeout = NodeBoard.timeout
  private static let nonceBytes = 16
  private static let longestNonce = 64

  /// What the caller recognises the answer by.
  let nonce: String

  package init() { nonce = Hex.encode([UInt8].random(Self.nonceBytes)) }

  /// Reads a question; nil for what is none.
  package init?(_ question: [UInt8]) {
    guard let nonce = JSONReader.read(question)?.string("nonce"), nonce.utf8.count <= Self.longestNonce else {
      return nil
    }
    self.nonce = nonce
  }

  var question: [UInt8] {
    let document: JSONValue = ["nonce": .string(nonce)]
    return document.encoded
  }

  package func answer(_ announcement: NodeAnnouncement, _ seal: ClusterSeal?, at place: ClusterSeal.Place)
    -> [UInt8]
  {
    let document: JSONValue = ["nonce": .string(nonce), "node": announcement.document]
    return seal?.sealed(document.encoded, at: place) ?? document.encoded
  }

  /// Who has answered this question; nil for what is no answer to it.
  func answerer(_ answer: [UInt8], _ seal: ClusterSeal?, at place: ClusterSeal.Place) -> NodeAnnouncement? {
    guard let contents = seal.map({ $0.opened(answer, at: place) }) ?? answer,
      let document = JSONReader.read(contents), document.string("nonce") == nonce
    else { return nil }
    return document.member("node").flatMap { NodeAnnouncement($0) }
  }
}
