import Basics
import Broker
import NATSWire
import Platform
import PushModel
import TestSupport
import Testing
import Transport
import Zones

@testable import Cluster

/// Nodes on one loop, each with a broker, whose turns end as an emulator's do.
private final class Nodes {
  final class Node: ClusterListener {
    let cluster: ClusterNode
    let broker: Broker
    var failure: String?
    var isCommitting = false
    var parted: [ZoneNumber] = []
    var told: [String] = []
    /// How often everything was forgotten by the cluster's word.
    var startCount = 0

    init(_ loop: EventLoop, _ server: NATSServer, _ own: NodeSettings) throws {
      let settings = NATSClient.Settings(
        servers: [NATSAddress(server.address)], NATSIntroduction(name: own.name, software: "1"))
      cluster = try ClusterNode(loop: loop, nats: settings, own)
      broker = Broker(derivation: FakeDerivation(), zones: ZoneShare(cluster.map))
      broker.history.countIds(from: cluster.membership.idBase)
      cluster.listens(at: SocketAddress(host: "127.0.0.1", port: 1), console: nil)
      cluster.start(broker, clock: { Timestamp(seconds: 1_800_000_000) }, self)
      cluster.carryOutOrders { _, _ in }
    }

    func zoneParts(_ zone: ZoneNumber) { parted.append(zone) }
    func seatsChanged() {}
    func failed(_ sentence: String) { failure = sentence }
    func tell(_ sentence: String, _ because: String?) { told.append(sentence) }
    func natsTrouble(_ trouble: ClusterTrouble?) {}

    func startedOver() {
      startCount += 1
      broker.forgetDevices(now: Timestamp(seconds: 1_800_000_000))
    }

    func endTurn() {
      guard !isCommitting, failure == nil else { return }
      let changes = broker.turn.takeChanges()
      guard !changes.isEmpty else { return }
      isCommitting =
        cluster.store.commit(changes, of: broker) { [unowned self] _ in isCommitting = false } == .later
    }
  }

  struct TimedOut: Error { let what: String }

  let loop: EventLoop
  let server: NATSServer
  private(set) var nodes: [Node] = []
  private var wakeUp: LoopEvent?

  convenience init() throws { try self.init(NATSServer()) }
  /// With the same NATS server, and a loop of their own.
  convenience init(beside others: Nodes) throws { try self.init(others.server) }

  private init(_ server: NATSServer) throws {
    loop = try #require(EventLoop())
    self.server = server
    wakeUp = LoopEvent(timerOn: loop) {}
    loop.atTurnEnd { [unowned self] in for node in nodes { node.endTurn() } }
  }

  deinit { for node in nodes { node.cluster.close() } }

  func start(_ name: String, zones: Int? = 8, secret: String? = nil) throws -> Node {
    var own = NodeSettings(name: name, zones: zones.flatMap { ZoneMap(count: $0) })
    own.seal = try secret.map { try ClusterSeal(secret: Array($0.utf8)) }
    return try start(own)
  }

  func start(_ own: NodeSettings) throws -> Node {
    let node = try Node(loop, server, own)
    nodes.append(node)
    return node
  }

  /// Starts the first node and waits until it leads all zones. By then NATS has read its subscriptions, and it answers a node that asks who
  /// is running.
  func startLeading(_ own: NodeSettings) throws -> Node {
    let node = try start(own)
    try wait(until: "all zones are its") { node.cluster.ledCount == node.cluster.map.count }
    return node
  }

  /// As `kill -9` would, but for its clocks.
  func kill(_ node: Node) {
    nodes.removeAll { $0 === node }
    node.cluster.close()
  }

  func wait(until what: String, _ isSo: () -> Bool) throws {
    let deadline = SystemClock.now().adding(nanoseconds: 25_000_000_000)
    while !isSo() {
      guard SystemClock.now() < deadline else { throw TimedOut(what: what) }
      wakeUp?.start(afterNanoseconds: 50_000_000)
      loop.runTurn()
    }
  }
}

extension Broker {
  /// A phone that was there, and has left with its app's token.
  fileprivate func registerPhone(_ text: String) throws -> DeviceToken {
    let now = Timestamp(seconds: 1_800_000_000)
    let (udid, topic) = (try #require(UDID(text)), try #require(Topic("com.example.app")))
    let phone = TestDevice(connectedAt: now)
    let session = try #require(
      devices.connect(
        udid, keyFingerprint: [1], environment: .sandbox, offeredBaseToken: nil, link: phone.link, now: now)
    ).session
    let token = try #require(apps.appToken(session, topic: TopicHash(topic), now: now))
    _ = registry.topic(named: topic)
    devices.sessionEnded(session, now: now)
    return token
  }

  fileprivate func push(_ text: String, to token: DeviceToken) -> SubmissionResult {
    let topic = Topic("com.example.app").flatMap { registry.topic(named: $0) }
    return token.bytes.withUnsafeBytes { token in
      Array(text.utf8).withUnsafeBytes { payload in
        routing.submit(
          Submission(
            interface: .gateway, topic: topic, environment: .sandbox, token: token.span, payload: payload.span
          ),
          now: Timestamp(seconds: 1_800_000_000))
      }
    }
  }

  fileprivate func kept(_ token: DeviceToken) -> String? {
    registry.find(token).flatMap { deliveries.stored($0) }.map { $0.payload.text }
  }
}

@Suite(.enabled(if: NATSServer.isInstalled)) struct ClusterNodeTests {
  private static let phones = (0..<24).map { "phone-\($0)" }

  @Test func theFirstNodeMakesTheClusterAndOwnsItAll() throws {
    let nodes = try Nodes()
    let first = try nodes.start("a")
    try nodes.wait(until: "all zones are its") { first.cluster.ledCount == 8 }
    #expect(first.cluster.isReady && first.cluster.membership.ordinal == 2)
    #expect(throws: ClusterJoin.Refusal.self) { try nodes.start("b", zones: 16) }
    let second = try nodes.start("b", zones: nil)
    #expect(second.cluster.membership.birth == first.cluster.membership.birth)
    #expect(second.cluster.membership.ordinal > first.cluster.membership.ordinal)
  }

  @Test func whatOneOwnsAllKnowAndTheNextTakesOver() throws {
    let nodes = try Nodes()
    let first = try nodes.start("a")
    try nodes.wait(until: "all zones are its") { first.cluster.ledCount == 8 }
    let tokens = try Self.phones.map { try first.broker.registerPhone($0) }
    for (number, token) in tokens.enumerated() {
      #expect(first.broker.push("\(number)", to: token).rejection == nil)
    }
    first.endTurn()
    #expect(first.isCommitting)
    try nodes.wait(until: "the logs have it") { !first.isCommitting }
    // The second reads it all, and half of the zones move to it without any being refused.
    let second = try nodes.start("b")
    try nodes.wait(until: "zones lie evenly") {
      first.cluster.ledCount == 4 && second.cluster.ledCount == 4
    }
    #expect(first.failure == nil && second.failure == nil && first.parted.count == 4)
    for (number, token) in tokens.enumerated() { #expect(second.broker.kept(token) == "\(number)") }
    // The first is killed: the second has all, and what the first had told.
    nodes.kill(first)
    try nodes.wait(until: "the second has them all") { second.cluster.ledCount == 8 }
    for (number, token) in tokens.enumerated() { #expect(second.broker.kept(token) == "\(number)") }
    #expect(
      second.broker.push("newer", to: tokens[0]).rejection == nil && second.broker.kept(tokens[0]) == "newer")
  }

  @Test(arguments: [1, 2]) func aNewNodeBeginsWithSnapshotsWhereTheLogsWereCut(snapshots: Int) throws {
    let nodes = try Nodes()
    let first = try nodes.start("a")
    try nodes.wait(until: "all zones are its") { first.cluster.ledCount == 8 }
    let tokens = try Self.phones.map { try first.broker.registerPhone($0) }
    for (number, token) in tokens.enumerated() { _ = first.broker.push("old \(number)", to: token) }
    try nodes.wait(until: "the logs have it") {
      !first.isCommitting && !first.broker.deliveries.storeUnsent()
    }
    first.cluster.makeSnapshotsNow()
    // While they are made the zones go on.
    for (number, token) in tokens.enumerated() where number % 2 == 0 {
      _ = first.broker.push("new \(number)", to: token)
    }
    try nodes.wait(until: "snapshots are made") { first.cluster.snapshotCount == 8 }
    if snapshots == 2 {
      first.cluster.makeSnapshotsNow()
      try nodes.wait(until: "and once more") { first.cluster.snapshotCount == 16 }
    }
    try nodes.wait(until: "the logs have it") {
      !first.isCommitting && !first.broker.deliveries.storeUnsent()
    }
    nodes.kill(first)
    let second = try nodes.start("b")
    try nodes.wait(until: "the second has them all") {
      second.cluster.ledCount == 8 || second.failure != nil
    }
    #expect(second.failure == nil)
    for (number, token) in tokens.enumerated() {
      #expect(second.broker.kept(token) == (number % 2 == 0 ? "new" : "old") + " \(number)")
    }
  }

  @Test func startingOverIsOncePerNodeWhoeverHearsOfItFirst() throws {
    let nodes = try Nodes()
    let (first, second) = (try nodes.start("a"), try nodes.start("b"))
    try nodes.wait(until: "zones lie evenly") {
      first.cluster.ledCount == 4 && second.cluster.ledCount == 4
    }
    // Only those of its own zones are in the log.
    let mine = try Self.phones.filter { text in
      let zone = first.cluster.map.zone(of: try #require(UDID(text)))
      return first.cluster.seat(of: zone) == .here
    }
    for phone in mine { _ = try first.broker.registerPhone(phone) }
    try nodes.wait(until: "both know them") { second.broker.registry.deviceCount == mine.count }
    first.cluster.startOver(number: 7)
    try nodes.wait(until: "both have forgotten them") {
      second.broker.registry.deviceCount == 0 && !first.isCommitting
    }
    let token = try first.broker.registerPhone(try #require(mine.first))
    try nodes.wait(until: "both know the new one") { second.broker.registry.find(token) != nil }
    second.cluster.startOver(number: 7)
    #expect([first, second].map(\.startCount) == [1, 1] && second.broker.registry.deviceCount == 1)
  }

  @Test func aDrainedNodeLeavesNothingBehind() throws {
    let nodes = try Nodes()
    let (first, second) = (try nodes.start("a"), try nodes.start("b"))
    try nodes.wait(until: "zones lie evenly") {
      first.cluster.ledCount == 4 && second.cluster.ledCount == 4
    }
    // Somebody has had it forgotten, and it lives: who lists what all nodes have asks it.
    var isForgotten = false
    second.cluster.orders.order(ClusterMembers.left("a", ordinal: first.cluster.ordinal)) { _ in
      isForgotten = true
    }
    try nodes.wait(until: "the second has read that") { isForgotten }
    #expect(!second.cluster.hasLeft("a"))
    var isEmpty = false
    first.cluster.drain { isEmpty = true }
    try nodes.wait(until: "the first is empty") { isEmpty }
    try nodes.wait(until: "the second knows that it has left") { second.cluster.hasLeft("a") }
    try nodes.wait(until: "the second has them all") { second.cluster.ledCount == 8 }
    #expect(first.failure == nil && first.cluster.ledCount == 0)
    // It is asked whether it is there, and is.
    #expect(second.cluster.nodes.map(\.name) == ["a", "b"])
    nodes.kill(first)
    try nodes.wait(until: "the second lists it no more") { second.cluster.nodes.map(\.name) == ["b"] }
    #expect(second.cluster.missing.isEmpty)
  }

  @Test func aNodeThatWasAwayTooLongFails() throws {
    let nodes = try Nodes()
    let first = try nodes.start("a")
    try nodes.wait(until: "all zones are its") { first.cluster.ledCount == 8 }
    // Another of the same cluster, on a loop that the first does not turn.
    let others = try Nodes(beside: nodes)
    let second = try others.start("b")
    try others.wait(until: "the second has taken them") { second.cluster.ledCount == 8 }
    try nodes.wait(until: "the first has found out") { first.failure != nil }
    #expect(first.failure?.contains("another node has become its leader") == true, "\(first.failure ?? "")")
  }

  @Test(arguments: [nil, Self.secret]) func aLivingNamesakeIsRefusedAndNobodyIsEnded(secret: String?) throws {
    let nodes = try Nodes()
    let first = try nodes.start("a", secret: secret)
    try nodes.wait(until: "all zones are its") { first.cluster.ledCount == 8 }
    let error = #expect(throws: ClusterJoin.Refusal.self) { try nodes.start("a", secret: secret) }
    #expect(
      "\(try #require(error))"
        == "a node with the name a is running at 127.0.0.1:1: give this one another --node, or a cluster of its own (--cluster)"
    )
    #expect(first.failure == nil && first.cluster.ledCount == 8)
    // Once it is dead its name is free, at once: nobody waits for its last word to be old.
    nodes.kill(first)
    let second = try nodes.start("a", secret: secret)
    try nodes.wait(until: "all zones are its") { second.cluster.ledCount == 8 }
  }

  @Test func aNamesakeThatHangsIsReplacedAndGoes() throws {
    let nodes = try Nodes()
    let first = try nodes.start("a")
    try nodes.wait(until: "all zones are its") { first.cluster.ledCount == 8 }
    // The first is on a loop that nobody turns.
    let others = try Nodes(beside: nodes)
    let second = try others.start("a")
    try others.wait(until: "all zones are its") { second.cluster.ledCount == 8 }
    try nodes.wait(until: "the first has found out") { first.failure != nil }
    #expect(second.failure == nil)
  }

  @Test func whoComesLateToTheQuestionsStillWaitsForTheirAnswers() throws {
    let nodes = try Nodes()
    let first = try nodes.start("a")
    try nodes.wait(until: "all zones are its") { first.cluster.ledCount == 8 }
    // The first is on a loop that nobody turns.
    let line = try Line(to: nodes.server)
    try line.waitUntilReady()
    let settings = NodeSettings(name: "a")
    let log = LogStream(
      client: line.client, loop: line.loop, configuration: settings.names.orders(replicas: 1))
    let membership = try ClusterJoin.run(
      line.client, log, loop: line.loop, settings, timeout: NodeCall.timeout)
    #expect(membership.ordinal > first.cluster.membership.ordinal)
  }

  @Test func clustersOfOneNATSServerHaveNothingInCommon() throws {
    let nodes = try Nodes()
    let first = try nodes.start("a")
    let second = try nodes.start(
      NodeSettings(name: "a", names: ClusterNames("blue"), zones: ZoneMap(count: 4)))
    try nodes.wait(until: "each has its zones") {
      first.cluster.ledCount == 8 && second.cluster.ledCount == 4
    }
    _ = try first.broker.registerPhone("phone-1")
    try nodes.wait(until: "the logs have it") {
      !first.isCommitting && !first.broker.deliveries.storeUnsent()
    }
    #expect(first.cluster.nodes.count == 1 && second.cluster.nodes.count == 1)
    #expect(first.cluster.secret != second.cluster.secret && second.broker.registry.deviceCount == 0)
    // Who comes next to the second finds it, and not the first.
    let third = try nodes.start(NodeSettings(name: "b", names: ClusterNames("blue")))
    try nodes.wait(until: "zones lie evenly") {
      second.cluster.ledCount == 2 && third.cluster.ledCount == 2
    }
    #expect(first.failure == nil && second.failure == nil && third.broker.registry.deviceCount == 0)
  }

  @Test(
    "a node whose credentials differ from those of one that lives is refused",
    arguments: [
      (
        NodeCredentials(ca: [2], deviceCA: [1], tokenSeed: nil),
        "ca.pem of a has the fingerprint 01"
      ),
      (NodeCredentials(ca: [1], deviceCA: [2], tokenSeed: nil), "device-ca.pem of a"),
      (NodeCredentials(ca: [1], deviceCA: [1], tokenSeed: "s3cr3t"), "--token-seed"),
    ])
  func credentials(of later: NodeCredentials, sentence: String) throws {
    let nodes = try Nodes()
    var (first, second) = (NodeSettings(name: "a", zones: ZoneMap(count: 8)), NodeSettings(name: "b"))
    (first.credentials, second.credentials) = (
      NodeCredentials(ca: [1], deviceCA: [1], tokenSeed: nil), later
    )
    _ = try nodes.startLeading(first)
    let error = #expect(throws: ClusterJoin.Refusal.self) { try nodes.start(second) }
    let told = "\(try #require(error))"
    #expect(told.contains(sentence) && !told.contains("s3cr3t"), "\(told)")
  }

  @Test("a node of a version that the others don't talk to is refused, whether it asks or hears of them")
  func otherVersion() throws {
    let nodes = try Nodes()
    _ = try nodes.startLeading(NodeSettings(name: "a", zones: ZoneMap(count: 8)))
    var later = NodeSettings(name: "b")
    later.speaks = NodeHello.version + 1
    let error = #expect(throws: ClusterJoin.Refusal.self) { try nodes.start(later) }
    #expect(
      "\(try #require(error))".contains("a has version 1 of the nodes' protocol, b version 2"))
    // One of the first version answers no question, and does not say what it speaks.
    var announcement = NodeAnnouncement(name: "c", ordinal: 2)
    let document = announcement.document
    guard case .object(let members) = document else { return }
    announcement.speaks = 7
    #expect(announcement.refusal(of: "b", speaking: 7) == nil)
    let first = NodeAnnouncement(JSONValue.object(members.filter { $0.0 != "speaks" }).encoded)
    #expect(first?.refusal(of: "b", speaking: 2)?.contains("c has version 1") == true)
    #expect(NodeAnnouncement(announcement.encoded) == announcement)
  }

  // MARK: With a secret

  private static let secret = "the secret of these nodes"

  /// Somebody who may say anything to NATS, but does not know the secret.
  private func say(_ subject: String, _ payload: [UInt8], to nodes: Nodes) throws {
    let line = try Line(to: nodes.server, on: nodes.loop)
    try line.waitUntilReady()
    line.client.publish(subject, payload)
    _ = try line.answer(.information(stream: "APNS_CLUSTER"))
  }

  @Test func nobodyEndsANodeByItsName() throws {
    let nodes = try Nodes()
    let first = try nodes.start("a", secret: Self.secret)
    try nodes.wait(until: "all zones are its") { first.cluster.ledCount == 8 }
    let namesake = NodeAnnouncement(name: "a", ordinal: 1_000_000)
    try say("apns.nodes", namesake.encoded, to: nodes)
    try nodes.wait(until: "it is told of") { !first.told.isEmpty }
    #expect(first.told.count == 1 && first.told[0].contains("apns.nodes") && first.failure == nil)
  }

  @Test func whatNobodyOfTheClusterHasWrittenCountsForNothing() throws {
    let nodes = try Nodes()
    let first = try nodes.start("a", secret: Self.secret)
    try nodes.wait(until: "all zones are its") { first.cluster.ledCount == 8 }
    let tokens = try Self.phones.map { try first.broker.registerPhone($0) }
    try nodes.wait(until: "the logs have it") {
      !first.isCommitting && !first.broker.deliveries.storeUnsent()
    }
    first.cluster.makeSnapshotsNow()
    try nodes.wait(until: "snapshots are made") { first.cluster.snapshotCount == 8 }
    // Into all that nodes read: what would own the zone, be a snapshot, and reset them all.
    for zone in 0..<8 {
      let theft = ZoneRecord(epoch: 2, number: 0, node: "thief", stream: "", body: .epoch).encoded
      try say("apns.log.\(zone)", theft, to: nodes)
      try say(
        "apns.snapshot.\(zone)", SnapshotMessage(snapshot: 1, previousEnd: 0, .piece([])).encoded, to: nodes)
    }
    try say(
      "apns.cluster", Array(#"{"kind":"order","method":"POST","path":"/api/v1/reset"}"#.utf8), to: nodes)
    for (number, token) in tokens.enumerated() { _ = first.broker.push("\(number)", to: token) }
    try nodes.wait(until: "the logs have it") {
      !first.isCommitting && !first.broker.deliveries.storeUnsent()
    }
    #expect(first.failure == nil && first.told.contains { $0.contains("APNS_Z0") })
    // Whoever reads it all knows what the first has written.
    nodes.kill(first)
    let second = try nodes.start("b", secret: Self.secret)
    try nodes.wait(until: "the second has them all") {
      second.cluster.ledCount == 8 || second.failure != nil
    }
    #expect(second.failure == nil)
    for (number, token) in tokens.enumerated() { #expect(second.broker.kept(token) == "\(number)") }
  }

  @Test func zonesMoveBetweenNodesOfOneSecret() throws {
    let nodes = try Nodes()
    let first = try nodes.start("a", secret: Self.secret)
    try nodes.wait(until: "all zones are its") { first.cluster.ledCount == 8 }
    let second = try nodes.start("b", secret: Self.secret)
    try nodes.wait(until: "zones lie evenly") {
      first.cluster.ledCount == 4 && second.cluster.ledCount == 4
    }
    #expect(second.cluster.membership.birth == first.cluster.membership.birth)
    var numbers: [UInt64] = []
    for node in [first, second, first] {
      node.cluster.orders.order(["kind": "order"]) {
        if case .success(let number) = $0 { numbers.append(number) }
      }
    }
    try nodes.wait(until: "all are carried out") { numbers.count == 3 }
    #expect(Set(numbers).count == 3 && first.failure == nil && second.failure == nil)
    // Who hears that one was carried out orders the next: each is one.
    var answers = 0
    func order(_ left: Int) {
      first.cluster.orders.order(["kind": "order"]) { _ in
        answers += 1
        if left > 0 { order(left - 1) }
      }
    }
    order(19)
    let last = first.cluster.orders.last
    try nodes.wait(until: "all are carried out") { answers >= 20 && second.cluster.orders.last >= last + 20 }
    #expect(answers == 20 && second.cluster.orders.last == last + 20)
  }

  @Test(
    arguments: [
      (nil, secret, "was made without --cluster-secret"), (secret, nil, "was made with --cluster-secret"),
      (secret, "the secret of others", "was made with another secret"),
    ] as [(String?, String?, String)])
  func nodesOfDifferentSecretsAreOfDifferentClusters(first: String?, second: String?, sentence: String) throws
  {
    let nodes = try Nodes()
    _ = try nodes.start("a", secret: first)
    let error = #expect(throws: ClusterJoin.Refusal.self) { try nodes.start("b", secret: second) }
    #expect("\(try #require(error))".contains(sentence))
  }

  @Test func theSecretIsNotInTheNATSServer() throws {
    let seal = try ClusterSeal(secret: Array(Self.secret.utf8))
    let birth = ClusterBirth(zones: ZoneMap.usual, seal: seal)
    let text = String(decoding: birth.encoded, as: UTF8.self)
    #expect(!text.contains(Hex.encode(birth.secret)) && !text.contains(Self.secret))
    #expect(ClusterBirth(birth.encoded, seal: seal) == birth)
  }
}
