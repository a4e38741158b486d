import Broker
import CourierWire
import Foundation
import LegacyWire
import Platform
import PushModel
import Recorder
import Services
import TestSupport
import Testing

import Emulator
@testable import Storage
@testable import Transport

extension LiveTests {
  /// `Sources/ARCHITECTURE.md#promises` 1: what a provider hears (or does not hear) of success is true after a crash.
  @Suite("Promise 1: committed before it is visible")
  struct PromiseTests {
    /// Watches the store: at each commit of a message nothing of the turn may have reached these clients.
    private func watch(_ spy: StoreSpy, _ clients: [(SocketConnection, Recorder)]) -> Watch {
      let watch = Watch()
      spy.beforeCommit = { changes in
        guard !changes.notifications.isEmpty || !changes.registrations.isEmpty else { return }
        watch.commits += 1
        if clients.contains(where: { $0.hasUnreadInput || $1.received.count > watch.expected }) {
          watch.leaks += 1
        }
      }
      return watch
    }

    private final class Watch {
      var commits = 0
      var leaks = 0
      /// Bytes that the client had before.
      var expected = 0
    }

    @Test("an error packet, which says that those before were accepted, leaves after their commit")
    func errorPacket() throws {
      let folder = ScratchFolder()
      let harness = try EmulatorHarness(data: folder.path)
      let token = try harness.offlineToken()
      let provider = try harness.provider()
      let watch = watch(try harness.spyOnStore(), [(provider.connection, provider.recorder)])
      provider.send((1...20).flatMap { Frames.full(token, id: $0) } + BadFrame.all[0].frame)
      #expect(provider.readToEnd() == BadFrame.all[0].packet)
      #expect(watch.commits == 1 && watch.leaks == 0)
    }

    @Test("a 200 leaves after the commit, one by one and many at once")
    func answers() throws {
      let folder = ScratchFolder()
      let harness = try EmulatorHarness(data: folder.path)
      let token = try harness.offlineToken()
      let client = try HTTP2Client(harness, .app())
      client.open()
      harness.settle()
      let watch = watch(try harness.spyOnStore(), [(client.connection, client.recorder)])
      for count in [1, 1, 500] {
        watch.expected = client.recorder.received.count
        let (commits, answered) = (watch.commits, client.answers.count)
        for _ in 0..<count { client.send(.push(token.hex)) }
        harness.turn(until: "they are answered") { client.answers.count == answered + count }
        // Later turns of a burst answer what earlier ones committed, so only the single ones are exact.
        if count == 1 { #expect(watch.commits == commits + 1 && watch.leaks == 0) }
      }
      #expect(client.answers.values.allSatisfy { $0.status == 200 })
    }

    @Test("a 200 that finds the connection's output full does not overtake the commit when room is made")
    func fullOutput() throws {
      let folder = ScratchFolder()
      let harness = try EmulatorHarness(data: folder.path)
      let token = try harness.offlineToken()
      let client = try HTTP2Client(harness, .app())
      client.open()
      let served = try #require(harness.connections("provider").first)
      fillOutput(of: served, to: client, token, harness)
      let spy = try harness.spyOnStore()
      var written: [Int] = []
      spy.beforeCommit = { _ in written.append(served.bytesWritten) }
      client.send(.push(token.hex))
      // Its request leaves for the kernel, and so do the answers that the client has not read.
      harness.loop.flushClients()
      client.connection.setReceiveBuffer(1 << 20)
      client.connection.setPaused(false)
      client.connection.readReady()
      // The order of events that is the worst: first the new request, then room for output, in one turn.
      served.setPaused(true)
      served.setPaused(false)
      served.setSendBuffer(1 << 20)
      let before = served.bytesWritten
      harness.turn(until: "the new one is accepted") { harness.broker.counters.accepted == 901 }
      #expect(written.first == before, "nothing of the turn left before its commit")
      harness.turn(until: "all are answered") { client.answers.count == 901 }
    }

    /// Has so many pushes answered to a client that reads nothing that some of it waits.
    private func fillOutput(
      of served: SocketConnection, to client: HTTP2Client, _ token: DeviceToken, _ harness: EmulatorHarness
    ) {
      served.setSendBuffer(4096)
      client.connection.setPaused(true)
      client.connection.setReceiveBuffer(4096)
      for _ in 0..<900 { client.send(.push(token.hex)) }
      harness.turn(until: "all are accepted") { harness.broker.counters.accepted == 900 }
      harness.turn(until: "the output is full") { served.queuedBytes > 0 }
    }

    @Test("a device hears its new token after the commit")
    func deviceToken() throws {
      let folder = ScratchFolder()
      let harness = try EmulatorHarness(data: folder.path)
      let device = try harness.device()
      harness.settle()
      let watch = watch(try harness.spyOnStore(), [(device.connection, device.recorder)])
      watch.expected = device.recorder.received.count
      _ = try device.mint(Site.topic)
      #expect(watch.commits == 1 && watch.leaks == 0)
    }

    @Test("whatever a provider was told is in the store of a process killed then")
    func crash() throws {
      let folder = ScratchFolder()
      let harness = try EmulatorHarness(data: folder.path) { $0.credentials.tokenSeed = nil }
      let token = try harness.offlineToken()
      let client = try HTTP2Client(harness, .app())
      let provider = try harness.provider()
      for round in 1...5 {
        var request = ProviderRequest.push(token.hex)
        request.body = Frames.text("answer \(round)")
        #expect(try client.answer(request).status == 200)
        try expect(Frames.text("answer \(round)"), for: token, inCopyOf: folder)
      }
      provider.send(Frames.full(token, id: 1, payload: Frames.text("frame")) + BadFrame.all[0].frame)
      #expect(provider.readToEnd() == BadFrame.all[0].packet)
      try expect(Frames.text("frame"), for: token, inCopyOf: folder)
    }

    @Test("a message that is still on its way to a device that does not read is in the store")
    func unsent() throws {
      let folder = ScratchFolder()
      let harness = try EmulatorHarness(data: folder.path) { $0.credentials.tokenSeed = nil }
      let (device, token) = try harness.listener()
      harness.passPause()
      let served = try #require(harness.connections("courier").first)
      served.setSendBuffer(4096)
      device.connection.setPaused(true)
      let client = try HTTP2Client(harness, .app())
      var round = 0
      harness.turn(until: "its output is full") {
        round += 1
        var request = ProviderRequest.push(token.hex)
        request.body = Frames.text("\(round)" + String(repeating: " ", count: 4000))
        #expect(throws: Never.self) { try client.answer(request) }
        return served.queuedBytes > 0
      }
      try expect(Frames.text("\(round)" + String(repeating: " ", count: 4000)), for: token, inCopyOf: folder)
    }

    /// What the device gets from an emulator that finds the files as they are now.
    private func expect(
      _ payload: [UInt8], for token: DeviceToken, inCopyOf folder: ScratchFolder,
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let copy = try folder.copied()
      let harness = try EmulatorHarness(data: copy.path) { $0.credentials.tokenSeed = nil }
      let device = try harness.device(sourceLocation: sourceLocation)
      device.filter([Site.topic])
      device.waitForMessages(1, sourceLocation: sourceLocation)
      #expect(device.messages.map(\.payload) == [payload], sourceLocation: sourceLocation)
      #expect(device.messages.first?.token == token, sourceLocation: sourceLocation)
    }
  }

  @Suite("A store that can't be written")
  struct StoreFailureTests {
    /// Makes SQLite refuse whatever comes.
    private func spoil(_ harness: EmulatorHarness) throws {
      let store = try #require(harness.emulator.store as? SQLiteStore)
      try store.database.execute("PRAGMA query_only = 1")
    }

    @Test("the emulator gives up and answers nobody")
    func givesUp() throws {
      let folder = ScratchFolder()
      let harness = try EmulatorHarness(data: folder.path)
      let token = try harness.offlineToken()
      let provider = try harness.provider()
      let client = try HTTP2Client(harness, .app())
      let feedback = try harness.readFeedback()
      client.open()
      harness.settle()
      try spoil(harness)
      client.send(.push(token.hex))
      provider.send(Frames.full(token, id: 1) + BadFrame.all[0].frame)
      // Until it stops by itself.
      harness.emulator.run()
      #expect(harness.emulator.failure?.status == .storeUnusable)
      #expect(harness.emulator.failure?.sentence.contains("store") == true)
      harness.turn(until: "both are cut off") { client.recorder.hasEnded && provider.recorder.hasEnded }
      #expect(client.answers.isEmpty && provider.recorder.received.isEmpty && feedback.isEmpty)
      #expect(!client.recorder.sawClose && !provider.recorder.sawClose, "an orderly end would mean success")
      for (name, address) in harness.emulator.ports.listeners {
        let late = try RawSocket(address)
        #expect(late.isRefused, "\(name) would keep whoever comes waiting")
      }
    }

    /// With a short history the capture takes records before the turn ends.
    @Test(
      "nothing of the turn is claimed in the log, in the capture, by the console or to devices",
      arguments: [4, 10_000])
    func claimsNothing(history: Int) throws {
      let folder = ScratchFolder()
      let harness = try recording(in: folder, history: history)
      let offline = try harness.offlineToken("phone-2")
      let (device, token) = try harness.listener()
      harness.passPause()
      let watcher = try harness.beginStream("/api/v1/events")
      let provider = try harness.provider()
      provider.send((1...3).flatMap { Frames.full(offline, id: $0, payload: Frames.text("good \($0)")) })
      harness.turn(until: "they are accepted") { harness.broker.counters.accepted == 3 }
      harness.settle()
      harness.turn(until: "the watcher hears of all three") {
        watcher.text.split(separator: "\n").count { $0.hasPrefix("event: delivery") } >= 3
      }
      watcher.forget()
      try spoil(harness)
      provider.send(
        (11...30).flatMap {
          Frames.full($0 % 2 == 0 ? offline : token, id: $0, payload: Frames.text("bad \($0)"))
        })
      harness.emulator.run()
      #expect(harness.emulator.failure?.status == .storeUnusable)
      harness.settle()
      let later = watcher.text
      #expect(later.matches(of: /"id":(\d+)/).allSatisfy { (Int($0.1) ?? .max) <= 3 }, "\(later)")
      #expect(device.messages.isEmpty)
      try expectOnlyGood(in: folder)
    }

    /// One with a console, a log and a capture.
    private func recording(in folder: ScratchFolder, history: Int) throws -> EmulatorHarness {
      try EmulatorHarness(data: folder.file("data")) {
        $0.broker.history = history
        ($0.log.file, $0.log.level) = (folder.file("log"), .info)
        $0.capture = CaptureOptions(path: folder.file("capture"))
        $0.listeners.console = .number(0)
      }
    }

    /// The three good ones are in log and capture, and no bad one is.
    private func expectOnlyGood(in folder: ScratchFolder) throws {
      let lines = try String(contentsOfFile: folder.file("log"), encoding: .utf8).split(separator: "\n")
      #expect(lines.count { $0.contains(" push state=stored") || $0.contains(" push id=") } == 3, "\(lines)")
      let captured = try capturedFrames(folder.file("capture"))
      for (text, isThere) in [("good 3", true), ("bad 11", false), ("bad 30", false)] {
        #expect(captured.contains { $0.contains(text) } == isThere, "\(text) in \(captured)")
      }
    }

    @Test("what was accepted before is there for the next start, what was not answered is not")
    func nextStart() throws {
      let folder = ScratchFolder()
      let token: DeviceToken
      do {
        let harness = try EmulatorHarness(data: folder.path)
        token = try harness.offlineToken()
        let client = try HTTP2Client(harness, .app())
        var request = ProviderRequest.push(token.hex)
        request.body = Frames.text("accepted")
        #expect(try client.answer(request).status == 200)
        try spoil(harness)
        request.body = Frames.text("lost")
        client.send(request)
        harness.emulator.run()
        #expect(client.answers.count == 1)
      }
      let harness = try EmulatorHarness(data: folder.path)
      let device = try harness.returningDevice()
      device.waitForMessages(1)
      #expect(device.messages.map(\.payload) == [Frames.text("accepted")])
    }

    @Test("a push handed to a device that is there needs no store, but one that it can't take does")
    func secondCommit() throws {
      let folder = ScratchFolder()
      let harness = try EmulatorHarness(data: folder.path)
      let (device, token) = try harness.listener()
      harness.passPause()
      let client = try HTTP2Client(harness, .app())
      // The first one teaches the emulator the topic's name, which is stored.
      #expect(try client.answer(.push(token.hex)).status == 200)
      harness.settle()
      try spoil(harness)
      #expect(try client.answer(.push(token.hex)).status == 200)
      device.waitForMessages(2)
      // Behind an answer the message waits, only in memory, so it must be stored first.
      device.send(KeepAlive())
      client.send(.push(token.hex))
      harness.emulator.run()
      #expect(harness.emulator.failure?.status == .storeUnusable && client.answers.count == 2)
    }

    @Test("a data folder that another emulator uses, or a file that is no store, is refused at the start")
    func unusable() throws {
      let folder = ScratchFolder()
      let first = try EmulatorHarness(data: folder.path)
      #expect(status { try EmulatorHarness(data: folder.path) } == .storeUnusable)
      first.stop()
      let other = ScratchFolder()
      try Array("not a database, however long".utf8).withUnsafeBytes { bytes in
        let file = try #require(fopen(DataFolder.storePath(in: other.path), "w"))
        fwrite(bytes.baseAddress, 1, bytes.count, file)
        fclose(file)
      }
      #expect(status { try EmulatorHarness(data: other.path) } == .storeUnusable)
    }

    private func status(_ start: () throws -> EmulatorHarness) -> EmulatorError.Status? {
      do {
        _ = try start()
        return nil
      } catch {
        return (error as? EmulatorError)?.status
      }
    }
  }
}
