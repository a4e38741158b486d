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
  @Test("all together have no more than was agreed, even if each has only what it may")
  func sum() throws {
    let script = try String(contentsOf: Self.root.appending(path: ".ci/unsafe"), encoding: .utf8)
    var sources: [String: String] = [:]
    for limit in script.matches(of: /\n  ([A-Z][A-Za-z\/.]*) ([0-9]+)(?=\n)/) {
      let path = limit.1.hasSuffix(".swift") ? String(limit.1) : "\(limit.1)/A.swift"
      sources[path] = String(repeating: "unsafe a()\n", count: try #require(Int(limit.2)))
    }
    let verdict = try verdict(sources)
    #expect(verdict.status != 0 && verdict.output.contains("lines are marked unsafe, at most"))
    #expect(!verdict.output.contains("Sources/"), "each alone is within its limit")
  }
}
