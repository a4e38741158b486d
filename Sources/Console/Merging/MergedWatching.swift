import Transport

/// Clients that watch what happens at all nodes, by one of them.
final class MergedWatching {
  let pump: EventPump
  private let follower: EventFollower

  init(
    _ context: ConsoleContext, _ slices: SliceScheduler, _ own: OwnEvents, _ others: any OtherConsoles
  ) {
    let events = MergedEvents(own)
    pump = EventPump(context, slices, events)
    follower = EventFollower(others, events) { [unowned context] in context.makeTimer($0, $1) }
    follower.isWatched = { [pump] in pump.streamCount > 0 }
    follower.onEvent = { [pump] in pump.somethingHappened() }
  }

  /// Begins a stream as soon as the others are followed: from its first event on it misses nothing. `refusing` has the client
  /// hear what goes wrong.
  func open(
    _ exchange: HTTPExchange, after position: EventPosition?,
    refusing: @escaping (() throws -> Void) -> Void
  ) throws {
    try pump.checkRoom(follower.waitingCount)
    follower.whenFollowing { [pump] in
      guard exchange.isOpen else { return }
      refusing { try pump.open(exchange, after: position) }
    }
  }

  func end() {
    pump.endAll()
    follower.stop()
  }
}

extension Console {
  /// `GET /api/v1/events` in a cluster: of all nodes.
  func mergeEvents(
    _ request: ConsoleRequest, _ exchange: HTTPExchange, _ others: any OtherConsoles
  ) throws {
    let position = try position(request)
    guard request.http.method == "GET" else { return exchange.respond(headOfEvents) }
    guard let merged else { throw ConsoleError.unavailable("the other nodes are not followed") }
    try merged.open(exchange, after: position) { [unowned self] in refusing(exchange, $0) }
  }
}
