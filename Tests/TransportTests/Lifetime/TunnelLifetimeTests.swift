import Basics
import Platform
import Testing

@testable import Transport

extension LiveTests {
  @Suite("Lifetimes of tunnels")
  struct TunnelLifetimeTests {
    /// How a tunnel comes to its end.
    enum Way: CaseIterable {
      case clientCloses, serverCloses, bothClose, clientResets, serverResets, clientIsAborted, serverIsAborted
      case closed, closedThenAborted, ended, closedAll, endedAll, overdue
      /// Nothing turns the loop any more, and who had the tunnels lets go of them.
      case letGo, letGoWhileParting, letGoWithOutput
    }

    /// Two outside ends, and the tunnel between the two inside.
    private final class Scene {
      let stage: LifetimeStage
      var tunnels: SocketTunnels?
      let client: Holder
      let server: Holder
      weak var tunnel: SocketTunnel?
      private(set) weak var inner: SocketConnection?
      private(set) weak var outer: SocketConnection?
      private weak var innerSide: AnyObject?
      private weak var outerSide: AnyObject?
      private(set) var overs = 0

      init(hasTLS: Bool, limits: SocketTunnel.Limits? = nil, sweepInterval: Int64 = 3_600_000_000_000) throws
      {
        let contexts = hasTLS ? try LifetimeKeys.contexts() : nil
        stage = try LifetimeStage(contexts?.server)
        let stage = stage
        client = try stage.connect(contexts?.client)
        stage.turn(until: "the client is up") { [client] in client.isUp && stage.server?.isUp == true }
        inner = stage.server?.connection
        let far = try LifetimeStage(on: stage.loop)
        let dialled = try far.connect()
        stage.turn(until: "the server is up") { dialled.isUp && far.server != nil }
        outer = dialled.connection
        server = try #require(far.server)
        tunnels = SocketTunnels(loop: stage.loop, name: "test", limits: limits, sweepInterval: sweepInterval)
        try join(dialled)
      }

      private func join(_ dialled: Holder) throws {
        let (inner, outer) = (try #require(inner), try #require(outer))
        stage.server?.connection = nil
        dialled.connection = nil
        // As they come from a proxy.
        for side in [inner, outer] { side.setPaused(true) }
        tunnel = tunnels?.join(inner, outer) { [weak self] in self?.overs += 1 }
        (innerSide, outerSide) = (inner.handler, outer.handler)
        #expect(tunnel != nil && innerSide !== outerSide)
      }

      /// Neither the connections, nor the sides, nor the tunnel.
      var isGone: Bool {
        inner == nil && outer == nil && innerSide == nil && outerSide == nil && tunnel == nil
      }
    }

    @Test("both ends are freed, however the tunnel comes to its end", arguments: Way.allCases)
    func freed(way: Way) throws {
      for hasTLS in [false, true] {
        let scene = try Scene(hasTLS: hasTLS)
        scene.client.connection?.send([1, 2, 3])
        scene.stage.turn(until: "bytes have passed") { scene.server.heard.contains(.received) }
        Self.end(scene, way)
        if [.letGo, .letGoWhileParting, .letGoWithOutput].contains(way) {
          #expect(scene.isGone, "TLS: \(hasTLS)")
        } else {
          scene.stage.turn(until: "all is freed, TLS: \(hasTLS)") {
            scene.isGone && scene.tunnels?.count == 0
          }
          #expect(scene.overs == 1)
        }
        scene.stage.turn(until: "the ends know") { scene.client.hasEnded && scene.server.hasEnded }
      }
    }

    private static func end(_ scene: Scene, _ way: Way) {
      switch way {
      case .clientCloses: scene.client.connection?.close()
      case .serverCloses: scene.server.connection?.close()
      case .bothClose: for end in [scene.client, scene.server] { end.connection?.close() }
      case .clientResets: scene.client.connection?.abort("rude", reset: true)
      case .serverResets: scene.server.connection?.abort("rude", reset: true)
      case .clientIsAborted: scene.inner?.abort("enough")
      case .serverIsAborted: scene.outer?.abort("enough")
      case .closed: scene.tunnel?.close()
      case .closedThenAborted:
        scene.tunnel?.close()
        scene.inner?.abort("the emulator is shutting down")
      case .ended: scene.tunnel?.end("enough")
      case .closedAll: scene.tunnels?.closeAll()
      case .endedAll: scene.tunnels?.endAll()
      case .overdue:
        // What has moved since the last look puts it off.
        for _ in 0..<2 { scene.inner?.endIfOverdue(.distantFuture) }
      case .letGo: scene.tunnels = nil
      case .letGoWhileParting:
        scene.tunnel?.close()
        scene.inner?.abort("the emulator is shutting down")
        // The turn's end, at which the loop lets go of who had something to say.
        scene.stage.loop.flushClients()
        scene.tunnels = nil
      case .letGoWithOutput:
        for end in [scene.client, scene.server] { end.connection?.setPaused(true) }
        scene.outer?.send([UInt8](repeating: 7, count: 8 << 20))
        scene.inner?.send([UInt8](repeating: 7, count: 8 << 20))
        scene.tunnel?.close()
        scene.stage.loop.runTurn(wait: false)
        scene.tunnels = nil
        for end in [scene.client, scene.server] { end.connection?.setPaused(false) }
      }
    }

    @Test("a side is read from while as much waits for the other as may, for which there is less time")
    func limits() throws {
      let hour: Int64 = 3_600_000_000_000
      let scene = try Scene(hasTLS: false, limits: .init(idle: 10 * hour, stall: hour, backlog: 3))
      let (inner, outer) = (try #require(scene.inner), try #require(scene.outer))
      let now = SystemClock.now()
      #expect(inner.deadline > now.adding(nanoseconds: 9 * hour))
      #expect(inner.deadline < now.adding(nanoseconds: 11 * hour))
      // What the client is to hear waits.
      scene.stage.loop.holdOutput()
      scene.server.connection?.waitsForCommits = false
      scene.server.connection?.send([1, 2, 3])
      scene.stage.turn(until: "they are here") { inner.queuedBytes == 3 }
      #expect(!outer.isPaused && inner.deadline < SystemClock.now().adding(nanoseconds: 2 * hour))
      scene.server.connection?.send([4])
      scene.stage.turn(until: "it is here") { inner.queuedBytes == 4 }
      #expect(outer.isPaused)
      scene.stage.loop.freeOutput()
      scene.stage.turn(until: "all has left") { inner.queuedBytes == 0 && !outer.isPaused }
      #expect(inner.deadline > SystemClock.now().adding(nanoseconds: 9 * hour))
      // Behind the end of a side there is half a minute, whatever waits.
      scene.stage.loop.holdOutput()
      scene.server.connection?.send([5])
      scene.stage.turn(until: "it is here") { inner.queuedBytes == 1 }
      scene.server.connection?.tellEnd()
      scene.stage.turn(until: "the end is here") { outer.peerHasEnded }
      #expect(inner.deadline < SystemClock.now().adding(nanoseconds: 30_000_000_001))
      scene.tunnel?.end("enough")
    }

    @Test("servers that do not end are looked for again and again, as no listener looks after them")
    func sweeps() throws {
      let millisecond: Int64 = 1_000_000
      let scene = try Scene(hasTLS: false, sweepInterval: millisecond)
      let start = SystemClock.now()
      scene.stage.turn(until: "there was a look") {
        SystemClock.now() > start.adding(nanoseconds: 10 * millisecond)
      }
      try #require(scene.outer).deadline = .distantPast
      scene.stage.turn(until: "it is over") { scene.tunnels?.count == 0 }
      #expect(scene.overs == 1)
    }

    @Test("a tunnel that can't be, as one end is gone, keeps neither")
    func never() throws {
      let stage = try LifetimeStage()
      do {
        let (first, second) = (try stage.connect(), try stage.connect())
        stage.turn(until: "both are up") { first.isUp && second.isUp }
        let tunnels = SocketTunnels(loop: stage.loop, name: "test")
        let (one, two) = (try #require(first.connection), try #require(second.connection))
        one.abort("gone")
        #expect(tunnels.join(one, two) == nil && tunnels.count == 0)
        #expect(first.hasEnded && second.hasEnded)
      }
      stage.turnUntilGone()
    }
  }
}
