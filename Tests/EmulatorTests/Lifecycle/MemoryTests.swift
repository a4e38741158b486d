import Basics
import LegacyWire
import Platform
import Recorder
import TestSupport
import Testing

import Broker
import Emulator
import Transport

extension LiveTests {
  /// Each with the least memory that can be asked for (8 MiB), and a healthy client that is served throughout.
  @Suite("Memory, who gives way")
  struct MemoryTests {
    private func harness(
      _ configure: (inout ServeOptions) -> Void = { _ in }
    ) throws -> EmulatorHarness {
      try EmulatorHarness {
        $0.listeners.memory = MemoryBudget.leastLimit
        configure(&$0)
      }
    }

    private func evicted(_ harness: EmulatorHarness, _ listener: String) -> Int {
      harness.loop.memory.evictionCounts[listener] ?? 0
    }

    @Test("devices that never read give way, and their messages are kept and delivered when they come back")
    func devices() throws {
      let harness = try harness()
      let provider = try harness.provider()
      let (healthy, healthyToken) = try harness.listener("healthy")
      let names = ["phone-1", "phone-2", "phone-3"]
      let deaf = try names.map { try harness.listener($0) }
      harness.passPause()
      for connection in harness.connections("courier") { connection.setSendBuffer(4096) }
      for (device, _) in deaf { device.connection.setPaused(true) }
      // Two KiB each, so that two of the three fill the budget.
      let (filler, count) = (String(repeating: "x", count: 1900), 1600)
      for sent in 1...count {
        for (_, token) in deaf {
          provider.send(Frames.full(token, id: UInt32(sent), payload: Frames.text("\(filler)\(sent)")))
        }
        guard sent % 100 == 0 else { continue }
        let text = Frames.text("\(sent)")
        provider.send(Frames.full(healthyToken, id: UInt32(sent), payload: text))
        healthy.acknowledgeAll(until: "the healthy one is served") { $0.payload == text }
      }
      let all = UInt64(count * deaf.count + count / 100)
      harness.turn(until: "all are accepted") { harness.broker.counters.accepted == all }
      harness.turn(until: "somebody is evicted") { evicted(harness, "courier") > 0 }
      harness.turn(until: "the budget holds") { !harness.loop.memory.isExceeded }
      #expect(!provider.recorder.hasEnded && !healthy.recorder.hasEnded)
      #expect(evicted(harness, "gateway") == 0)
      for (name, (device, _)) in zip(names, deaf) {
        try expectNewest(Frames.text("\(filler)\(count)"), at: device, name, harness)
      }
    }

    /// A device that reads again gets the newest, on a new connection if it has had to go.
    private func expectNewest(
      _ newest: [UInt8], at device: DeviceClient, _ name: String, _ harness: EmulatorHarness
    ) throws {
      device.connection.setPaused(false)
      harness.settle()
      guard device.recorder.hasEnded else {
        return device.acknowledgeAll(until: "the newest arrives") { $0.payload == newest }
      }
      let (again, _) = try harness.listener(name)
      again.waitForMessages(1)
      #expect(again.messages.map(\.payload) == [newest])
    }

    @Test("half-open requests end with ENHANCE_YOUR_CALM when they take too much, and others are answered")
    func halfOpenStreams() throws {
      let harness = try harness()
      let token = try harness.offlineToken()
      let healthy = try HTTP2Client(harness, .app())
      let attackers = try (0..<2).map { _ in try HalfOpen(harness) }
      for round in 0..<1000 where evicted(harness, "provider") == 0 {
        for attacker in attackers { attacker.openStream() }
        if round % 50 == 0 { #expect(try healthy.answer(.push(token.hex)).status == 200) }
        harness.loop.runTurn(wait: false)
      }
      harness.turn(until: "one is evicted") { evicted(harness, "provider") > 0 }
      harness.turn(until: "it has ended") { attackers.contains { $0.recorder.hasEnded } }
      for attacker in attackers where attacker.recorder.hasEnded {
        let goAway = try #require(HTTP2Frame.all(attacker.recorder.received).last { $0.type == 7 })
        // Stream 0 was served last, and 11 is ENHANCE_YOUR_CALM (RFC 9113 6.8, 7).
        #expect(goAway.hex.dropFirst(18).hasPrefix("000000000000000b"))
        #expect(attacker.recorder.sawClose)
      }
      #expect(!healthy.recorder.hasEnded && !harness.loop.memory.isExceeded)
      #expect(try healthy.answer(.push(token.hex)).status == 200)
    }

    @Test("requests and header blocks that never end are over in time, on connections that trickle too")
    func overdue() throws {
      let harness = try EmulatorHarness {
        ($0.provider.http2.requestTime, $0.provider.http2.headerTime) = (50_000_000, 50_000_000)
      }
      let (body, headers) = (try HalfOpen(harness), try HalfOpen(harness))
      body.openStream()
      headers.openHeaders()
      var turns = 0
      harness.turn(until: "the stream is reset") {
        turns += 1
        // Slowly, or it would end as one who keeps the loop busy for nothing.
        if turns % 256 == 1 { body.trickle() }
        return HTTP2Frame.all(body.recorder.received).contains {
          $0.type == 3 && $0.hex.hasSuffix("0000000b")
        }
      }
      harness.turn(until: "the connection ends") { headers.recorder.hasEnded }
      let goAway = try #require(HTTP2Frame.all(headers.recorder.received).last { $0.type == 7 })
      #expect(goAway.hex.dropFirst(18).hasPrefix("000000000000000b"))
      #expect(!body.recorder.hasEnded)
    }

    @Test("uploads that stop half-way give way to others, and health is answered throughout")
    func uploads() throws {
      let harness = try harness { $0.listeners.console = .number(0) }
      let address = try harness.address("console")
      let uploads = try (0..<4).map { _ in try RawSocket(address) }
      let piece = [UInt8](repeating: 0x20, count: 64 << 10)
      for upload in uploads {
        upload.send(
          "POST /api/v1/import HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: 16000000\r\n\r\n")
      }
      for _ in 0..<400 where evicted(harness, "console") == 0 {
        for upload in uploads { upload.send(piece) }
        harness.loop.runTurn(wait: false)
        #expect(try harness.ask("GET", "/livez").hasPrefix("HTTP/1.1 200"))
      }
      #expect(evicted(harness, "console") > 0)
      harness.turn(until: "the budget holds") { !harness.loop.memory.isExceeded }
      let metrics = try harness.ask("GET", "/metrics")
      let limit = MemoryBudget.leastLimit
      #expect(metrics.contains("\napns_emulator_memory_limit_bytes \(limit)\n"))
      #expect(metrics.contains("\napns_emulator_memory_used_bytes "))
      let count = evicted(harness, "console")
      #expect(
        metrics.contains("\napns_emulator_connections_gave_way_total{listener=\"console\"} \(count)\n"))
      #expect(metrics.contains("\napns_emulator_connections_gave_way_total{listener=\"courier\"} 0\n"))
    }

    @Test("what is held is given back to the byte when everybody has gone")
    func nothingLeft() throws {
      let harness = try harness { $0.listeners.console = .number(0) }
      let before = harness.loop.memory.used
      let (device, token) = try harness.listener()
      let provider = try HTTP2Client(harness, .app())
      #expect(try provider.answer(.push(token.hex)).status == 200)
      let legacy = try harness.provider()
      legacy.send(Array(Frames.full(token, id: 1).dropLast()))
      #expect(try harness.ask("GET", "/livez").hasPrefix("HTTP/1.1 200"))
      #expect(harness.loop.memory.used > before)
      device.waitForMessages(1)
      for connection in [device.connection, provider.connection, legacy.connection] { connection.close() }
      harness.turn(until: "all have gone") {
        device.recorder.hasEnded && provider.recorder.hasEnded && legacy.recorder.hasEnded
          && ["courier", "provider", "gateway"].allSatisfy { harness.connections($0).isEmpty }
          && harness.emulator.console?.openConnections.isEmpty == true
      }
      #expect(harness.loop.memory.used - harness.broker.spareBytes == before)
    }

    @Test("history has a quarter of it at most, and goes before anybody has to")
    func history() throws {
      let harness = try harness()
      let provider = try harness.provider()
      let token = try harness.offlineToken()
      let filler = String(repeating: "x", count: 1900)
      for id in 1...2000 as ClosedRange<UInt32> {
        provider.send(Frames.full(token, id: id, payload: Frames.text("\(filler)\(id)")))
      }
      harness.turn(until: "all are accepted") { harness.broker.counters.accepted == 2000 }
      harness.settle()
      let (journal, memory) = (harness.broker.journal, harness.loop.memory)
      let quarter = MemoryBudget.leastLimit / 4
      #expect((quarter - 8192...quarter).contains(journal.heldBytes) && memory.used >= journal.heldBytes)
      #expect(journal.firstId > 1 && journal[1] == nil)
      #expect(journal[2000].map { Array($0.payload) } == Array(Frames.text("\(filler)2000")))
      // As much as is comfortable without any history.
      let others = MemoryBudget.leastLimit - MemoryBudget.leastLimit / 8
      memory.change(by: others)
      harness.loop.watchMemory()
      #expect((1...MemoryBudget.leastLimit / 64).contains(journal.heldBytes) && journal[2000] != nil)
      #expect(evicted(harness, "gateway") == 0)
      memory.change(by: -others)
    }

    @Test("refused frames of 64 KiB leave no more in history than good ones, and say what they were")
    func refused() throws {
      let folder = ScratchFolder()
      let path = folder.file("capture.jsonl")
      let harness = try EmulatorHarness {
        $0.listeners.console = .number(0)
        $0.capture = CaptureOptions(path: path)
      }
      let token = try harness.offlineToken()
      let payload = Frames.text(String(repeating: "x", count: 60_000))
      for id in 1...50 as ClosedRange<UInt32> {
        let provider = try harness.provider()
        provider.send(Frames.full(token, id: id, payload: payload))
        #expect(provider.readToEnd().prefix(2) == [8, 7])
      }
      // The payload limit, a token of the greatest length, and what heads and items take.
      #expect(harness.broker.journal.heldBytes <= 50 * (2048 + 100 + 64))
      let shown = try harness.ask("GET", "/api/v1/notifications/7")
      let size = Frames.full(token, id: 7, payload: payload).count
      #expect(shown.contains(#""truncated":true,"payloadSize":\#(payload.count)"#))
      #expect(shown.contains(#""rawSize":\#(size)}"#))
      harness.stop()
      let whole = (1...50 as ClosedRange<UInt32>).map {
        String(decoding: Frames.full(token, id: $0, payload: payload), as: UTF8.self)
      }
      #expect(try capturedFrames(path) == whole)
    }
  }
}

/// A provider that begins requests and never ends them.
private final class HalfOpen {
  let recorder = Recorder()
  private let connection: SocketConnection
  private var stream: UInt32 = 1

  init(_ harness: EmulatorHarness) throws {
    connection = try harness.connect(
      "provider", as: recorder, context: harness.context(.app()), alpn: ["h2"])
    harness.turn(until: "TLS is up") { recorder.hasOpened }
    connection.send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, 0, 0, []))
  }

  /// HEADERS and most of a body, without END_STREAM.
  func openStream() {
    connection.send(
      Self.frame(1, 4, stream, Self.block) + Self.frame(0, 0, stream, [UInt8](repeating: 0x20, count: 5000)))
    stream += 2
  }

  /// HEADERS without END_HEADERS.
  func openHeaders() { connection.send(Self.frame(1, 0, stream, Self.block)) }

  /// One more byte of the body.
  func trickle() { connection.send(Self.frame(0, 0, stream - 2, [0x20])) }

  /// The pseudo-fields of a push, as literals without indexing (RFC 7541 6.2.2).
  private static let block = fields([
    (":method", "POST"), (":scheme", "https"), (":path", "/3/device/ab"), (":authority", "localhost"),
  ])

  private static func fields(_ fields: [(String, String)]) -> [UInt8] {
    var block: [UInt8] = []
    for (name, value) in fields { block += [0] + text(name) + text(value) }
    return block
  }

  private static func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }

  private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
    let length = [16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) }
    let id = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) }
    return length + [type, flags] + id + payload
  }
}
