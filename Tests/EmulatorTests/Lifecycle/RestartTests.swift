import Basics
import CourierWire
import LegacyWire
import PushModel
import TestSupport
import Testing

import Emulator
import Transport

extension LiveTests {
  @Suite("Restart with a data folder")
  struct RestartTests {
    /// How the first run ends.
    enum End: CaseIterable { case orderly, killed }

    /// Everything that must outlive a process.
    private struct Left {
      var base: DeviceToken?
      var token: DeviceToken
      var other: DeviceToken
      var removed: DeviceToken
      var goneAt: Timestamp
    }

    private func options(_ options: inout ServeOptions) { options.credentials.tokenSeed = nil }

    /// A first life: tokens, a removed app that was found out, a stored notification.
    private func live(_ harness: EmulatorHarness) throws -> Left {
      let device = try harness.device()
      let token = try device.mint(Site.topic)
      let other = try device.mint("com.example.other")
      let removed = try device.mint("com.example.removed")
      device.roundTrip()
      try harness.remove("com.example.removed", from: "phone-1")
      let provider = try harness.provider(.app("com.example.removed"))
      provider.send(Frames.full(removed, id: 1))
      harness.turn(until: "it is found out") { !harness.broker.feedback.rows.isEmpty }
      let base = device.baseToken
      device.disconnect()
      let app = try harness.provider()
      app.send(Frames.full(token, id: 2, payload: Frames.text("1"), expiry: 4_000_000_000))
      app.send(Frames.full(token, id: 3, payload: Frames.text("2"), expiry: 4_000_000_000))
      harness.turn(until: "they are kept") { harness.broker.counters.stored == 2 }
      let row = try #require(harness.broker.registry.find(removed))
      return Left(
        base: base, token: token, other: other, removed: removed,
        goneAt: harness.broker.registry[row].goneAt)
    }

    /// Ends the first life; answers the folder that the second one begins with.
    private func finish(_ harness: EmulatorHarness, _ end: End, _ folder: ScratchFolder) throws
      -> ScratchFolder
    {
      switch end {
      case .orderly:
        harness.stop()
        return folder
      case .killed: return try folder.copied()
      }
    }

    @Test("token map, gone tokens, kept message and feedback are as they were", arguments: End.allCases)
    func survives(end: End) throws {
      let folder = ScratchFolder()
      let left: Left
      let second: ScratchFolder
      do {
        let harness = try EmulatorHarness(data: folder.path, options)
        left = try live(harness)
        second = try finish(harness, end, folder)
      }
      let harness = try EmulatorHarness(data: second.path, options)
      let registry = harness.broker.registry
      let gone = try #require(registry.find(left.removed))
      #expect(registry[gone].goneAt == left.goneAt && !registry[gone].isActive)
      // The device keeps its tokens; the app that it installs again gets another.
      let device = try harness.device(offering: left.base)
      #expect(device.welcome?.baseToken == nil, "the base token is known")
      #expect(try device.mint(Site.topic) == left.token)
      #expect(try device.mint("com.example.other") == left.other)
      let fresh = try device.mint("com.example.removed")
      #expect(fresh != left.removed)
      // The newest message alone, as it was.
      device.filter([Site.topic])
      device.waitForMessages(1)
      device.roundTrip()
      #expect(device.messages.map(\.payload) == [Frames.text("2")])
      #expect(device.messages[0].expiry == 4_000_000_000 && device.messages[0].isFromStore)
      try expectGone(left, harness, fresh: fresh)
    }

    /// What is gone stays gone, over HTTP with its time; feedback was not read, so it is told now.
    private func expectGone(_ left: Left, _ harness: EmulatorHarness, fresh: DeviceToken) throws {
      let client = try HTTP2Client(harness, .app("com.example.removed"))
      var request = ProviderRequest.push(left.removed.hex)
      request["apns-topic"] = "com.example.removed"
      let milliseconds = left.goneAt.milliseconds
      #expect(try client.answer(request).text == #"{"reason":"Unregistered","timestamp":\#(milliseconds)}"#)
      request.path = "/3/device/" + fresh.hex
      #expect(try client.answer(request).status == 200)
      let tuples = try harness.readFeedback(.app("com.example.removed"))
      #expect(
        tuples == [FeedbackTuple(timestamp: UInt32(left.goneAt.seconds), token: left.removed.bytes)])
    }

    @Test("what was acknowledged or read does not come back", arguments: End.allCases)
    func staysDone(end: End) throws {
      let folder = ScratchFolder()
      let second: ScratchFolder
      do {
        let harness = try EmulatorHarness(data: folder.path, options)
        _ = try live(harness)
        let device = try harness.returningDevice()
        device.waitForMessages(1)
        device.acknowledge(device.messages[0])
        device.roundTrip()
        #expect(try harness.readFeedback(.app("com.example.removed")).count == 1)
        harness.settle()
        second = try finish(harness, end, folder)
      }
      let harness = try EmulatorHarness(data: second.path, options)
      let device = try harness.returningDevice()
      harness.turn(until: "nothing is stored") { device.count(.noStorage) == 1 }
      #expect(device.messages.isEmpty)
      #expect(try harness.readFeedback(.app("com.example.removed")).isEmpty)
    }

    @Test("what a device had not acknowledged when the emulator ended comes again", arguments: End.allCases)
    func unacknowledged(end: End) throws {
      let folder = ScratchFolder()
      let second: ScratchFolder
      do {
        let harness = try EmulatorHarness(data: folder.path, options)
        _ = try live(harness)
        let device = try harness.returningDevice()
        device.waitForMessages(1)
        second = try finish(harness, end, folder)
      }
      let harness = try EmulatorHarness(data: second.path, options)
      let device = try harness.returningDevice()
      device.waitForMessages(1)
      #expect(device.messages.map(\.payload) == [Frames.text("2")])
    }

    @Test("a message that a connected device got and did not acknowledge is kept by an orderly end")
    func onlineAtTheEnd() throws {
      let folder = ScratchFolder()
      do {
        let harness = try EmulatorHarness(data: folder.path, options)
        let (device, token) = try harness.listener()
        let provider = try harness.provider()
        provider.send(Frames.full(token, id: 1, payload: Frames.text("online")))
        device.waitForMessages(1)
        harness.stop()
        #expect(device.recorder.sawClose)
      }
      let harness = try EmulatorHarness(data: folder.path, options)
      let device = try harness.returningDevice()
      device.waitForMessages(1)
      #expect(device.messages.map(\.payload) == [Frames.text("online")])
    }

    @Test("while it shuts down a device may still acknowledge, and then keeps nothing back")
    func acknowledgeAtTheEnd() throws {
      let folder = ScratchFolder()
      do {
        let harness = try EmulatorHarness(data: folder.path, options)
        let (device, token) = try harness.listener()
        let provider = try harness.provider()
        provider.send(Frames.full(token, id: 1))
        device.waitForMessages(1)
        let timer = LoopEvent(timerOn: harness.loop) { device.acknowledge(device.messages[0]) }
        timer.start(afterNanoseconds: 50_000_000)
        harness.stop()
        #expect(harness.broker.counters.delivered == 1)
      }
      let harness = try EmulatorHarness(data: folder.path, options)
      let device = try harness.returningDevice()
      harness.turn(until: "nothing is stored") { device.count(.noStorage) == 1 }
    }

    @Test("the ids of messages go on, so that a kept one is never taken for a new one")
    func ids() throws {
      let folder = ScratchFolder()
      do {
        let harness = try EmulatorHarness(data: folder.path, options)
        _ = try live(harness)
        harness.stop()
      }
      let harness = try EmulatorHarness(data: folder.path, options)
      let device = try harness.device()
      let token = try device.mint(Site.topic)
      device.filter([Site.topic])
      device.waitForMessages(1)
      let provider = try harness.provider()
      provider.send((1...10).flatMap { Frames.full(token, id: $0) })
      device.waitForMessages(11)
      #expect(Set(device.messages.map(\.messageId)).count == 11)
    }

    @Test("an emulator that was stopped and let go leaves nothing behind in memory")
    func letGo() throws {
      weak var emulator: Emulator?
      weak var loop: EventLoop?
      do {
        let harness = try EmulatorHarness()
        (emulator, loop) = (harness.emulator, harness.loop)
        let token = try harness.offlineToken()
        let provider = try harness.provider()
        provider.send(Frames.full(token, id: 1))
        let client = try HTTP2Client(harness, .app())
        #expect(try client.answer(.push(token.hex)).status == 200)
        let device = try harness.returningDevice()
        device.waitForMessages(1)
        harness.stop()
      }
      #expect(emulator == nil && loop == nil)
    }

    @Test("an ephemeral emulator keeps nothing, and its tokens depend on the seed alone")
    func ephemeral() throws {
      var tokens: [DeviceToken] = []
      for seed in ["one", "one", "two"] {
        let harness = try EmulatorHarness { $0.credentials.tokenSeed = seed }
        tokens.append(try harness.offlineToken())
        harness.stop()
      }
      #expect(tokens[0] == tokens[1] && tokens[0] != tokens[2])
      let unseeded = try (0..<2).map { _ in try EmulatorHarness(options).offlineToken() }
      #expect(unseeded[0] != unseeded[1])
    }
  }
}

extension EmulatorHarness {
  convenience init(_ configure: (inout ServeOptions) -> Void) throws {
    try self.init(certs: nil, data: nil, configure)
  }
}
