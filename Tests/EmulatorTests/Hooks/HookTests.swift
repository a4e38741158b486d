import Basics
import Console
import Foundation
import Hooks
import Platform
import PushModel
import TestSupport
import Testing

import Emulator
import Transport

extension LiveTests {
  @Suite("What happens after a delivery")
  struct HookTests {
    private let home = ScratchFolder()

    private func text(_ name: String) -> String {
      (try? String(contentsOfFile: home.path + "/" + name, encoding: .utf8)) ?? ""
    }

    private func harness(_ hooks: String...) throws -> EmulatorHarness {
      let targets = try hooks.map { try #require(HookTarget($0)) }
      return try EmulatorHarness { $0.hooks = targets }
    }

    /// Pushes, and has a device acknowledge each.
    @discardableResult
    private func deliver(_ harness: EmulatorHarness, _ count: UInt32 = 1) throws -> DeviceToken {
      let (device, token) = try harness.listener()
      let provider = try harness.provider()
      let before = harness.broker.counters.delivered
      for id in 1...count {
        provider.send(Frames.full(token, id: id))
        device.waitForMessages(Int(id))
        device.acknowledge(device.messages[Int(id) - 1])
      }
      device.roundTrip()
      #expect(harness.broker.counters.delivered == before + UInt64(count))
      return token
    }

    private func counts(_ harness: EmulatorHarness, _ metric: String) -> [Double] {
      let families = harness.emulator.hooks?.metrics ?? []
      return families.first { $0.name == "apns_emulator_hook_\(metric)" }?.samples.map(\.value) ?? []
    }

    @Test("a command gets device and push on standard input, and finds the emulator in its environment")
    func command() throws {
      let harness = try harness("cat > '\(home.path)/in'; echo $APNS_EMULATOR_GATEWAY > '\(home.path)/where'")
      let token = try deliver(harness)
      harness.turn(until: "it has ended") { counts(harness, "done_total") == [1] }
      let told = try #require(JSONReader.read(Array(text("in").utf8)))
      #expect(told.string("event") == "delivered" && told.string("token") == token.hex)
      #expect(told.string("topic") == Site.topic && told.string("environment") == "sandbox")
      #expect(told.string("udid") == told.member("notification")?.string("udid"))
      #expect(told.member("notification")?.string("state") == "delivered")
      #expect(told.member("notification")?.member("payload")?.text == #"{"aps":{"alert":"Hi"}}"#)
      #expect(text("where") == "\(try harness.address("gateway"))\n")
    }

    @Test("a command that fails is run again, one that reads nothing is none the worse for it")
    func retried() throws {
      let harness = try harness(
        "echo x >> '\(home.path)/runs'; test $(wc -l < '\(home.path)/runs') = 2", "exec <&-")
      try deliver(harness)
      harness.turn(until: "both have ended well") { counts(harness, "done_total") == [1, 1] }
      #expect(text("runs") == "x\nx\n")
      #expect(counts(harness, "retries_total") == [1, 0] && counts(harness, "runs_total") == [2, 1])
    }

    @Test("a command that hangs holds up neither pushes nor the end, and its children go with it")
    func hanging() throws {
      let harness = try harness("echo $$ >> '\(home.path)/pids'; sleep 600 & sleep 600; true")
      try deliver(harness, UInt32(HookQueue.runningLimit) + 2)
      harness.turn(until: "as many run as may") {
        text("pids").split(separator: "\n").count == HookQueue.runningLimit
      }
      #expect(counts(harness, "queue") == [Double(HookQueue.runningLimit + 2)])
      let pids = text("pids").split(separator: "\n").compactMap { pid_t($0) }
      harness.emulator.hooks?.shutDown()
      for pid in pids { #expect(kill(pid, 0) != 0 && errno == ESRCH) }
      #expect(counts(harness, "dropped_total") == [2])
    }

    @Test("a URL gets the same as the body of a POST; its own failures are tried again, a refusal is not")
    func url() throws {
      var (bodies, statuses) = ([[UInt8]](), [503, 200, 404])
      let harness = try EmulatorHarness()
      let server = try HTTPServer(loop: harness.loop, address: SocketAddress(host: "127.0.0.1", port: 0)) {
        exchange in
        #expect(exchange.request.method == "POST" && exchange.request.path == "/pushed")
        #expect(exchange.request.field("content-type") == "application/json")
        bodies.append(exchange.request.body)
        exchange.respond(HTTPResponse(status: statuses.removeFirst()))
      }
      let target = try #require(HookTarget("http://\(server.address)/pushed?by=test"))
      let broker = harness.broker
      let made = try HookService(
        [target], loop: harness.loop, broker: broker, logger: harness.emulator.logger, seed: 1,
        describe: { DeliveryDocument.bytes($0, broker) })
      let service = try #require(made)
      harness.loop.atTurnEnd { service.turnEnded() }
      func done() -> [Double] { service.metrics.suffix(5).map { $0.samples[0].value } }
      let token = try deliver(harness)
      harness.turn(until: "it was told") { done() == [2, 1, 1, 0, 0] }
      #expect(bodies.count == 2 && bodies[0] == bodies[1])
      #expect(JSONReader.read(bodies[0])?.string("token") == token.hex)
      try deliver(harness)
      harness.turn(until: "it was refused") { done() == [3, 1, 1, 1, 0] }
      service.shutDown()
      server.abort()
    }

    @Test("nobody there is worth another try")
    func nobody() throws {
      let loop = try #require(EventLoop())
      let server = try HTTPServer(loop: loop, address: SocketAddress(host: "127.0.0.1", port: 0)) { _ in }
      server.abort()
      let harness = try harness("http://\(server.address)/")
      try deliver(harness)
      harness.turn(until: "it failed once") { counts(harness, "retries_total") == [1] }
      #expect(counts(harness, "queue") == [1])
      harness.emulator.hooks?.shutDown()
    }
  }
}
