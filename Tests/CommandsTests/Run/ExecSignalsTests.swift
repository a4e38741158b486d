import Foundation
import Testing

@testable import Commands

@Suite("Signals of a command under exec")
struct ExecSignalsTests {
  @Test("its end is seen even where exec was started with signals blocked", .timeLimit(.minutes(1)))
  func endIsSeen() throws {
    // Foundation's Process blocks nearly all signals while it starts a program, which inherits that.
    #expect(try exec("sleep 0.5; exit 5").status == 5)
    #expect(try exec("sleep 0.5; kill -TERM $$").status == 128 + 15)
  }

  @Test("a broken pipe ends it silently, as it would without exec", .timeLimit(.minutes(1)))
  func brokenPipe() throws {
    let result = try exec("yes | head -1")
    #expect(result.output == "y\n")
    #expect(result.status == 0)
  }

  private func exec(_ script: String) throws -> ForeignProgram.Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "exec-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try ForeignProgram.run(
      "\(ForeignProgram.products)/apns-emulator", ["exec", "--", "sh", "-c", script], folder: folder)
  }
}
