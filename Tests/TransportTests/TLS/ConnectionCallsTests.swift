import Testing

import Transport

extension LiveTests {
  /// What `ConnectionHandler` says of calls that come from inside a call to the connection.
  @Suite("Connection, calls from inside a call")
  struct ConnectionCallsTests {
    /// What an open connection's owner hears before `call` returns.
    private func heard(
      _ prepare: (SocketConnection) -> Void = { _ in }, during call: (SocketConnection) -> Void
    ) throws -> [String] {
      let stage = try Stage()
      let (_, server) = try stage.pair()
      let connection = try #require(server.connection)
      prepare(connection)
      let before = server.calls.count
      call(connection)
      return Array(server.calls[before...])
    }

    @Test("who drops a connection hears of its end at once")
    func drops() throws {
      #expect(try heard { $0.abort("enough") } == ["closed"])
      #expect(try heard { $0.end() } == ["closed"])
    }

    @Test("who closes one that is open hears of it later, and at once where there is nothing to wait for")
    func closes() throws {
      let closes: [(SocketConnection) -> Void] = [
        { $0.close() }, { $0.halfClose() }, { $0.close(sendingRaw: [1]) },
      ]
      for close in closes {
        #expect(try heard(during: close).isEmpty)
        #expect(try heard({ $0.setStalled(true) }, during: close) == ["closed"])
      }
      let client = try Stage().connect()
      client.connection?.close()
      #expect(client.calls == ["closed"])
    }

    @Test("who has output written at once may hear that it has left, or that the peer is gone")
    func flushes() throws {
      let asked = try heard({ $0.notifyWhenDrained() }, during: { $0.flushNow() })
      #expect(asked == ["drained"])
      let stage = try Stage()
      let (client, server) = try stage.pair()
      client.connection?.abort("gone", reset: true)
      server.send([1])
      server.connection?.flushNow()
      #expect(server.calls.last == "closed" && server.connection?.wasCutBeforeEnd == true)
    }

    @Test("nothing else calls back")
    func others() throws {
      let silent = try heard { connection in
        connection.send([1])
        connection.sendAtOnce([UInt8](repeating: 2, count: 9).span)
        connection.notifyWhenDrained()
        connection.setPaused(true)
        connection.setPaused(false)
        connection.setStalled(true)
        connection.setStalled(false)
        connection.dribble(bytes: 1, everyNanoseconds: 1)
        connection.hold(1)
      }
      #expect(silent.isEmpty)
    }
  }
}
