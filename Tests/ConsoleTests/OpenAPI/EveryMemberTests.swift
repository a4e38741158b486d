import Basics
import Broker
import Console
import Faults
import Phone
import PushModel
import Testing
import Transport

/// Answers that between them have every member that the API's description tells of.
@Suite struct EveryMemberTests {
  private let document = OpenAPIDocument.make(ConsoleLab().console.table.routes, version: "1")
  private let streams = FakeStreams()
  private let lab: ConsoleLab
  /// One node of several.
  private let nodeLab: ConsoleLab
  private let token: DeviceToken

  init() throws {
    let streams = streams
    streams.udid = "phone"
    lab = ConsoleLab {
      ($0.streams, $0.cluster, $0.credentials) = (streams, FakeCluster(), FakeIssuer())
      $0.drills = FakeDrills(.running)
      $0.advice.list = [.made()]
      ($0.faults, $0.connections) = (FaultEngine(seed: 1), { Self.connections.map { report in { report } } })
      $0.info = {
        var info = EmulatorInfo()
        (info.node, info.portsFile, info.certificates) = ("node-1", "/ports.json", ["com.example.app"])
        info.capture = .init(file: "/traffic.jsonl", progress: (2, 1))
        info.listeners = [("provider", .init(host: "127.0.0.1", port: 2197))]
        return info
      }
      $0.explainToken = { _, udid, _, _, _ in [("udid", Array(udid.text.utf8))] }
    }
    nodeLab = ConsoleLab()
    nodeLab.broker.history.nodeName = "node-1"
    try nodeLab.push(try nodeLab.install().bytes, "{}")
    token = try lab.install()
    try populate()
  }

  private static var connections: [ConnectionReport] {
    var secure = ConnectionReport("courier", remoteAddress: "127.0.0.1:9", bytesRead: 1, bytesWritten: 2)
    (secure.tls, secure.queuedBytes, secure.streams) = (ConnectionReport.TLS(), 3, 4)
    (secure.devices, secure.relayedFor, secure.node) = (["phone"], "127.0.0.1:8", "node-2")
    var plain = ConnectionReport("console", remoteAddress: "127.0.0.1:9", bytesRead: 1, bytesWritten: 2)
    plain.requests = 5
    return [secure, plain]
  }

  private func populate() throws {
    try pushWithHeader()
    try lab.push(
      token.bytes, "{}", fault: InjectedFault(name: "slow", effect: ["delayMs": 1], isAnswered: true))
    lab.broker.journal.noteFullBody(of: lab.broker.journal.nextId - 1, bytes: 9000)
    _ = try lab.connect()
    let offline = try lab.install("offline")
    try lab.push(offline.bytes, "{}", expiration: 4_000_000_000)
    let topic = try #require(Topic(ConsoleLab.app).flatMap(lab.broker.registry.topic))
    lab.broker.channels.create(
      ChannelTable.Key(topic: topic, environment: .sandbox, id: [1]), storesNewest: true)
    lab.broker.feedback.reportForeignGone(
      token: [1, 2, 3], topic: topic, environment: .sandbox, goneAt: lab.now)
    try tellPhone()
  }

  private func pushWithHeader() throws {
    let topic = try #require(Topic(ConsoleLab.app).flatMap(lab.broker.registry.topic))
    let field: [UInt8] = [1, 0, 2, 0] + Array("avw".utf8)
    token.bytes.withUnsafeBytes { token in
      Array("{}".utf8).withUnsafeBytes { payload in
        field.withUnsafeBytes { fields in
          var push = Submission(
            interface: .provider, topic: topic, environment: .sandbox, token: token.span,
            payload: payload.span)
          push.plain.fields = fields.span
          _ = lab.broker.routing.submit(push, now: lab.now)
        }
      }
    }
  }

  /// What a phone of ours says of itself, with a notification on its screen.
  private func tellPhone() throws {
    let topic = try #require(Topic(ConsoleLab.app))
    var phone = SimulatedPhone(try #require(IOSVersion("99")))
    phone.install(PhoneApp(topic))
    let push = PhonePush(
      id: 1, topic: topic, payload: Array(#"{"aps":{"alert":"Hello"}}"#.utf8), type: .alert)
    var happened = phone.receive(push, at: lab.now)
    happened[0].context = TokenContext("start:Delivery")
    let events = happened.map { PhoneEvent.logged.write($0).text }
    let link = FakePhone(lab.parts.phones, try #require(UDID("phone")))
    lab.phones.append(link)
    link.document = phone.document.text
    link.connect()
    link.tell(events + [FakePhone.event("presented", of: 1)])
    try lab.install("gone")
    let gone = FakePhone(lab.parts.phones, try #require(UDID("gone")))
    gone.connect()
    gone.disconnect()
  }

  private struct Request {
    var method = "GET"
    var pattern: String
    var target: String?
    var body: String?
    var isOfNode = false
  }

  private var requests: [Request] {
    let explained =
      #"{"payload":"{\"aps\":{\"alert\":\"Hello\",\"badge\":\"1\"}}","pushType":"alert","ios":"99"}"#
    let devices = "/api/v1/devices/{udid}"
    return [
      Request(pattern: "/livez"), Request(pattern: "/api/v1/info"), Request(pattern: "/api/v1/clock"),
      Request(pattern: "/api/v1/connections"), Request(pattern: "/api/v1/advice"),
      Request(pattern: "/api/v1/drills"),
      Request(
        method: "POST", pattern: "/api/v1/drills/{drill}", target: "/api/v1/drills/shutdown", body: "{}"),
      Request(method: "POST", pattern: "/api/v1/drills/complete", body: "{}"),
      Request(pattern: "/api/v1/tokens"),
      Request(pattern: "/api/v1/tokens/{token}", target: "/api/v1/tokens/\(token.hex)"),
      Request(pattern: "/api/v1/devices"), Request(pattern: devices, target: "/api/v1/devices/phone"),
      Request(pattern: "/api/v1/channels"), Request(pattern: "/api/v1/feedback"),
      Request(pattern: "/api/v1/notifications"), Request(pattern: "/api/v1/notifications", isOfNode: true),
      Request(pattern: "/api/v1/notifications/{id}", target: "/api/v1/notifications/1"),
      Request(pattern: "/api/v1/notifications/{id}", target: "/api/v1/notifications/2"),
      Request(pattern: "/api/v1/notifications/{id}", target: "/api/v1/notifications/1", isOfNode: true),
      Request(
        method: "POST", pattern: "/api/v1/notifications/wait",
        body: #"{"match":{"status":400},"timeoutMs":0}"#),
      Request(
        method: "POST", pattern: "/api/v1/notifications/wait",
        body: #"{"match":{"status":400},"timeoutMs":0}"#, isOfNode: true),
      Request(method: "POST", pattern: "/api/v1/explain", body: explained),
      Request(pattern: devices + "/phone", target: "/api/v1/devices/phone/phone"),
      Request(
        method: "POST", pattern: devices + "/phone/{verb}", target: "/api/v1/devices/phone/phone/settings",
        body: #"{"lowPower":true}"#),
      Request(
        method: "POST", pattern: devices + "/stream/ack", target: "/api/v1/devices/phone/stream/ack",
        body: #"{"ids":[1]}"#),
      Request(pattern: "/api/v1/cluster"),
      Request(
        method: "POST", pattern: "/api/v1/cluster/nodes/{missing}/forget",
        target: "/api/v1/cluster/nodes/node-3/forget", body: "{}"),
      Request(method: "POST", pattern: "/api/v1/faults", body: #"{"name":"slow","effect":{"delayMs":1}}"#),
      Request(method: "POST", pattern: "/api/v1/faults", body: pushFault),
      Request(
        method: "POST", pattern: "/api/v1/faults",
        body: #"{"name":"tls","effect":{"tlsAlert":40,"initialStreamLimit":1}}"#),
      Request(pattern: "/api/v1/faults"),
      Request(method: "POST", pattern: "/api/v1/certificates", body: #"{"topics":["a.b"]}"#),
      Request(method: "POST", pattern: "/api/v1/certificates", body: #"{"topics":["a.b"],"format":"p12"}"#),
      Request(method: "POST", pattern: "/api/v1/keys", body: #"{"team":"TEAM123456"}"#),
      Request(
        method: "POST", pattern: "/api/v1/import",
        body:
          ##"{"version":1,"apps":[{"topic":"a.b","certificate":"both"}],"keys":[{"keyId":"K","teamId":"T"}]}"##
      ),
      Request(pattern: "/api/v1/certificates"), Request(pattern: "/api/v1/keys"),
      Request(
        method: "DELETE", pattern: "/api/v1/certificates/{sha256}",
        target: "/api/v1/certificates/\(String(repeating: "ab", count: 32))"),
      Request(method: "DELETE", pattern: "/api/v1/keys/{keyId}", target: "/api/v1/keys/K"),
      Request(
        method: "POST", pattern: devices + "/phone/{verb}", target: "/api/v1/devices/gone/phone/settings",
        body: #"{"lowPower":true}"#),
      Request(
        method: "POST", pattern: devices + "/disconnect", target: "/api/v1/devices/phone/disconnect",
        body: "{}"),
      Request(method: "DELETE", pattern: "/api/v1/notifications"),
      Request(method: "POST", pattern: "/api/v1/reset", body: "{}"),
      Request(pattern: "/api/v1/tokens/{token}", target: "/api/v1/tokens/00"),
    ]
  }

  /// Of everything that one rule can say.
  private var pushFault: String {
    let match =
      #""match":{"interface":"gateway","topic":"a.b","token":"abcd","priority":10,"connection":"127.0.0.1:9"}"#
    let effect =
      #""effect":{"legacy":{"status":7,"identifier":9},"dribble":{"bytes":1,"everyMs":10},"rstStream":8,"#
      + #""garbage":10,"halfClose":true,"goaway":{"lastStream":"zero","keepsOpen":true},"taken":true,"#
      + #""streamLimit":1,"stall":true}"#
    return #"{"name":"all",\#(match),"when":{"nth":2},\#(effect)}"#
  }

  @Test("Answers fit their schemas, tell nothing else, and between them have every member")
  func everyMember() throws {
    let schemas = document["components"]["schemas"]
    let check = SchemaCheck(schemas: schemas)
    var (seen, told) = (Set<String>(), Set<String>())
    for request in requests {
      let place = "\(request.method) \(request.target ?? request.pattern)"
      let answer = try (request.isOfNode ? nodeLab : lab).ask(
        request.method, request.target ?? request.pattern, json: request.body)
      let responses = document["paths"][request.pattern][request.method.lowercased()]["responses"]
      let schema = responses["\(answer.status)"]["content"]["application/json"]["schema"]
      let value = try #require(JSONReader.read(answer.body, maximumDepth: 32), "\(place)")
      #expect(!schema.isNull, "\(place): \(answer.status) \(value.text)")
      #expect(check.findings(value, schema, at: place) + check.untold(value, schema, at: place) == [])
      seen.formUnion(check.seen(value, schema, at: place))
    }
    for name in answered(schemas) { told.formUnion(check.members(schemas[name], at: name)) }
    #expect(told.count > 200)
    // Of these the nodes of a cluster tell (`ClusterRouterTests`).
    #expect(
      told.subtracting(seen).sorted() == ["Advice.missing", "Notifications.missing", "WaitTimeout.missing"])
  }

  /// Schemas that answers refer to, at any depth; those of requests and of saved states are read elsewhere.
  private func answered(_ schemas: JSONValue) -> [String] {
    let requests = [
      "State", "FaultRequest", "ClockChange", "Reset", "TokenClaim", "StreamReceipt", "Wait", "TestPush",
    ]
    let others = [
      "DrillRequest", "DrillCompletion", "ZoneMove", "ExplainRequest", "PhoneOrder", "CertificateOrder",
      "KeyOrder", "Reason",
    ]
    return schemas.names.filter { !$0.hasPrefix("Saved") && !(requests + others).contains($0) }
  }
}
