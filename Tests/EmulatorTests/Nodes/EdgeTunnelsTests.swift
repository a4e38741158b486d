import Broker
import Cluster
import CourierWire
import Faults
import Node
import Platform
import PushModel
import Testing
import Zones

import Emulator
import Transport

extension LiveTests {
  /// Devices that connect to node A and belong to node B: `phone-1` does, `phone-2` is A's.
  @Suite("Devices of other nodes")
  struct EdgeTunnelsTests {
    private let nodes: TwoNodes
    private var edge: EmulatorHarness { nodes.a }
    private var leader: EmulatorHarness { nodes.b }

    init() throws { nodes = try TwoNodes() }

    /// A relayed device that listens, its token, and a provider of its node.
    private func online() throws -> (device: DeviceClient, token: DeviceToken, provider: LegacyClient) {
      let (device, token) = try edge.listener()
      return (device, token, try leader.provider())
    }

    /// The edge's connection to the device.
    private func relayed() throws -> SocketConnection { try #require(edge.connections("courier").first) }

    private func waitForEnd(_ device: DeviceClient, sourceLocation: SourceLocation = #_sourceLocation) {
      edge.turn(until: "its connection ends", sourceLocation: sourceLocation) { device.recorder.hasEnded }
    }

    private func untilBothForget(sourceLocation: SourceLocation = #_sourceLocation) {
      edge.turn(until: "nothing is left", sourceLocation: sourceLocation) {
        edge.connections("courier").isEmpty && leader.connections("nodes").isEmpty
          && leader.broker.registry.onlineCount == 0
      }
    }

    @Test(
      "a push at the device's node reaches it, and so do acknowledgement and end", arguments: [false, true])
    func delivered(packed: Bool) throws {
      let device = try DeviceClient(
        edge, serverName: "courier.push.apple.com", alpn: [packed ? "apns-pack-v1" : "apns-security-v3"])
      #expect(try device.connect(edge.identity("phone-1")).status == 0)
      let token = try device.mint(Site.topic)
      device.filter([Site.topic])
      device.roundTrip()
      #expect(leader.broker.registry.onlineCount == 1 && edge.broker.registry.deviceCount == 0)
      // The name that it asked for has decided the environment.
      let session = try #require(leader.broker.registry.find(token))
      #expect(leader.broker.registry[session].environment == .production)
      let provider = try leader.provider(.app(), serverName: "gateway.push.apple.com")
      provider.send(Frames.full(token, id: 1))
      device.waitForMessages(1)
      #expect(leader.broker.deliveries.hasUnacknowledged)
      device.acknowledge(device.messages[0])
      edge.turn(until: "its node knows") { !leader.broker.deliveries.hasUnacknowledged }
      #expect(leader.broker.counters.delivered == 1)
      device.disconnect()
      untilBothForget()
    }

    @Test("one's own devices are not led anywhere")
    func own() throws {
      let device = try edge.device("phone-2")
      device.roundTrip()
      #expect(edge.broker.registry.onlineCount == 1 && leader.connections("nodes").isEmpty)
      #expect(try nodes.nodesA.devices.peer(of: relayed()) == nil)
    }

    @Test(
      "what a device says before it connects is answered once, and what behind is not lost",
      arguments: [false, true])
    func pipelined(packed: Bool) throws {
      let device = try DeviceClient(edge, alpn: [packed ? "apns-pack-v1" : "apns-security-v3"])
      device.open()
      device.roundTrip()
      device.send(KeepAlive())
      device.send(try ConnectRequest.proving(edge.identity("phone-1")))
      device.send(AppTokenRequest(baseToken: nil, topic: TopicHash(try #require(Topic(Site.topic)))))
      device.send(KeepAlive())
      edge.turn(until: "all is answered") { device.count(.keepAliveAnswer) >= 3 }
      device.roundTrip()
      #expect(device.count(.keepAliveAnswer) == 4)
      #expect(device.welcome?.status == 0 && device.tokenAnswers.count == 1)
      #expect(leader.broker.registry.onlineCount == 1)
    }

    @Test("the certificate of the handshake is told to the node that judges it")
    func certificateInHandshake() throws {
      _ = try edge.identity("phone-1")
      let base = edge.certs + "/devices/phone-1"
      let device = try DeviceClient(
        edge, alpn: ["apns-security-v2"],
        certificate: ClientCertificate(certificate: base + ".pem", key: base + ".key"))
      device.open()
      device.send(ConnectRequest())
      edge.turn(until: "it is known") { device.welcome != nil || device.recorder.hasEnded }
      #expect(device.welcome?.status == 0 && leader.broker.registry.onlineCount == 1)
    }

    @Test("who can't prove who it is hears so from the node it has connected to")
    func refused() throws {
      let device = try DeviceClient(edge)
      let answer = try device.connect(edge.identity("phone-1")) { $0.signature = [1, 2, 3] }
      #expect(answer.status == 2)
      waitForEnd(device)
      #expect(leader.connections("nodes").isEmpty)
    }

    @Test("what a device acknowledges before it vanishes counts", arguments: [false, true])
    func vanishes(inOrder: Bool) throws {
      let (device, token, provider) = try online()
      provider.send(Frames.full(token, id: 1))
      device.waitForMessages(1)
      device.acknowledge(device.messages[0])
      device.connection.flushNow()
      if inOrder { device.connection.close() } else { device.connection.abort("gone") }
      untilBothForget()
      #expect(leader.broker.counters.delivered == 1)
    }

    @Test("what it has not acknowledged comes again")
    func comesAgain() throws {
      let (device, token, provider) = try online()
      provider.send(Frames.full(token, id: 1))
      device.waitForMessages(1)
      device.connection.abort("gone", reset: true)
      untilBothForget()
      let again = try edge.returningDevice()
      again.waitForMessages(1)
      #expect(again.messages[0].isFromStore)
    }

    @Test("a device that does not read holds back neither node, and gets the newest when it reads")
    func slow() throws {
      let (device, token, provider) = try online()
      edge.passPause()
      try relayed().setSendBuffer(4096)
      device.connection.setPaused(true)
      let count = 20_000
      for start in stride(from: 1, to: count, by: 1000) {
        provider.send(
          (start...start + 999).flatMap {
            Frames.full(token, id: UInt32($0), payload: Frames.text("\($0)"))
          })
      }
      edge.turn(until: "all are accepted") { leader.broker.counters.accepted == UInt64(count) }
      #expect(leader.broker.counters.sent <= UInt64(DeviceLink.windowLimit))
      // The edge holds what it may, and the rest waits at the leader.
      #expect(try relayed().queuedBytes < 300_000)
      device.connection.setPaused(false)
      device.acknowledgeAll(until: "the newest arrives") { $0.payload == Frames.text("\(count)") }
      edge.turn(until: "all is acknowledged") { !leader.broker.deliveries.hasUnacknowledged }
      let ids = device.messages.map(\.messageId)
      #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("faults are injected at the device's node, which knows where the device has connected from")
    func faults() throws {
      let (device, token, provider) = try online()
      let address = device.connection
      let port = SocketAddress.of(address.descriptor, peer: false).port
      let engine = leader.emulator.faultEngine
      var effects = FaultEffects()
      effects.courier = .stall
      var match = FaultMatch()
      match.connection = "127.0.0.1:\(port)"
      engine.set(FaultRule(name: "stall", match: match, effects: effects))
      edge.passPause()
      provider.send(Frames.full(token, id: 1))
      edge.turn(until: "the fault is injected") { engine["stall"]?.hits ?? 0 > 0 }
      #expect(engine["stall"]?.hits == engine["stall"]?.seen, "each is of that address")
      edge.settle()
      #expect(device.messages.isEmpty)
      _ = engine.remove("stall")
      device.waitForMessages(1)
      effects.courier = .drop
      engine.set(FaultRule(name: "drop", schedule: .next(1), effects: effects))
      provider.send(Frames.full(token, id: 2))
      waitForEnd(device)
      #expect(!device.recorder.sawClose, "a reset is passed on as one")
      #expect(device.messages.count == 1)
      #expect(leader.broker.journal[leader.broker.journal.nextId - 1]?.state.name == "stored")
    }

    @Test("a device of another node's zone is refused beside one that is here, which stays")
    func secondIdentity() throws {
      let mac = try edge.device("phone-2")
      mac.send(try ConnectRequest.proving(edge.identity("phone-1")))
      edge.turn(until: "it is answered") { mac.count(.connected) == 2 }
      #expect(mac.welcome?.status == ConnectedResponse.statusRefused)
      mac.roundTrip()
      // Two of one node live on one connection, as without a cluster.
      nodes.table.leaders[3] = "node-b"
      let other = try edge.device("phone-1")
      other.send(try ConnectRequest.proving(edge.identity("phone-3")))
      edge.turn(until: "it is answered") { other.count(.connected) == 2 }
      #expect(other.welcome?.status == 0 && leader.broker.registry.onlineCount == 2)
      // And not beside one of a third.
      other.send(try ConnectRequest.proving(edge.identity("phone-2")))
      edge.turn(until: "it is answered") { other.count(.connected) == 3 }
      #expect(other.welcome?.status == ConnectedResponse.statusRefused)
      other.roundTrip()
    }

    @Test(
      "a zone that nobody has is waited for, and the device is led to who has it then",
      arguments: ["node-a", "node-b"])
    func comesLate(to name: String) throws {
      nodes.table.leaders[1] = nil
      let device = try DeviceClient(edge)
      device.open()
      device.send(try ConnectRequest.proving(edge.identity("phone-1")))
      device.send(KeepAlive())
      edge.turn(milliseconds: 50)
      #expect(device.frames.isEmpty && !device.recorder.hasEnded)
      nodes.table.leaders[1] = name
      try nodes.nodesA.seatsChanged(for: nodes.a.emulator.host)
      edge.turn(until: "it is answered") { device.welcome != nil && device.count(.keepAliveAnswer) == 1 }
      #expect(device.welcome?.status == 0)
      #expect((name == "node-a" ? edge : leader).broker.registry.onlineCount == 1)
      device.roundTrip()
    }

    @Test("a device whose zone stays nobody's is sent away in order", arguments: [false, true])
    func nobody(isUnreachable: Bool) throws {
      if isUnreachable {
        nodes.table.leaders[1] = "node-c"
        nodes.table.peers["node-c"] = NodePeer(
          name: "node-c", address: SocketAddress(host: "127.0.0.9", port: 1))
      } else {
        nodes.table.leaders[1] = nil
      }
      try nodes.nodesA.devices.timeout = 300_000_000
      let device = try DeviceClient(edge)
      device.open()
      device.send(try ConnectRequest.proving(edge.identity("phone-1")))
      waitForEnd(device)
      #expect(device.recorder.sawClose && device.frames.isEmpty)
      // One that does not wait for that leaves nothing.
      let other = try DeviceClient(edge)
      other.open()
      other.send(try ConnectRequest.proving(edge.identity("phone-1")))
      edge.settle()
      other.connection.abort("gone", reset: true)
      edge.turn(until: "nothing is left") { edge.connections("courier").isEmpty }
    }

    @Test("a node that refuses the secret is tried again, and has the device once it knows it")
    func wrongSecret() throws {
      let secret = nodes.viewB.secret
      nodes.viewB.secret = Array("another".utf8)
      let device = try DeviceClient(edge)
      device.open()
      device.send(try ConnectRequest.proving(edge.identity("phone-1")))
      edge.turn(milliseconds: 100)
      nodes.viewB.secret = secret
      edge.turn(until: "it is answered") { device.welcome != nil }
      #expect(device.welcome?.status == 0 && leader.broker.registry.onlineCount == 1)
    }

    @Test("a zone that moves takes its devices with it: they come back, and are led to where it is")
    func moves() throws {
      let (device, token, provider) = try online()
      let (mine, _) = try edge.listener("phone-2")
      (nodes.table.leaders[1], nodes.table.leaders[2]) = ("node-a", "node-b")
      try nodes.nodesA.seatsChanged(for: nodes.a.emulator.host)
      try nodes.nodesB.seatsChanged(for: nodes.b.emulator.host)
      waitForEnd(device)
      waitForEnd(mine)
      #expect(device.recorder.sawClose && mine.recorder.sawClose)
      untilBothForget()
      #expect(edge.broker.registry.onlineCount == 0)
      let again = try edge.device("phone-1", offering: device.baseToken)
      again.filter([Site.topic])
      again.roundTrip()
      #expect(edge.broker.registry.onlineCount == 1 && leader.connections("nodes").isEmpty)
      provider.send(Frames.full(token, id: 1))
      leader.settle()
    }

    @Test("a zone whose owner is the same as before ends nobody's connection")
    func stays() throws {
      let (device, _, _) = try online()
      try nodes.nodesA.seatsChanged(for: nodes.a.emulator.host)
      try nodes.nodesB.seatsChanged(for: nodes.b.emulator.host)
      device.roundTrip()
    }

    @Test("who is served stays while the zone is nobody's")
    func nobodysForAMoment() throws {
      let (device, _, _) = try online()
      let (mine, _) = try edge.listener("phone-2")
      let leaders = nodes.table.leaders
      nodes.table.leaders = [:]
      try nodes.nodesA.seatsChanged(for: nodes.a.emulator.host)
      try nodes.nodesB.seatsChanged(for: nodes.b.emulator.host)
      device.roundTrip()
      mine.roundTrip()
      nodes.table.leaders = leaders
      try nodes.nodesA.seatsChanged(for: nodes.a.emulator.host)
      device.roundTrip()
      nodes.table.leaders = [1: "node-a", 2: "node-b"]
      try nodes.nodesA.seatsChanged(for: nodes.a.emulator.host)
      waitForEnd(device)
      waitForEnd(mine)
      untilBothForget()
    }

    @Test("a device that is led to a node that does not have its zone is sent away, and comes back")
    func staleView() throws {
      try nodes.nodesB.devices.timeout = 100_000_000
      nodes.viewB.believes[1] = .nowhere
      let device = try DeviceClient(edge)
      device.open()
      device.send(try ConnectRequest.proving(edge.identity("phone-1")))
      waitForEnd(device)
      #expect(device.recorder.sawClose && device.frames.isEmpty)
      nodes.viewB.believes[1] = nil
      _ = try edge.device("phone-1")
      #expect(leader.broker.registry.onlineCount == 1)
    }

    @Test("a node that is gone ends its devices' connections", arguments: [false, true])
    func leaderGone(inOrder: Bool) throws {
      let (device, _, _) = try online()
      for connection in leader.connections("nodes") {
        if inOrder { connection.close() } else { connection.abort("gone", reset: true) }
      }
      waitForEnd(device)
      #expect(device.recorder.sawClose == inOrder)
      untilBothForget()
    }

    @Test(
      "the orderly end of either node ends the connection in order, with what was said before",
      arguments: [false, true])
    func shutDown(atLeader: Bool) throws {
      let (device, token, provider) = try online()
      provider.send(Frames.full(token, id: 1))
      device.waitForMessages(1)
      device.acknowledge(device.messages[0])
      device.connection.flushNow()
      (atLeader ? leader : edge).stop()
      waitForEnd(device)
      #expect(device.recorder.sawClose)
      edge.turn(until: "its node knows") { leader.broker.counters.delivered == 1 }
    }

    @Test("a node that nobody can hold is looked after: connections, memory and numbers")
    func lookedAfter() throws {
      let before = edge.loop.memory.used
      let devices = try (0..<20).map { _ in try edge.device("phone-1") }
      edge.turn(until: "the newest has won") { leader.broker.registry.onlineCount == 1 }
      edge.turn(until: "the others are gone") { edge.connections("courier").count == 1 }
      let rows = edge.emulator.connections.all().map { $0() }
      #expect(rows.contains { $0.listener == "courier" && $0.node == "node-b" })
      #expect(leader.emulator.connections.all().contains { $0().relayedFor != nil })
      for device in devices { device.connection.abort("gone", reset: true) }
      untilBothForget()
      edge.turn(until: "memory is given back") { edge.loop.memory.used <= before }
    }
  }
}
