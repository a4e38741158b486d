import Basics
import Credentials
import NATSWire
import Platform
import Transport
import Zones

/// What a cluster is for good: the first message of its own log.
package struct ClusterBirth: Equatable, Sendable {
  package var zones: ZoneMap
  /// Known to its nodes alone: what they recognise each other by, and what all tokens depend on.
  package var secret: [UInt8]
  /// By this the secret follows from that of `--cluster-secret`, which the log does not have. Nil where there is none: then the
  /// log has the secret.
  private var salt: [UInt8]?

  private static let secretBytes = 32

  /// A new cluster.
  package init(zones: ZoneMap, seal: ClusterSeal? = nil) {
    self.zones = zones
    let random = [UInt8].random(Self.secretBytes)
    (secret, salt) = seal.map { ($0.secret(salt: random), random) } ?? (random, nil)
  }

  private static let identityBytes = 16

  /// Tells this cluster from all others, and nothing of its secret.
  package func identity() throws -> String {
    let code = try MessageAuthenticator(key: secret).code(over: Array("apns-emulator cluster identity".utf8))
    return Hex.encode(code.prefix(Self.identityBytes))
  }

  package var encoded: [UInt8] {
    let document: JSONValue = [
      "kind": "birth", "version": 1, "zones": .integer(Int64(zones.count)),
      salt == nil ? "secret" : "salt": .string(Hex.encode(salt ?? secret)),
    ]
    return document.encoded
  }

  package init?(_ bytes: [UInt8], seal: ClusterSeal? = nil) {
    guard let document = JSONReader.read(bytes), document.string("kind") == "birth",
      document.member("version")?.integer == 1, let count = document.member("zones")?.integer,
      let zones = ZoneMap(count: Int(clamping: count)),
      let bytes = document.string(seal == nil ? "secret" : "salt").flatMap({ Hex.decode($0) }), !bytes.isEmpty
    else { return nil }
    self.zones = zones
    (secret, salt) = seal.map { ($0.secret(salt: bytes), bytes) } ?? (bytes, nil)
  }
}

/// A node's place in a cluster.
package struct ClusterMembership: Equatable, Sendable {
  package var birth: ClusterBirth
  /// Counts the nodes that have joined so far, and their lives: the place of this one's joining in the cluster's log.
  package var ordinal: UInt64
  /// What the others compare of this node's credentials; nil where it has said none.
  var fingerprints: NodeFingerprints?
  /// Records of logs that count for nothing.
  var asides = SetAside()

  /// Bits of a notification's id below the ordinal of the node that numbered it.
  static let idBits = 36
  /// Ids are JSON numbers, which are whole up to 53 bits.
  static let ordinalLimit: UInt64 = 1 << 17

  /// Ids of this node begin behind it.
  package var idBase: UInt64 { Self.idBase(of: ordinal) }

  /// Ids of a node begin behind it.
  package static func idBase(of ordinal: UInt64) -> UInt64 { ordinal << Self.idBits }

  /// The node that numbered a notification.
  package static func ordinal(of id: UInt64) -> UInt64 { id >> Self.idBits }
}
