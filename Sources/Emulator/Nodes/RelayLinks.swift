import Cluster
import PushModel
import Transport
import Zones

/// This node's links to the others: one to each that something was sent to, made when it is first needed.
final class RelayLinks {
  /// Most bytes that wait for a link to be made.
  private static let waitingLimit = PushRelay.limit

  /// A node's answers.
  var onReply: (RelayFrame.Reply, _ peer: String) -> Void = { _, _ in }
  /// A link is gone, or could not be made.
  var onLost: (_ peer: String, _ wasOpen: Bool) -> Void = { _, _ in }
  private let caller: NodeCaller
  private let ordinal: UInt64
  private var links: [String: RelayLink] = [:]

  init(_ caller: NodeCaller, ordinal: UInt64) { (self.caller, self.ordinal) = (caller, ordinal) }

  /// Links that are open, as a count.
  var openCount: Int { links.values.count { $0.isOpen } }

  /// Sends a whole message, now or when the link is there.
  func send(_ message: [UInt8], to peer: String, _ cluster: ClusterNode) {
    if let link = links[peer] { return link.send(message) }
    guard let address = cluster.address(of: peer) else { return onLost(peer, false) }
    let link = RelayLink(peer, self)
    links[peer] = link
    link.send(RelayFrame.introduction(ordinal: ordinal))
    link.send(message)
    link.cancel = caller.call(NodePeer(name: peer, address: address), for: .link) { [weak link] in
      link?.called($0)
    }
  }

  fileprivate func lost(_ link: RelayLink, wasOpen: Bool) {
    guard links[link.peer] === link else { return }
    links[link.peer] = nil
    onLost(link.peer, wasOpen)
  }

  func close() {
    for link in links.values { link.close() }
    links = [:]
  }
}

/// A link to one node.
private final class RelayLink: ConnectionHandler {
  let peer: String
  private weak var links: RelayLinks?
  private var connection: SocketConnection?
  private var decoder = RelayDecoder()
  /// What was said before it was there.
  private var early: [UInt8] = []
  var cancel: (() -> Void)?

  init(_ peer: String, _ links: RelayLinks) { (self.peer, self.links) = (peer, links) }

  var isOpen: Bool { connection != nil }

  func send(_ message: [UInt8]) {
    if let connection { connection.send(message) } else { early += message }
  }

  func called(_ result: Result<SocketConnection, NodeCaller.Failure>) {
    guard case .success(let connection) = result else {
      links?.lost(self, wasOpen: false)
      return
    }
    self.connection = connection
    connection.handler = self
    connection.setPaused(false)
    connection.send(early)
    early = []
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    do {
      try decoder.replies(in: bytes) { links?.onReply($0, peer) }
      connection.hold(decoder.heldBytes)
    } catch { connection.abort("\(error)") }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    guard self.connection === connection else { return }
    self.connection = nil
    links?.lost(self, wasOpen: true)
  }

  func close() {
    cancel?()
    connection?.close()
  }
}
