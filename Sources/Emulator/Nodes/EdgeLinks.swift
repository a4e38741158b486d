import Basics
import Cluster
import Platform
import Transport
import Zones

/// This node's links to the others: one to each that something was sent to, made when it is first needed.
final class EdgeLinks {
  /// The other says the time some times a second. Nanoseconds without a word until the link is given up: longer than any push
  /// waits.
  private static let silenceLimit: Int64 = 6_000_000_000

  /// A node's answers.
  var onReply: (LinkFrame.Reply, _ peer: String) -> Void = { _, _ in }
  /// A link is gone, or could not be made.
  var onLost: (_ peer: String, _ wasOpen: Bool) -> Void = { _, _ in }
  private let caller: NodeCaller
  private let ordinal: UInt64
  private var links: [String: EdgeLink] = [:] { didSet { latest = nil } }
  /// The one that was sent on last: most of what is sent goes where the one before went.
  private var latest: EdgeLink?

  init(_ caller: NodeCaller, ordinal: UInt64) { (self.caller, self.ordinal) = (caller, ordinal) }

  /// Sends a whole request that this node has had since then, now or when the link is there.
  func send(_ message: [UInt8], since: Instant, attempt: UInt32 = 0, to peer: NodePeer) {
    let request = EdgeLink.Request(message: message, since: since, attempt: attempt)
    if let latest, latest.peer == peer.name { return latest.send(request) }
    if let link = links[peer.name] {
      latest = link
      return link.send(request)
    }
    let link = EdgeLink(peer.name, self, ordinal: ordinal)
    links[peer.name] = link
    link.send(request)
    link.cancel = caller.call(peer, for: .link) { [weak link] in link?.called($0) }
  }

  fileprivate func lost(_ link: EdgeLink, wasOpen: Bool) {
    guard links[link.peer] === link else { return }
    links[link.peer] = nil
    onLost(link.peer, wasOpen)
  }

  /// Ends links on which nothing is heard any more; to be called some times a second.
  func tick(_ now: Instant) {
    for link in links.values where link.silence(now) >= Self.silenceLimit {
      link.abort("nothing was heard for \(Self.silenceLimit / 1_000_000_000) s")
    }
  }

  func close() {
    for link in links.values { link.close() }
    links = [:]
  }
}

/// A link to one node.
///
///     calling ─(connected: says who this is)→ introduced ─(hears the time)→ open: what waited is said, and all that comes
private final class EdgeLink: ConnectionHandler {
  /// A message, and what is told of it when it goes out.
  struct Request {
    var message: [UInt8]
    var since: Instant
    var attempt: UInt32
  }

  let peer: String
  private let ordinal: UInt64
  private weak var links: EdgeLinks?
  private var connection: SocketConnection?
  private var decoder = LinkDecoder()
  /// What is to be said once it is open.
  private var early: [Request] = []
  /// A message as it goes out; its room stays.
  private var outgoing: [UInt8] = []
  /// What the other's clock said last; nil until it is open.
  private var heard: UInt64?
  /// When anything was heard last.
  private var heardAt = Instant.distantPast
  var cancel: (() -> Void)?

  init(_ peer: String, _ links: EdgeLinks, ordinal: UInt64) {
    (self.peer, self.links, self.ordinal) = (peer, links, ordinal)
  }

  var isOpen: Bool { heard != nil }

  func send(_ request: Request) {
    guard let connection, let heard else { return early.append(request) }
    let age = SystemClock.now().nanoseconds(since: request.since)
    outgoing.removeAll(keepingCapacity: true)
    outgoing += request.message
    LinkStamp(heard: heard, age: UInt64(clamping: age), attempt: request.attempt).mark(&outgoing)
    connection.send(outgoing)
  }

  private func hear(_ time: UInt64) {
    heard = time
    let waiting = early
    early = []
    for request in waiting { send(request) }
  }

  func called(_ result: Result<SocketConnection, NodeCaller.Failure>) {
    guard case .success(let connection) = result else {
      links?.lost(self, wasOpen: false)
      return
    }
    (self.connection, heardAt) = (connection, SystemClock.now())
    connection.handler = self
    connection.setPaused(false)
    connection.send(LinkFrame.introduction(ordinal: ordinal))
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    heardAt = SystemClock.now()
    // Held once for all that was read.
    let links = links
    do {
      try decoder.replies(in: bytes) {
        if case .time(let time) = $0 { hear(time) } else { links?.onReply($0, peer) }
      }
      connection.hold(decoder.heldBytes)
    } catch { connection.abort("\(error)") }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    guard self.connection === connection else { return }
    self.connection = nil
    links?.lost(self, wasOpen: isOpen)
  }

  /// For how long nothing was heard, in nanoseconds.
  func silence(_ now: Instant) -> Int64 { connection == nil ? 0 : now.nanoseconds(since: heardAt) }

  func abort(_ reason: String) { connection?.abort(reason) }

  func close() {
    cancel?()
    connection?.close()
  }
}
