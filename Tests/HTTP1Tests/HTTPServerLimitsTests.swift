import Basics
import Platform
import Testing

import Transport

@Suite struct HTTPServerLimitsTests {
  @Test("Beyond the connection limit clients wait until another goes")
  func connectionLimit() throws {
    var limits = HTTPLimits()
    (limits.connections, limits.reserve) = (1, 0)
    let loop = try #require(EventLoop())
    // No timer has them looked for.
    loop.refused = [-1]
    let live = try LiveServer.echo(limits, on: loop)
    let (first, second) = (try live.connect(), try live.connect())
    first.send(HTTPServerTests.get)
    second.send(HTTPServerTests.get)
    _ = live.receive(first) { $0.hasSuffix("GET 0") }
    second.read()
    #expect(second.bytes.isEmpty)
    first.close()
    #expect(live.receive(second) { $0.hasSuffix("GET 0") }.contains("200"))
  }

  @Test("A full server answers whoever comes on its reserve, once, and never lets the silent block the next")
  func reserve() throws {
    var limits = HTTPLimits()
    (limits.connections, limits.reserve) = (2, 3)
    let live = try LiveServer(limits) { exchange, kept in
      guard exchange.isOnReserve else { return kept.exchanges.append(exchange) }
      exchange.respond(HTTPResponse(text: "reserve"))
    }
    let parked = [try live.connect(), try live.connect()]
    for client in parked { client.send(HTTPServerTests.get) }
    try #require(live.turn { live.kept.exchanges.count == 2 })
    // Far more that say nothing, or only half of something, than there is room for.
    let silent = try (0..<20).map { _ in try live.connect() }
    for client in silent.prefix(10) { client.send("GET / HT") }
    for _ in 0..<5 {
      let client = try live.connect()
      client.send(HTTPServerTests.get)
      let text = live.receive(client) { _ in false }
      #expect(text.contains("Connection: close\r\n") && text.hasSuffix("reserve"))
    }
    #expect(live.server.openConnections.count <= 5)
    #expect(live.server.openConnections.filter { !$0.isReserve }.count == 2)
    // One of the ordinary ones goes: the next may ask for anything.
    parked[0].close()
    try #require(live.turn { live.server.openConnections.filter { !$0.isReserve }.count == 1 })
    let next = try live.connect()
    next.send(HTTPServerTests.get)
    #expect(live.turn { live.kept.exchanges.count == 3 })
  }

  @Test("A connection of the reserve that says nothing for too long gets 408")
  func slowOnReserve() throws {
    var limits = HTTPLimits()
    (limits.connections, limits.reserve, limits.reserveTime) = (0, 1, 50_000_000)
    let live = try LiveServer.echo(limits)
    let slow = try live.connect()
    slow.send("GET / HT")
    #expect(live.receive(slow) { _ in false }.hasPrefix("HTTP/1.1 408"))
  }

  @Test("While memory is short requests wait, but for those on the reserve, and go on when there is room")
  func shortOfMemory() throws {
    var limits = HTTPLimits()
    limits.connections = 1
    let live = try LiveServer.echo(limits)
    let client = try live.connect()
    try #require(live.turn { live.server.openConnections.count == 1 })
    let (memory, much) = (live.loop.memory, 1 << 30)
    memory.limit = 1 << 20
    // Held by somebody who can't give way, and nobody else is to be ended for it.
    memory.change(by: 2 * much)
    memory.noteHelpless()
    memory.change(by: -much)
    client.send(HTTPServerTests.get + HTTPServerTests.get)
    let second = try live.connect()
    second.send(HTTPServerTests.get)
    #expect(live.receive(second) { _ in false }.hasSuffix("GET 0"))
    #expect(live.server.openConnections.map(\.requestCount).reduce(0, +) <= 1)
    client.read()
    #expect(client.bytes.isEmpty)
    memory.change(by: -much)
    #expect(
      live.receive(client) { $0.hasSuffix("GET 0") && $0.contains("GET 0HTTP/1.1 200") }.contains("200 OK"))
  }

  @Test("The budget knows what a client has sent, and what it has not read")
  func counted() throws {
    let count = 500_000
    var limits = HTTPLimits()
    limits.body = count
    let live = try LiveServer.keeping(limits)
    let before = live.loop.memory.used
    let client = try live.connect()
    client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(count)\r\n\r\n")
    var left = count
    #expect(
      live.turn {
        left -= max(0, client.send(String(repeating: "x", count: left)))
        return left == 0
      })
    try #require(live.turn { live.kept.exchanges.count == 1 })
    #expect(live.loop.memory.used - before >= count)
    live.kept.exchanges[0].respond(HTTPResponse(text: String(repeating: "y", count: 10 * count)))
    // The request is given back, and the answer is held instead.
    let used = live.loop.memory.used - before
    #expect(used >= 10 * count && used <= 10 * count + 4 * 65_536)
    client.close(reset: true)
    #expect(live.turn { live.server.openConnections.isEmpty })
    #expect(live.loop.memory.used == before)
  }

  @Test("A request is given back with its answer, also where the connection ends behind that")
  func countedBeforeEnd() throws {
    let live = try LiveServer.keeping()
    let client = try live.connect()
    let count = 50_000
    client.send("POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: \(count)\r\n\r\n")
    client.send(String(repeating: "x", count: count))
    try #require(live.turn { live.kept.exchanges.count == 1 })
    let used = live.loop.memory.used
    live.kept.exchanges[0].respond(HTTPResponse(text: "y"))
    // For the answer there is one chunk.
    #expect(live.loop.memory.used == used - count + 65_536)
  }
}
