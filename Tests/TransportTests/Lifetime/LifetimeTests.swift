import Basics
import Platform
import Testing

@testable import Transport

extension LiveTests {
  /// Whatever has closed is freed, and nothing is heard of it any more: each kind of end, in each state. To be run under the address
  /// sanitizer, too.
  @Suite("Lifetimes of connections")
  struct LifetimeTests {
    /// When the one end is closed.
    enum Moment: CaseIterable {
      /// Before anything has happened: a client connects, a server with TLS waits for the handshake.
      case begun
      case opened, received, drained, peerEnded
      case idle, paused, stalled, queued, dribbling, draining, settling
    }

    enum Ending: CaseIterable {
      case close, halfClose, raw, end, abort, reset, evict

      func end(_ connection: SocketConnection) {
        switch self {
        case .close: connection.close()
        case .halfClose: connection.halfClose()
        case .raw: connection.close(sendingRaw: [1, 2, 3])
        case .end: connection.end()
        case .abort: connection.abort("enough")
        case .reset: connection.abort("enough", reset: true)
        case .evict: connection.evict()
        }
      }
    }

    @Test("all is freed behind the end", arguments: Moment.allCases, Ending.allCases)
    func all(moment: Moment, ending: Ending) throws {
      // What is not open yet has no such end.
      guard moment != .begun || ending != .raw else { return }
      for hasTLS in [false, true] {
        for isServer in [false, true] {
          weak let loop = try Self.play(moment, ending, hasTLS: hasTLS, isServer: isServer)
          #expect(loop == nil, "TLS: \(hasTLS), a server ends: \(isServer)")
        }
      }
    }

    /// Answers the loop, which is to go with all that is on it.
    private static func play(
      _ moment: Moment, _ ending: Ending, hasTLS: Bool, isServer: Bool
    ) throws -> EventLoop? {
      let contexts =
        hasTLS ? try LifetimeKeys.contexts(closeDelay: moment == .settling ? 3_600_000_000_000 : 0) : nil
      var (actor, other) = (plan(moment, ending), planOfOther(moment))
      if isServer { swap(&actor, &other) }
      let (ofClient, ofServer) = (actor, other)
      let stage = try LifetimeStage(contexts?.server) { holder, connection in
        ofServer(holder)
        if isServer, moment == .begun { ending.end(connection) }
        // Without TLS a server is open at once, and not told.
        if !hasTLS { holder.acts[.opened]?(connection) }
      }
      do {
        let client = try stage.connect(contexts?.client, prepare: ofClient)
        if !isServer, moment == .begun { client.connection.map(ending.end) }
        if [.idle, .paused, .stalled, .queued, .dribbling, .draining, .settling].contains(moment) {
          stage.turn(until: "both are up") { client.isUp && stage.server?.isUp == true }
          let server = try #require(stage.server)
          let (actor, other) = isServer ? (server, client) : (client, server)
          try actAmid(moment, ending, #require(actor.connection))
          stage.loop.runTurn(wait: false)
          other.connection?.setPaused(false)
          // It would wait for so long.
          if moment == .settling { other.connection?.close() }
        }
      }
      stage.turnUntilGone()
      return stage.loop
    }

    /// What who ends the connection does in its calls.
    private static func plan(_ moment: Moment, _ ending: Ending) -> (Holder) -> Void {
      { holder in
        switch moment {
        case .opened: holder.acts[.opened] = ending.end
        case .received: holder.acts[.received] = ending.end
        case .peerEnded: holder.acts[.peerEnded] = ending.end
        case .drained:
          holder.acts[.opened] = { $0.notifyWhenDrained() }
          holder.acts[.drained] = ending.end
        default: break
        }
      }
    }

    private static func planOfOther(_ moment: Moment) -> (Holder) -> Void {
      { holder in
        switch moment {
        case .received: holder.acts[.opened] = { $0.send([1, 2, 3]) }
        case .peerEnded: holder.acts[.opened] = { $0.close() }
        case .queued, .dribbling, .draining, .settling: holder.acts[.opened] = { $0.setPaused(true) }
        default: break
        }
      }
    }

    /// Brings an open connection to a state, and ends it there.
    private static func actAmid(_ moment: Moment, _ ending: Ending, _ connection: SocketConnection) {
      switch moment {
      case .paused: connection.setPaused(true)
      case .stalled: connection.setStalled(true)
      case .queued: connection.send([UInt8](repeating: 7, count: 8 << 20))
      case .dribbling:
        connection.send(pattern(100))
        connection.dribble(bytes: 10, everyNanoseconds: 1000)
        connection.flushNow()
      case .draining:
        connection.send([UInt8](repeating: 7, count: 8 << 20))
        connection.close()
        connection.flushNow()
      case .settling:
        connection.send([1])
        connection.close()
        connection.flushNow()
      default: break
      }
      ending.end(connection)
    }

    @Test("who is evicted may have last words of one chunk, and is dropped if they are longer")
    func lastWords() throws {
      for (count, isDropped) in [(65_536, false), (65_537, true)] {
        let words = pattern(count)
        let stage = try LifetimeStage { holder, _ in
          holder.acts[.evicted] = {
            $0.send(words)
            $0.close()
          }
        }
        do {
          var heard: [UInt8] = []
          let client = try stage.connect { $0.takes = { heard.append($0) } }
          stage.turn(until: "both are up") { client.isUp && stage.server?.isUp == true }
          let server = try #require(stage.server)
          server.connection?.evict()
          #expect(server.hasEnded == isDropped)
          stage.turn(until: "the client knows") { client.hasEnded }
          #expect(heard.count == (isDropped ? 0 : count))
        }
        stage.turnUntilGone()
      }
    }

    /// A server that has said its end, and a client that has yet to.
    private func lingering(
      _ stage: LifetimeStage, _ context: TLSContext? = nil, prepare: (SocketConnection) -> Void
    ) throws -> (client: SocketConnection, server: Holder) {
      let client = try stage.connect(context) { $0.acts[.peerEnded] = { _ in } }
      stage.turn(until: "both are up") { client.isUp && stage.server?.isUp == true }
      let server = try #require(stage.server)
      let connection = try #require(server.connection)
      prepare(connection)
      connection.close()
      stage.turn(until: "the end is said") { connection.isLingering && client.heard.last == .peerEnded }
      return (try #require(client.connection), server)
    }

    @Test("as much may come after our end as the owner says, shown or thrown away, and not a byte more")
    func inputAfterEnd() throws {
      for isShown in [false, true] {
        let stage = try LifetimeStage()
        let (client, server) = try lingering(stage) {
          $0.inputAfterEnd = 3
          $0.shownAfterEnd = isShown ? 100 : 0
        }
        let connection = try #require(server.connection)
        client.send([1, 2, 3])
        stage.turn(until: "they are here") { connection.thrownAway + connection.bytesRead == 3 }
        #expect(!server.hasEnded && connection.bytesRead == (isShown ? 3 : 0))
        client.send([4])
        stage.turn(until: "it is cut off") { server.hasEnded }
      }
    }

    @Test("of what comes after our end 64 records are shown in a turn, and the others in the next ones")
    func showsInTurn() throws {
      let contexts = try LifetimeKeys.contexts()
      let stage = try LifetimeStage(contexts.server)
      let (client, server) = try lingering(stage, contexts.client) { $0.shownAfterEnd = 1000 }
      for byte in 0..<UInt8(200) {
        client.send([byte])
        client.flushNow()
      }
      let connection = try #require(server.connection)
      var shown = [0]
      stage.turn(until: "all are here") {
        shown.append(connection.bytesRead)
        return connection.bytesRead == 200
      }
      #expect(zip(shown.dropFirst(), shown).map { $0 - $1 }.max() == 64)
      connection.abort("enough")
    }

    @Test("a connection costs memory from its beginning, until it has ended or another has its socket")
    func costs() throws {
      let contexts = try LifetimeKeys.contexts()
      // As much as the state of OpenSSL with all that belongs to it, and without.
      for (hasTLS, cost) in [(true, 15_360), (false, 1024)] {
        let stage = try LifetimeStage(hasTLS ? contexts.server : nil)
        let client = try stage.connect(hasTLS ? contexts.client : nil)
        stage.turn(until: "both are up") { client.isUp && stage.server?.isUp == true }
        #expect(stage.loop.memory.used == 2 * cost)
        let connection = try #require(client.connection)
        if let descriptor = connection.detach() {
          SocketCalls.close(descriptor)
        } else {
          connection.abort("enough")
        }
        #expect(stage.loop.memory.used == cost && stage.server?.isUp == true)
        stage.turn(until: "the server knows") { stage.server?.hasEnded != false }
        #expect(stage.loop.memory.used == 0)
      }
    }

    @Test("TLS can't begin behind the end of a peer, and the connection is dropped")
    func securesTooLate() throws {
      let contexts = try LifetimeKeys.contexts()
      let stage = try LifetimeStage()
      let client = try stage.connect { $0.acts[.peerEnded] = { _ in } }
      stage.turn(until: "both are up") { client.isUp && stage.server?.isUp == true }
      stage.server?.connection?.close()
      stage.turn(until: "the end is here") { client.heard.last == .peerEnded }
      let plain = try #require(client.connection)
      #expect(throws: SocketError.self) {
        try TLSClient.secure(plain, serverName: nil, context: contexts.client, handler: Holder(nil))
      }
      #expect(client.hasEnded)
    }

    @Test("a connection outlives its listener, and the contexts of both ends")
    func listenerGoes() throws {
      var contexts: (server: TLSContext, client: TLSContext)? = try LifetimeKeys.contexts()
      weak let (serverContext, clientContext) = (contexts?.server, contexts?.client)
      let loop = try #require(EventLoop())
      let holder = Holder(nil)
      var listener: SocketListener? = try SocketListener(
        loop: loop, address: SocketAddress(host: "127.0.0.1", port: 0), context: contexts?.server
      ) {
        holder.connection = $0
        return holder
      }
      let client = Holder(nil)
      client.connection = try TLSClient.connect(
        loop: loop, to: #require(listener).address, serverName: "localhost", context: contexts?.client,
        handler: client)
      let limit: Int64 = 20_000_000_000
      try #require(loop.turn(until: { holder.connection != nil }, within: limit))
      (listener, contexts) = (nil, nil)
      #expect(serverContext == nil && clientContext == nil)
      try #require(loop.turn(until: { client.isUp && holder.isUp }, within: limit))
      client.connection?.close()
      try #require(loop.turn(until: { client.hasEnded && holder.hasEnded }, within: limit))
    }
  }
}
