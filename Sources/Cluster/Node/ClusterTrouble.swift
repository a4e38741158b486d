import Basics
import NATSWire

/// Why a node is not ready: the one cause of which all else follows, a NATS server that is not there before zones that nobody
/// leads.
package enum ClusterTrouble: Equatable, Sendable {
  /// There is no connection to NATS, and why.
  case natsUnreachable(String)
  /// There is one, and nothing comes.
  case natsSilent
  /// NATS refuses what nodes have to write.
  case natsRefuses(String)
  /// NATS does not say what became of what was written.
  case natsWaits(String)
  case reading
  /// Nodes that were not heard of for a moment, and the zones that they own, as a count.
  case silent([String], zones: Int)
  case unowned(Int, of: Int)

  /// What is looked at.
  package struct Facts {
    package var natsUnreachable: String?
    package var isNATSSilent = false
    /// What NATS has said to appends of this node that were not taken, and how long they have waited, in nanoseconds.
    package var appends: [(failure: JetStreamFailure?, waited: Int64)] = []
    package var hasRead = true
    /// Nodes of which nothing was heard for a moment.
    package var silent: [String] = []
    /// The leader of each zone; nil for one that nobody leads who is known to live.
    package var leaders: [String?] = []

    package init() {}
  }

  /// An append takes NATS some milliseconds; one of several servers that has lost its leader says so at once, and takes seconds.
  static let appendTimeout: Int64 = 1_000_000_000

  package init?(_ facts: Facts) {
    if let because = facts.natsUnreachable {
      self = .natsUnreachable(because)
    } else if facts.isNATSSilent {
      self = .natsSilent
    } else if let trouble = Self.trouble(of: facts.appends) {
      self = trouble
    } else if !facts.hasRead {
      self = .reading
    } else if let trouble = Self.trouble(of: facts.leaders, silent: facts.silent) {
      self = trouble
    } else {
      return nil
    }
  }

  private static func trouble(of appends: [(failure: JetStreamFailure?, waited: Int64)]) -> ClusterTrouble? {
    let refusal = appends.lazy.compactMap(\.failure).first { !$0.isPassing }
    if let refusal { return .natsRefuses("\(refusal)") }
    guard let late = appends.first(where: { $0.waited >= appendTimeout }) else { return nil }
    return .natsWaits("\(late.failure ?? .late)")
  }

  private static func trouble(of leaders: [String?], silent: [String]) -> ClusterTrouble? {
    let nowhere = leaders.count { $0 == nil }
    if nowhere > 0 { return .unowned(nowhere, of: leaders.count) }
    let theirs = leaders.count { $0.map(silent.contains) ?? false }
    return theirs > 0 ? .silent(silent, zones: theirs) : nil
  }

  /// Whether it is the NATS server's, so that no node can do anything about it.
  package var isOfNATS: Bool {
    switch self {
    case .natsUnreachable, .natsSilent, .natsRefuses, .natsWaits: true
    case .reading, .silent, .unowned: false
    }
  }
}

extension ClusterTrouble: CustomStringConvertible {
  package var description: String {
    switch self {
    case .natsUnreachable(let because): "the NATS server is unreachable: \(because)"
    case .natsSilent:
      "the NATS server has not responded for a second: is it stopped, or the network cut?"
    case .natsRefuses(let words):
      "the NATS server stores nothing more: \(words). Free space on its disk, or raise max_file_store or the account's"
        + " limits; then the nodes go on by themselves"
    case .natsWaits(let words): "the NATS server stores nothing at the moment: \(words)"
    case .reading: "the logs of the zones are being read"
    case .silent(let nodes, let zones):
      "no message has come from \(nodes.joined(separator: ", ")) for a second, with \(zones) zones"
    case .unowned(let count, let all): "\(count) of \(all) zones have no leader at the moment"
    }
  }
}

/// Says when the NATS server's trouble begins and when it is over, once each, whatever words it has meanwhile.
package struct TroubleNews {
  /// How long it is before it is told of, in nanoseconds: a server that starts again is unreachable for less.
  static let timeout: Int64 = 1_000_000_000

  private var since: Instant?
  private var hasTold = false

  package init() {}

  /// What is to be told now: the trouble, or that it is over.
  package enum News: Equatable { case trouble(ClusterTrouble), over }

  package mutating func take(_ trouble: ClusterTrouble?, now: Instant) -> News? {
    guard let trouble, trouble.isOfNATS else {
      defer { (since, hasTold) = (nil, false) }
      return hasTold ? .over : nil
    }
    let since = since ?? now
    self.since = since
    guard !hasTold, now.nanoseconds(since: since) >= Self.timeout || trouble.isLasting else { return nil }
    hasTold = true
    return .trouble(trouble)
  }
}

extension ClusterTrouble {
  /// Somebody has to do something about it.
  fileprivate var isLasting: Bool { if case .natsRefuses = self { true } else { false } }
}
