import CourierWire
import Platform
import PushModel
import TestSupport
import Testing

import Emulator
import Transport

extension LiveTests {
  /// What waits for a commit on a device's way through two nodes: what its leader says, and nothing else.
  @Suite("Devices of other nodes, with commits that complete later")
  struct LateCommitRelayTests {
    private let folder = ScratchFolder()
    private let nodes: TwoNodes

    init() throws { nodes = try TwoNodes(folder: folder.path) }

    /// Has a commit of a node under way that does not complete, caused by a push for a device of that node.
    private func hold(_ node: EmulatorHarness, _ token: DeviceToken) throws -> StoreSpy {
      let spy = try node.spyOnStore()
      node.settle()
      spy.commitsLater = true
      let provider = try node.provider()
      provider.send(Frames.full(token, id: 1))
      node.turn(until: "a commit is under way") { spy.isUnderWay }
      return spy
    }

    @Test("a commit of the edge holds back no device of another node, nor one that comes now")
    func edgeWaits() throws {
      let (device, token) = try nodes.a.listener("phone-1")
      let mine = try nodes.a.offlineToken("phone-2")
      let spy = try hold(nodes.a, mine)
      let provider = try nodes.b.provider()
      provider.send(Frames.full(token, id: 1))
      device.waitForMessages(1)
      device.acknowledge(device.messages[0])
      nodes.a.turn(until: "its node knows") { nodes.b.broker.counters.delivered == 1 }
      #expect(spy.isUnderWay)
      nodes.table.leaders[3] = "node-b"
      let early = try DeviceClient(nodes.a)
      early.open()
      // What is answered here waits like any answer of this node, until it is known that the device is not of it.
      early.send(KeepAlive())
      nodes.a.settle()
      _ = try early.connect(nodes.a.identity("phone-3"))
      early.roundTrip()
      #expect(spy.isUnderWay && early.count(.keepAliveAnswer) == 2)
      spy.complete()
      nodes.a.settle()
      early.roundTrip()
    }

    @Test("what its owner has for a device waits for the owner's commit, and the hello of a node does not")
    func leaderWaits() throws {
      let (device, token) = try nodes.a.listener("phone-1")
      let spy = try hold(nodes.b, token)
      nodes.a.settle()
      #expect(device.messages.isEmpty)
      // Another device is led there meanwhile, and hears nothing before the commit that covers it.
      nodes.table.leaders[3] = "node-b"
      let other = try DeviceClient(nodes.a)
      other.open()
      other.send(try ConnectRequest.proving(nodes.a.identity("phone-3")))
      nodes.a.turn(until: "it is there") { nodes.b.broker.registry.onlineCount == 2 }
      nodes.a.settle()
      #expect(other.frames.isEmpty && spy.isUnderWay)
      spy.complete()
      device.waitForMessages(1)
      nodes.a.turn(until: "it is answered") {
        if spy.isUnderWay { spy.complete() }
        return other.welcome != nil
      }
      #expect(other.welcome?.status == 0)
    }
  }
}
