import Basics
import Broker
import Console
import PushModel
import Testing
import Transport

/// The groups of what came in, of who waits and who watches, and of the cluster: each by itself.
@Suite("Groups of what is watched") struct WatchingGroupTests {
  private let lab = GroupLab()

  /// A push to the app on a phone.
  private func push(_ payload: String) throws {
    try lab.install()
    let row = try #require(lab.broker.registry.registrations(of: DeviceID(0)).first)
    let topic = lab.broker.registry[row].topic
    lab.broker.registry[row].token.bytes.withUnsafeBytes { token in
      Array(payload.utf8).withUnsafeBytes { payload in
        let submission = Submission(
          interface: .gateway, topic: topic, environment: .sandbox, token: token.span, payload: payload.span)
        _ = lab.broker.routing.submit(submission, now: lab.clock.now())
      }
    }
  }

  @Test("What came in is listed, shown and forgotten, and who watches hears of that")
  func notifications() throws {
    let group = NotificationGroup(lab.broker, lab.events)
    try push(#"{"n":1}"#)
    #expect(try lab.document(group, "GET", "/api/v1/notifications")["notifications"].count == 1)
    #expect(try lab.document(group, "GET", "/api/v1/notifications/1")["payload"]["n"].integer == 1)
    lab.events.turnOn()
    #expect(try lab.document(group, "DELETE", "/api/v1/notifications")["deleted"].integer == 1)
    #expect(try lab.ask(group, "GET", "/api/v1/notifications/1").status == 404)
    #expect(lab.events.describe(lab.events.nextNumber - 1)?.0 == "reset")
  }

  @Test("Who waits is answered with what came before, or told what came near")
  func waits() throws {
    let board = WaitBoard(lab.broker, lab.slices)
    let group = WaitGroup(lab.broker, board, lab.slices)
    try push(#"{"n":1}"#)
    let found = try lab.document(group, "POST", "/api/v1/notifications/wait", json: "{}")
    #expect(found["notifications"].count == 1 && board.count == 0)
    let missed = try lab.ask(
      group, "POST", "/api/v1/notifications/wait", json: #"{"match": {"q": "no"}, "timeoutMs": 0}"#)
    #expect(missed.status == 408 && JSONReader.read(missed.body)?["nearMisses"].count == 1)
  }

  @Test("Who watches is sent what happens, until the end")
  func events() throws {
    let context = ConsoleContext(
      lab.broker, now: lab.clock.now, bindHost: "127.0.0.1", allowedHosts: [], accessToken: nil,
      events: lab.events, makeTimer: lab.timers.make)
    let group = EventGroup(context)
    let route = try #require(group.routes.first)
    let (answer, request) = (Answer(), try #require(HTTPRequest("GET", "/api/v1/events")))
    let exchange = HTTPExchange(request, outlet: answer)
    answer.exchange = exchange
    try route.perform(
      ConsoleRequest(http: request, captures: [:], now: lab.clock.now()), exchange, lab.slices)
    #expect(group.clientCount == 1 && answer.streamed.contains("event: boot"))
    lab.events.publish("connection", [("change", "opened")])
    lab.timers.pass(milliseconds: 50)
    #expect(answer.streamed.contains("event: connection"))
    group.shutDown()
    #expect(group.clientCount == 0 && answer.hasEnded)
  }

  @Test("A cluster is shown, and what an emulator lacks that is alone is said")
  func cluster() throws {
    let board = FakeCluster()
    #expect(try lab.document(ClusterGroup(board), "GET", "/api/v1/cluster")["name"].string == "node-1")
    _ = try lab.document(ClusterGroup(board), "POST", "/api/v1/cluster/zones/3", json: #"{"node": "node-2"}"#)
    #expect(board.asked == ["move 3 to node-2"])
    #expect(try lab.ask(ClusterGroup(nil), "GET", "/api/v1/cluster").status == 404)
  }
}
