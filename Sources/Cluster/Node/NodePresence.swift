import Basics
import NATSWire
import Platform
import Transport

/// Knows what a node tells the others of itself, and hears of them.
protocol NodePresenceListener: AnyObject {
  /// Zones that this node leads, as a count.
  var ledCount: Int { get }
  /// How far this node has read the cluster's log.
  var seenCount: UInt64 { get }
  /// A node has come, gone or changed.
  func presenceChanged()
  /// Something was said that no node of the cluster has said, or has said now.
  func presencePassedOver()
  /// This node can't be in the cluster any more: another has its name and came later, or has other credentials or another version and came earlier.
  func presenceRefused(_ sentence: String)
}

/// Which nodes live: says that this one does, hears of the others, and forgets those that have been silent for too long.
final class NodePresence {
  private static let announcementInterval: Int64 = 500_000_000
  /// Who is ticked later than so has not listened meanwhile, in nanoseconds.
  private static let lapse: Int64 = 300_000_000

  private let client: NATSClient
  private let names: ClusterNames
  private let seal: ClusterSeal?
  private let place: ClusterSeal.Place
  private let callPlace: ClusterSeal.Place
  private var fresh: FreshAnnouncements
  private var board = NodeBoard()
  /// What the others are told of this node.
  private(set) var own: NodeAnnouncement
  private var announcedAt = Instant.distantPast
  private var tickedAt = Instant.distantPast
  /// Since when what is said would have been heard.
  private var listeningSince = Instant.distantPast
  /// When this node's own announcement came back from NATS.
  private var echoedAt = Instant.distantPast
  /// Those that are asked whether they are still there, by name.
  private var asked: Set<String> = []
  private weak var listener: (any NodePresenceListener)?

  /// `created` says when the cluster's log was made.
  init(
    _ client: NATSClient, _ names: ClusterNames, name: String, ordinal: UInt64, seal: ClusterSeal?,
    of created: String
  ) {
    (self.client, self.names, self.seal) = (client, names, seal)
    place = ClusterSeal.Place(name: names.announcements, created: created)
    callPlace = ClusterSeal.Place(name: names.calls, created: created)
    fresh = FreshAnnouncements(ordinal: ordinal)
    own = NodeAnnouncement(name: name, ordinal: ordinal)
    own.everyMs = Self.announcementInterval / 1_000_000
  }

  /// Begins to hear of others, and to answer those who ask whether this node lives.
  func start(_ fingerprints: NodeFingerprints?, speaks: Int, _ listener: any NodePresenceListener) {
    self.listener = listener
    (own.fingerprints, own.speaks) = (fingerprints, speaks)
    _ = client.subscribe(names.announcements) { [weak self] in self?.hear($0.payload) }
    for subject in [names.calls, names.calls(of: own.name)] {
      _ = client.subscribe(subject) { [weak self] in self?.answer($0) }
    }
  }

  /// Whoever may ask can name any subject: at none but an inbox does this node speak for others.
  private func answer(_ question: NATSMessage) {
    guard let reply = question.reply, reply.hasPrefix(NATSClientSession.inboxes),
      NATSCommand.isSubject(reply), let call = NodeCall(question.payload)
    else { return }
    client.publish(reply, call.answer(own, seal, at: callPlace))
  }

  /// To be called some ten times a second.
  func tick(_ now: Instant) {
    if client.info == nil || now.nanoseconds(since: tickedAt) >= Self.lapse { listeningSince = now }
    tickedAt = now
    if now.nanoseconds(since: announcedAt) >= Self.announcementInterval { announce(now) }
    if !board.forgetSilent(now).isEmpty { listener?.presenceChanged() }
  }

  // MARK: The others

  /// The nodes that are running, including this one, by name.
  var all: [NodeAnnouncement] { (others + [own]).sorted { $0.name < $1.name } }

  var others: [NodeAnnouncement] { board.all.filter { $0.name != own.name } }

  /// What another node has said last; nil while it is not known to live.
  subscript(name: String) -> NodeAnnouncement? { board[name] }

  /// Those that zones may be at, by name.
  var heirs: [String] { all.filter { !$0.isDraining && $0.address != nil }.map(\.name) }

  /// Whether another node could take zones.
  var hasHeir: Bool { others.contains { !$0.isDraining && $0.address != nil } }

  /// It can't be reached any more: it need not be waited for.
  func forget(_ name: String) {
    guard board[name] != nil else { return }
    board.forget(name)
    listener?.presenceChanged()
  }

  /// Asks a node that has left whether it is still there, and forgets it if not: nobody listens where one has ended, and NATS says
  /// so at once. Its silence would tell that seconds later.
  func askWhetherGone(_ name: String) {
    guard let ordinal = board[name]?.ordinal, client.info != nil, asked.insert(name).inserted else { return }
    client.request(names.calls(of: name), NodeCall().question, within: Self.announcementInterval) {
      [weak self] answer in
      guard let self else { return }
      asked.remove(name)
      // Without a NATS server nobody was asked; and the node may have begun another life meanwhile.
      if answer == .nobodyListens, client.info != nil, board[name]?.ordinal == ordinal { forget(name) }
    }
  }

  /// Whether NATS has not told this node for a while what it says itself, twice a second.
  func isNATSSilent(_ now: Instant) -> Bool {
    now.nanoseconds(since: max(echoedAt, listeningSince)) >= 2 * Self.announcementInterval
  }

  /// Nodes that should have been heard of, by name.
  func silent(_ now: Instant) -> [String] { board.silent(now, listening: listeningSince) }

  private func hear(_ bytes: [UInt8]) {
    guard let heard = announcement(bytes) else { return }
    if heard.name == own.name, heard.ordinal == own.ordinal { echoedAt = SystemClock.now() }
    if let refusal = refusal(by: heard) { return listener?.presenceRefused(refusal) ?? () }
    guard heard.name != own.name else { return }
    let before = board[heard.name]
    board.hear(heard, now: SystemClock.now())
    guard before?.address != heard.address || before?.isDraining != heard.isDraining else { return }
    if before == nil { announce(SystemClock.now()) }
    listener?.presenceChanged()
  }

  /// Of two that can't both be there, the one that joined last before they heard of each other goes, for different credentials or versions; of
  /// two with one name the first, as that has not answered for too long when the other joined: its zones are the other's.
  private func refusal(by other: NodeAnnouncement) -> String? {
    guard other.name != own.name else {
      guard other.ordinal > own.ordinal else { return nil }
      return
        "another node has been started with the name \(own.name), as this one did not answer, or was started at the same time:"
        + " give each a --node of its own"
    }
    guard other.ordinal < own.ordinal else { return nil }
    if let refusal = other.refusal(of: own.name, speaking: own.speaks) { return refusal }
    guard let theirs = other.fingerprints else { return nil }
    return own.fingerprints?.refusal(of: own.name, beside: theirs, of: other.name)
  }

  /// What was said, if it counts.
  private func announcement(_ bytes: [UInt8]) -> NodeAnnouncement? {
    guard let seal else { return NodeAnnouncement(bytes) }
    guard let heard = seal.opened(bytes, at: place).flatMap(NodeAnnouncement.init) else {
      listener?.presencePassedOver()
      return nil
    }
    return fresh.admits(heard) ? heard : nil
  }

  // MARK: This one

  func listens(at address: SocketAddress, console: SocketAddress?) {
    (own.address, own.console) = (address, console)
    announce(SystemClock.now())
  }

  func count(devices: Int) { own.devices = devices }

  func drain() {
    own.isDraining = true
    announce(SystemClock.now())
  }

  private func announce(_ now: Instant) {
    announcedAt = now
    own.ledCount = listener?.ledCount ?? 0
    own.number += 1
    // This node's joining it has not read, but written.
    own.seen = max(own.ordinal, listener?.seenCount ?? 0)
    client.publish(names.announcements, seal?.sealed(own.encoded, at: place) ?? own.encoded)
  }
}

/// Which announcements are new, in a cluster with `--cluster-secret`: one that was heard is said again by anybody, without the secret.
///
/// An announcement counts once, and only behind all that its node has said before, also in the node's earlier lives; and only if its
/// node had read of this node's joining when it said so, as what was said before this node was there it can't have heard.
package struct FreshAnnouncements {
  /// Most nodes that are remembered, as a count.
  private static let limit = NodeBoard.limit

  /// Of this node's joining.
  private let ordinal: UInt64
  private var newest: [String: (ordinal: UInt64, number: UInt64)] = [:]

  package init(ordinal: UInt64) { self.ordinal = ordinal }

  package mutating func admits(_ announcement: NodeAnnouncement) -> Bool {
    let said = (ordinal: announcement.ordinal, number: announcement.number)
    guard announcement.seen >= ordinal, newest[announcement.name].map({ said > $0 }) ?? true else {
      return false
    }
    newest[announcement.name] = said
    // The one that joined first is the one that has gone, if one has.
    if newest.count > Self.limit, let oldest = newest.min(by: { $0.value < $1.value }) {
      newest[oldest.key] = nil
    }
    return true
  }
}
