import Basics
import Platform
import Testing

@testable import Transport

extension LiveTests {
  @Suite("Connections that lead out")
  struct OutsideConnectorTests {
    @Test("so many are made at a time, and another once one of them is up")
    func atOnce() throws {
      let stage = try LifetimeStage()
      let connector = OutsideConnector(loop: stage.loop, atOnce: 2)
      var (connections, failures): ([SocketConnection], [OutsideConnector.Failure]) = ([], [])
      func connect() {
        _ = connector.connect(to: stage.address) {
          switch $0 {
          case .success(let connection): connections.append(connection)
          case .failure(let failure): failures.append(failure)
          }
        }
      }
      connect()
      connect()
      #expect(failures.isEmpty)
      connect()
      #expect(failures.map(\.status) == [503] && connections.isEmpty)
      stage.turn(until: "two are up") { connections.count == 2 }
      connect()
      stage.turn(until: "the next is up") { connections.count == 3 }
      #expect(failures.count == 1)
      for connection in connections { connection.abort("enough") }
    }

    @Test("one that is up is not read from, and its time does not go on")
    func up() throws {
      let stage = try LifetimeStage()
      let loop = stage.loop
      let connector = OutsideConnector(loop: loop, timeout: 1)
      var made: SocketConnection?
      // Its time is over at once, and the loop does not know yet.
      loop.refused = [-1]
      _ = connector.connect(to: stage.address) { made = try? $0.get() }
      let end = SystemClock.now().adding(nanoseconds: 5_000_000_000)
      while made == nil, SystemClock.now() < end { loop.runTurn(wait: false) }
      let connection = try #require(made)
      loop.refused = []
      for _ in 0..<5 { loop.runTurn(wait: false) }
      #expect(connection.isOpen && connection.isPaused)
      connection.abort("enough")
    }
  }
}
