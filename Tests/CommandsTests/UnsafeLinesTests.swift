import Foundation
import TestSupport
import Testing

/// `make test` counts the lines that are marked `unsafe`, and has an opinion about where they are.
@Suite("Lines marked unsafe")
struct UnsafeLinesTests {
  private static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

  /// What the script says of such sources.
  private func verdict(_ sources: [String: String]) throws -> ForeignProgram.Result {
    let folder = ScratchFolder()
    defer { withExtendedLifetime(folder) {} }
    for (path, text) in sources {
      let url = URL(filePath: folder.file("Sources/" + path))
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    return try ForeignProgram.run("/bin/bash", [Self.root.appending(path: ".ci/unsafe").path, folder.path])
  }

  @Test("where C is called they may be; they are counted by module, and comments are not")
  func counted() throws {
    let verdict = try verdict([
      "Transport/A.swift": "unsafe a()\n  // unsafe\nlet b = unsafe c()\nunsafely()\n",
      "Basics/ByteSpan.swift": "nonisolated(unsafe) var d = 0\n", "Broker/Broker.swift": "e()\n",
    ])
    #expect(verdict.status == 0, "\(verdict.output)")
    let lines = verdict.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    #expect(lines.prefix(2) == ["2 Transport", "1 Basics"])
    #expect(lines.last?.hasPrefix("3 lines marked unsafe") == true)
  }

  @Test("elsewhere none may be, and a file has no more than was agreed")
  func refused() throws {
    let stray = try verdict(["Transport/A.swift": "unsafe a()\n", "Broker/Broker.swift": "unsafe b()\n"])
    #expect(stray.status != 0 && stray.output.contains("Sources/Broker/Broker.swift: 1 lines"))
    let many = try verdict(["Basics/Digests.swift": String(repeating: "unsafe a()\n", count: 100)])
    #expect(many.status != 0 && many.output.contains("Sources/Basics/Digests.swift: 100 lines"))
    let nothing = try verdict(["Transport/A.swift": "a()\n"])
    #expect(nothing.status != 0, "a count that finds nothing counts nothing")
  }
}
