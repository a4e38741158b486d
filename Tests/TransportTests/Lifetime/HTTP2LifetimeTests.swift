import Basics
import Platform
import Testing

@testable import Transport

extension LiveTests {
  @Suite("Lifetimes of HTTP/2 connections and of hops through a proxy")
  struct HTTP2LifetimeTests {
    /// What ends the connection.
    enum Way: CaseIterable {
      case clientCloses, clientEnds, clientLeaves, clientIsSilent, serverCloses, serverIsAborted,
        serverIsReset
    }

    /// When.
    enum Moment: CaseIterable { case connecting, idle, requested }

    @Test("all is freed behind the end of an HTTP/2 connection", arguments: Way.allCases, Moment.allCases)
    func all(way: Way, moment: Moment) throws {
      let contexts = try LifetimeKeys.contexts(alpn: "h2")
      let stage = try LifetimeStage(contexts.server) { holder, _ in Self.serve(holder) }
      do {
        let owner = Owner()
        let connection = try HTTP2ClientConnection(
          loop: stage.loop, to: stage.address, serverName: "localhost", context: contexts.client, owner: owner
        )
        owner.connection = connection
        stage.watch(owner, connection, name: "HTTP/2 client")
        if moment == .connecting {
          stage.turn(until: "the server has begun") { stage.server != nil }
        } else {
          stage.turn(until: "SETTINGS are here") { connection.isReady }
        }
        if moment == .requested {
          _ = connection.send(HTTP2RequestHead(authority: "localhost"), path: "/", body: [1], context: 1)
          connection.flush()
          stage.loop.runTurn()
        }
        try Self.end(way, connection, #require(stage.server))
      }
      stage.turnUntilGone()
    }

    private static func end(_ way: Way, _ connection: HTTP2ClientConnection, _ server: Holder) {
      switch way {
      case .clientCloses: connection.close()
      case .clientEnds: connection.end()
      case .clientLeaves:
        connection.leave()
        // It would wait for its answer.
        connection.cancel(1)
      case .clientIsSilent:
        connection.endIfSilent(for: 0, now: SystemClock.now().adding(nanoseconds: 1_000_000_000))
        connection.end()
      case .serverCloses: server.connection?.close()
      case .serverIsAborted: server.connection?.abort("enough")
      case .serverIsReset: server.connection?.abort("enough", reset: true)
      }
    }

    /// Answers nothing.
    private static func serve(_ holder: Holder) {
      guard let session = HTTP2ServerSession() else { return }
      let flush: () -> Void = { [weak holder] in
        _ = session.drainOutput { holder?.connection?.send(Array($0)) }
      }
      holder.acts[.opened] = { _ in flush() }
      holder.takes = { _ = session.receive($0) }
      holder.acts[.received] = { _ in
        while session.nextRequest() != nil {}
        flush()
      }
    }

    /// What a proxy does, and what its client.
    enum Hop: CaseIterable {
      case refuses, babbles, closes, resets, isGivenUp, isGivenUpAtOnce, agrees, agreesAndCloses
    }

    @Test("all is freed behind the end of a hop", arguments: Hop.allCases)
    func hops(hop: Hop) throws {
      let contexts = try LifetimeKeys.contexts(alpn: "h2")
      let stage = try LifetimeStage { holder, _ in Self.relay(hop, holder) }
      do {
        let owner = Owner()
        let target = ProxyRoute(to: SocketAddress(host: "localhost", port: 443))
        let connection = try HTTP2ClientConnection(
          loop: stage.loop, to: stage.address, through: target, serverName: "localhost",
          context: contexts.client, owner: owner)
        owner.connection = connection
        stage.watch(owner, connection, name: "HTTP/2 client")
        if hop == .isGivenUpAtOnce { connection.end() }
        if hop == .isGivenUp || hop == .agrees {
          stage.turn(until: "the proxy was asked") { stage.server?.heard.contains(.received) == true }
          for _ in 0..<3 { stage.loop.runTurn(wait: false) }
          connection.end()
        }
      }
      stage.turnUntilGone()
    }

    private static func relay(_ hop: Hop, _ holder: Holder) {
      let answer = { (status: String) in Array("HTTP/1.1 \(status)\r\n\r\n".utf8) }
      holder.acts[.received] = { connection in
        switch hop {
        case .refuses: connection.send(answer("403 Forbidden"))
        case .babbles: connection.send(Array("no HTTP\r\n\r\n".utf8))
        case .closes: connection.close()
        case .resets: connection.abort("rude", reset: true)
        case .agrees: connection.send(answer("200 OK"))
        case .agreesAndCloses:
          connection.send(answer("200 OK"))
          connection.close()
        case .isGivenUp, .isGivenUpAtOnce: break
        }
      }
    }

    private final class Owner: HTTP2ClientOwner {
      var connection: HTTP2ClientConnection?
      private var hasEnded = false

      func connection(_ connection: HTTP2ClientConnection, settled context: Int, _ outcome: HTTP2Outcome) {
        #expect(!hasEnded)
      }
      func connectionAdvanced(_ connection: HTTP2ClientConnection) { #expect(!hasEnded) }
      func connectionClosed(_ connection: HTTP2ClientConnection, reason: String) {
        #expect(!hasEnded)
        hasEnded = true
      }
    }
  }
}
