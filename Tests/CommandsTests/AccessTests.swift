import Foundation
import Testing

/// How much is for whom: what others can name, they can come to depend on.
@Suite struct AccessTests {
  private static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

  /// Lines of Swift below a folder that are a declaration or an import with this word; with their file.
  private static func lines(below folder: String, with word: Regex<Substring>) throws -> [String] {
    let enumerator = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
    let paths = try #require(enumerator).compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    return try paths.flatMap { path in
      try String(contentsOf: root.appending(path: "\(folder)/\(path)"), encoding: .utf8).split(
        separator: "\n"
      )
      .filter { $0.contains(word) }.map { "\(path): \($0)" }
    }
  }

  /// What a push passes through: the optimiser looks from module to module through public declarations, and not through those of the
  /// package, which cost three quarters of the gateway's pace.
  private static let passed = [
    "Basics", "Broker", "Capture", "CourierWire", "Credentials", "Faults", "LegacyWire", "NATSWire",
    "Platform",
    "PropertyList", "ProviderAPI", "PushModel", "Recorder", "Services", "Storage", "Transport", "Zones",
  ]

  @Test(
    "besides what a push passes through, only what the library for tests re-exports is public outside of it")
  func surface() throws {
    let lines = try Self.lines(below: "Sources", with: #/^ *(?:@\w+ )*public /#)
    #expect(lines.count { $0.hasPrefix("APNSEmulatorTesting/") } > 50)
    let outside = lines.filter { line in
      !(Self.passed + ["APNSEmulatorTesting"]).contains { line.hasPrefix($0 + "/") }
    }
    #expect((1...40).contains(outside.count), "\(outside.count)")
  }

  @Test("few tests look behind what a module gives others")
  func testable() throws {
    let lines = try Self.lines(below: "Tests", with: #/^ *@testable import /#)
    #expect((1...32).contains(lines.count), "\(lines.count)")
  }
}
