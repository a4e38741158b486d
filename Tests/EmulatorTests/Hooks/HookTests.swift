import Basics
import Console
import Foundation
import Hooks
import Platform
import PushModel
import TestSupport
import Testing

@testable import Emulator
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
      let service = try #require(
        try HookService(
          [target], loop: harness.loop, broker: harness.broker, logger: harness.emulator.logger, seed: 1,
          describe: { [broker = harness.broker] in DeliveryDocument.bytes($0, broker) }))
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

  @Suite("A shell command")
  struct ShellCommandTests {
    private static let second: Int64 = 1_000_000_000
    /// More of them than there are readers: there is always something to be read.
    private static let writers = "for n in 1 2 3 4 5 6 7 8; do cat /dev/zero & done;"
    private static let endless = "\(writers) wait"

    @Test("it reads all of its input, and the beginning of its output is kept")
    func throughput() throws {
      let input = [UInt8](repeating: UInt8(ascii: "x"), count: 300_000)
      let ending = try ShellCommand("wc -c; head -c 100000 /dev/zero; exit 3").run(
        input, within: 20 * Self.second)
      #expect(ending.status == 3 && !ending.isOverdue)
      #expect(ending.output.count == ShellCommand.outputLimit && ending.output.starts(with: "300000\n".utf8))
    }

    @Test("what closes its output early is waited for, what leaves a child behind is not")
    func ends() throws {
      #expect(
        try ShellCommand("exec >&- 2>&-; sleep 0.1; exit 5").run([], within: 20 * Self.second).status == 5)
      let began = SystemClock.now()
      #expect(try ShellCommand("sleep 5 & exit 0").run([], within: 20 * Self.second).status == 0)
      #expect(SystemClock.now().nanoseconds(since: began) < 4 * Self.second)
    }

    @Test("when its time is over it is ended, also if it does not want to")
    func overdue() throws {
      let ending = try ShellCommand("trap '' TERM; while :; do sleep 1; done").run(
        [], within: Self.second / 10)
      #expect(ending.isOverdue && ending.status == 128 + SIGKILL)
    }

    @Test("when its time is over it is ended, also if it writes without end", .timeLimit(.minutes(1)))
    func endlessOutput() throws {
      let ending = try ShellCommand(Self.endless).run([], within: Self.second / 10)
      #expect(ending.isOverdue && ending.status == 128 + SIGTERM)
      #expect(ending.output.count == ShellCommand.outputLimit)
    }

    @Test("one that writes without end is stopped", .timeLimit(.minutes(1)))
    func stopsEndlessOutput() throws {
      let command = try ShellCommand(Self.endless)
      command.stop()
      let ending = command.run([], within: 40 * Self.second)
      #expect(!ending.isOverdue && ending.status == 128 + SIGTERM)
    }

    @Test("what it leaves behind that writes without end is not waited for", .timeLimit(.minutes(1)))
    func leavesWriterBehind() throws {
      let ending = try ShellCommand("\(Self.writers) exit 4").run([], within: 20 * Self.second)
      #expect(!ending.isOverdue && ending.status == 4)
    }

    @Test(
      "when its time is over, what it started is ended too, also if that does not want to",
      .timeLimit(.minutes(1)))
    func overdueChild() throws {
      // Both have the pipe's end, which says when the last of them has gone.
      let pipe = try #require(NumberPipe())
      let command = try ShellCommand("sh -c 'trap \"\" TERM; while :; do sleep 1; done' & wait")
      _ = close(pipe.writer)
      #expect(command.run([], within: Self.second / 2).isOverdue)
      var holders = pollfd(fd: pipe.reader, events: Int16(POLLIN), revents: 0)
      #expect(poll(&holders, 1, 20_000) == 1)
      _ = close(pipe.reader)
    }

    @Test("its environment is this process's and what was given")
    func environment() throws {
      let ending = try ShellCommand("echo $HOOK-$PATH", environment: ["HOOK": "a b"]).run(
        [], within: 20 * Self.second)
      let path = ProcessEnvironment.variables["PATH"] ?? ""
      #expect(String(decoding: ending.output, as: UTF8.self) == "a b-\(path)\n")
    }
  }
}
