import NATSWire
import Platform
import PushModel

/// Asks whether a node lives, and is answered by it alone: what was said before the question is no answer, so that a node that has just
/// been killed does not seem to live.
///
///     question {"nonce"} ─→ the node's subject ─→ answer {"nonce", "node": its announcement}, sealed where there is a secret
///
/// Nobody listens at the subject of a node that is dead: NATS says so at once.
struct NodeCall {
  /// A node that says nothing for so long has hung, or its host is gone: failover of its zones begins as well then.
  static let timeout = NodeBoard.timeout
  private static let nonceBytes = 16
  private static let longestNonce = 64

  /// What the caller recognises the answer by.
  let nonce: String

  init() { nonce = Hex.encode([UInt8].random(Self.nonceBytes)) }

  /// Reads a question; nil for what is none.
  init?(_ question: [UInt8]) {
    guard case .object(let members)? = JSONReader.read(question),
      case .string(let nonce)? = JSONObject(members: members)["nonce"], nonce.utf8.count <= Self.longestNonce
    else { return nil }
    self.nonce = nonce
  }

  var question: [UInt8] {
    let document: JSONValue = ["nonce": .string(nonce)]
    return document.encoded
  }

  func answer(_ announcement: NodeAnnouncement, _ seal: ClusterSeal?, at place: ClusterSeal.Place) -> [UInt8]
  {
    let document: JSONValue = ["nonce": .string(nonce), "node": announcement.document]
    return seal?.sealed(document.encoded, at: place) ?? document.encoded
  }

  /// Who has answered this question; nil for what is no answer to it.
  func answerer(_ answer: [UInt8], _ seal: ClusterSeal?, at place: ClusterSeal.Place) -> NodeAnnouncement? {
    guard let contents = seal.map({ $0.opened(answer, at: place) }) ?? answer,
      case .object(let members)? = JSONReader.read(contents),
      case let document = JSONObject(members: members), case .string(nonce)? = document["nonce"],
      case .object(let node)? = document["node"]
    else { return nil }
    return NodeAnnouncement(JSONObject(members: node))
  }
}
