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
  }
}
