import NATSWire
import PushModel

/// Why a node is not ready: the one cause of which all else follows, an engine that is not there before zones that nobody owns.
public enum ClusterTrouble: Equatable, Sendable {
  /// There is no connection to the engine, and why.
  case engineAway(String)
  /// There is one, and nothing comes.
  case engineSilent
  /// The engine refuses what nodes have to write.
  case engineRefuses(String)
  /// The engine does not say what became of what was written.
  case engineWaits(String)
  case reading
  /// Nodes that were not heard of for a moment, and the zones that they own, as a count.
  case silent([String], zones: Int)
  case unowned(Int, of: Int)

  /// What is looked at.
  struct Facts {
    var engineAway: String?
    var isEngineSilent = false
    /// What the engine has said to appends of this node that were not taken, and how long they have waited, in nanoseconds.
    var appends: [(failure: JetStreamFailure?, waited: Int64)] = []
    var hasRead = true
    /// Nodes of which nothing was heard for a moment.
    var silent: [String] = []
    /// The owner of each zone; nil for one that nobody owns who is known to live.
    var owners: [String?] = []
  }

  /// An append takes the engine some milliseconds; one of several servers that has lost its leader says so at once, and takes seconds.
  static let appendPatience: Int64 = 1_000_000_000

  init?(_ facts: Facts) {
    if let because = facts.engineAway {
      self = .engineAway(because)
    } else if facts.isEngineSilent {
      self = .engineSilent
    } else if let trouble = Self.trouble(of: facts.appends) {
      self = trouble
    } else if !facts.hasRead {
      self = .reading
    } else if let trouble = Self.trouble(of: facts.owners, silent: facts.silent) {
      self = trouble
    } else {
      return nil
    }
  }

  private static func trouble(of appends: [(failure: JetStreamFailure?, waited: Int64)]) -> ClusterTrouble? {
    let refusal = appends.lazy.compactMap(\.failure).first { !$0.isPassing }
    if let refusal { return .engineRefuses("\(refusal)") }
    guard let late = appends.first(where: { $0.waited >= appendPatience }) else { return nil }
    return .engineWaits("\(late.failure ?? .late)")
  }

  private static func trouble(of owners: [String?], silent: [String]) -> ClusterTrouble? {
    let nowhere = owners.count { $0 == nil }
    if nowhere > 0 { return .unowned(nowhere, of: owners.count) }
    let theirs = owners.count { $0.map(silent.contains) ?? false }
    return theirs > 0 ? .silent(silent, zones: theirs) : nil
  }

  /// Whether it is the engine's, so that no node can do anything about it.
  public var isOfEngine: Bool {
    switch self {
    case .engineAway, .engineSilent, .engineRefuses, .engineWaits: true
    case .reading, .silent, .unowned: false
    }
  }
}

extension ClusterTrouble: CustomStringConvertible {
  public var description: String {
    switch self {
    case .engineAway(let because): "the engine is not there: \(because)"
    case .engineSilent:
      "the engine has said nothing for a second: is the NATS server stopped, or the way there cut?"
    case .engineRefuses(let words):
      "the engine takes nothing more: \(words). Make room for the NATS server (its disk, max_file_store, or the account's limits):"
        + " nodes go on by themselves then"
    case .engineWaits(let words): "the engine keeps nothing at the moment: \(words)"
    case .reading: "the logs of the zones are being read"
    case .silent(let nodes, let zones):
      "nothing was heard of \(nodes.joined(separator: ", ")) for a second, with \(zones) zones"
    case .unowned(let count, let all): "\(count) of \(all) zones have no owner at the moment"
    }
  }
}

/// Says when the engine's trouble begins and when it is over, once each, whatever words it has meanwhile.
struct TroubleNews {
  /// How long it is before it is told of, in nanoseconds: a server that starts again is away for less.
  static let patience: Int64 = 1_000_000_000

  private var since: Instant?
  private var hasTold = false

  /// What is to be told now: the trouble, or that it is over.
  enum News: Equatable { case trouble(ClusterTrouble), over }

  mutating func take(_ trouble: ClusterTrouble?, now: Instant) -> News? {
    guard let trouble, trouble.isOfEngine else {
      defer { (since, hasTold) = (nil, false) }
      return hasTold ? .over : nil
    }
    let since = since ?? now
    self.since = since
    guard !hasTold, now.nanoseconds(since: since) >= Self.patience || trouble.isLasting else { return nil }
    hasTold = true
    return .trouble(trouble)
  }
}

extension ClusterTrouble {
  /// Somebody has to do something about it.
  fileprivate var isLasting: Bool { if case .engineRefuses = self { true } else { false } }
}
