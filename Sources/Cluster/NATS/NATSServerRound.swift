import Platform

/// In which order the NATS servers are tried: all addresses of a name, then the next server. Only when all have failed is there
/// a wait, so that one that is dead costs nothing as long as another lives.
///
///     begin ─→ name of a server ─→ its addresses, one after the other ─→ next server ─→ … ─→ over
struct NATSServerRound {
  enum Step: Equatable {
    case lookUp(NATSAddress)
    case dial(NATSAddress, SocketAddress)
    /// All were tried.
    case over
  }

  private let servers: [NATSAddress]
  /// Servers that were not tried in this round.
  private var waiting: ArraySlice<NATSAddress>
  /// The one whose turn it is, and its addresses that were not tried.
  private var present: NATSAddress?
  private var addresses: ArraySlice<SocketAddress> = []

  init(_ servers: [NATSAddress]) { (self.servers, waiting) = (servers, servers[...]) }

  /// Begins again, behind the server that was tried last: it is the one that was lost, and the others get its clients.
  mutating func begin() {
    let next = present.flatMap { servers.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    waiting = (servers[next...] + servers[..<next])[...]
    (present, addresses) = (nil, [])
  }

  mutating func next() -> Step {
    if let present, let address = addresses.popFirst() { return .dial(present, address) }
    guard let server = waiting.popFirst() else { return .over }
    present = server
    return .lookUp(server)
  }

  /// What the name of the server stands for whose turn it is.
  mutating func found(_ addresses: [SocketAddress]) { self.addresses = addresses[...] }
}
