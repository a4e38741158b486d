import Basics
import PushModel

/// Names a provider among those that are known. Never used twice, so that what remembers one can outlive it.
struct ProviderID: Hashable {
  var number: UInt64
}

/// Who does something: a provider, on one of its connections.
struct Origin {
  var provider: ProviderID
  var connection: UInt32
}

/// An open connection, with what has to be remembered while it is open. A class, as copies of it would take half the time of a push that is
/// looked at; only the table keeps it.
final class KnownConnection {
  let number: UInt32
  let interface: Interface
  let peer: String
  let tlsVersion: String?
  let opened: Instant
  var provider: ProviderID
  /// "" while none has been shown.
  var credential: String
  /// When we said GOAWAY, and the fault that made us do so.
  var goAway: (at: Instant, fault: String?)?
  /// When we wrote an error packet, and the fault that made us do so.
  var errorPacket: (at: Instant, fault: String?)?
  /// We have ended it, or a fault has touched it: how long it lasted is not up to the provider.
  var isDisturbed = false
  var tokens = TokenHistory()
  /// Of its first frames.
  var identifiers: Set<UInt32> = []
  var hasSaidIdentifiers = false
  var saidOldTLS = false
  /// Its frames that were rejected, and of which no error packet has told.
  var untold: [RefusedPush] = []

  var origin: Origin { Origin(provider: provider, connection: number) }

  init(_ seen: SeenConnection, of provider: Finding.Provider, _ id: ProviderID, at now: Instant) {
    (number, interface, tlsVersion, opened) = (seen.number, seen.interface, seen.tlsVersion, now)
    (self.provider, peer, credential) = (id, provider.peer, provider.credential)
  }
}

/// A provider, with what its connections have in common.
struct KnownProvider {
  let provider: Finding.Provider
  /// Its connections that are open, as a count.
  var open = 0
  var lastSeen: Instant
  /// When it last had none.
  var gone: Instant

  /// Whether it has been without a connection for so many nanoseconds.
  func isGone(for nanoseconds: Int64, at now: Instant) -> Bool {
    open == 0 && now.nanoseconds(since: gone) >= nanoseconds
  }
}

/// The open connections and whose they are.
struct ConnectionTable {
  /// Connections that are remembered at a time, as a count: more are not watched. About 200 bytes each.
  static let connectionLimit = 1024
  /// Providers, as a count: a new one takes the place of the one that was not seen for longest.
  static let providerLimit = 256
  /// Longest name of a credential or peer, in characters.
  static let nameLimit = 200

  private(set) var connections: [UInt32: KnownConnection] = [:]
  private(set) var providers: [ProviderID: KnownProvider] = [:]
  private var ids: [Finding.Provider: ProviderID] = [:]
  private var lastID: UInt64 = 0

  /// Answers a provider that had to go.
  mutating func open(_ seen: SeenConnection, at now: Instant) -> ProviderID? {
    guard connections.count < Self.connectionLimit, connections[seen.number] == nil else { return nil }
    let provider = Finding.Provider(
      interface: seen.interface, credential: String((seen.credential ?? "").prefix(Self.nameLimit)),
      peer: String(seen.peer.prefix(Self.nameLimit)))
    let (id, evicted) = find(provider, at: now)
    guard let id else { return nil }
    connections[seen.number] = KnownConnection(seen, of: provider, id, at: now)
    providers[id]?.open += 1
    return evicted
  }

  /// Answers a provider that had to go.
  mutating func identify(_ number: UInt32, as credential: String, at now: Instant) -> ProviderID? {
    guard let connection = connections[number] else { return nil }
    let provider = Finding.Provider(
      interface: connection.interface, credential: String(credential.prefix(Self.nameLimit)),
      peer: connection.peer)
    let (id, evicted) = find(provider, at: now)
    guard let id, id != connection.provider else { return evicted }
    leave(connection.provider, at: now)
    (connection.provider, connection.credential) = (id, provider.credential)
    providers[id]?.open += 1
    return evicted
  }

  /// Takes a connection out that has ended.
  mutating func end(_ number: UInt32, at now: Instant) -> KnownConnection? {
    guard let connection = connections.removeValue(forKey: number) else { return nil }
    leave(connection.provider, at: now)
    return connection
  }

  /// Lets go of what connections have done so far.
  mutating func clearHabits() {
    for connection in connections.values {
      connection.tokens.clear()
      connection.hasSaidIdentifiers = false
      connection.untold = []
    }
  }

  private mutating func leave(_ id: ProviderID, at now: Instant) {
    guard var provider = providers[id] else { return }
    provider.open = max(0, provider.open - 1)
    (provider.gone, provider.lastSeen) = (now, now)
    providers[id] = provider
  }

  private mutating func find(
    _ provider: Finding.Provider, at now: Instant
  ) -> (id: ProviderID?, evicted: ProviderID?) {
    if let id = ids[provider] {
      providers[id]?.lastSeen = now
      return (id, nil)
    }
    var evicted: ProviderID?
    if providers.count >= Self.providerLimit {
      evicted = evict()
      if evicted == nil { return (nil, nil) }
    }
    lastID += 1
    let id = ProviderID(number: lastID)
    ids[provider] = id
    providers[id] = KnownProvider(provider: provider, lastSeen: now, gone: now)
    return (id, evicted)
  }

  /// Forgets the provider that was not seen for longest, of those that have no connection.
  private mutating func evict() -> ProviderID? {
    let oldest = providers.filter { $0.value.open == 0 }.min { $0.value.lastSeen < $1.value.lastSeen }
    guard let oldest else { return nil }
    providers[oldest.key] = nil
    ids[oldest.value.provider] = nil
    return oldest.key
  }
}
