import Basics
import Foundation
import Platform
import Testing

extension LiveTests {
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
