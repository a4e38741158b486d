import Platform
import Testing

import Commands

@Suite("Signals of a command under exec")
struct ExecSignalsTests {
  @Test("its end is seen even where exec was started with signals blocked", .timeLimit(.minutes(15)))
  func endIsSeen() throws {
    // Foundation's Process blocks nearly all signals while it starts a program, which inherits that.
    #expect(try exec("sleep 0.5; exit 5").status == 5)
    #expect(try exec("sleep 0.5; kill -TERM $$").status == 128 + 15)
  }

  @Test("a broken pipe ends it silently, as it would without exec", .timeLimit(.minutes(15)))
  func brokenPipe() throws {
    let result = try exec("yes | head -1")
    #expect(result.output == "y\n")
    #expect(result.status == 0)
  }

  @Test(
    "what this process ignores or blocks, a program that it starts does not", arguments: ["PIPE", "XFSZ"])
  func ignored(signal: String) throws {
    SignalMask.ignoreSignalsOfWriting()
    SignalMask.blockSignalsOfWriting()
    let child = try ChildProcess("/bin/sh", ["-c", "kill -\(signal) $$; echo survived"])
    #expect(child.nextLine() == nil)
  }

  private func exec(_ script: String) throws -> ForeignProgram.Result {
    let program = try BuiltProgram(hasCerts: false)
    defer { program.remove() }
    return try program.run("exec", "--", "sh", "-c", script)
  }
}
