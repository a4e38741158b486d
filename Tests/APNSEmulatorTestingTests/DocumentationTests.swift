import Foundation
import Testing

@Suite("The page about testing in Swift")
struct DocumentationTests {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test("every piece of Swift in it stands in the package that is tested")
  func examples() throws {
    let page = try String(
      contentsOf: root.appending(path: "Documentation/testing-in-swift.md"), encoding: .utf8)
    let pieces = page.split(separator: "```swift\n").dropFirst().compactMap {
      $0.split(separator: "```").first
    }
    #expect(pieces.count == 3)
    let sources = try [
      "Package.swift", "Tests/ShopTests/ShopTests.swift", "Tests/ShopTests/ShopXCTests.swift",
    ].map {
      normalised(try String(contentsOf: root.appending(path: "Tests/Consumer/\($0)"), encoding: .utf8))
    }
    for piece in pieces {
      #expect(sources.contains { $0.contains(normalised(piece)) }, "\(piece)")
    }
  }

  @Test("every function and property that it names is there")
  func names() throws {
    let folder = root.appending(path: "Sources/APNSEmulatorTesting")
    let source = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    let page = try String(
      contentsOf: root.appending(path: "Documentation/testing-in-swift.md"), encoding: .utf8)
    let table = page.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
    #expect(table.count == 8)
    for name in table.joined().matches(of: /`([A-Za-z.]+)[^`]*`/).map(\.output.1) {
      let word = name.split(separator: ".").last ?? ""
      let isThere = ["func \(word)(", "let \(word):", "var \(word):"].contains {
        source.contains("public \($0)") || source.contains("nonisolated \($0)")
      }
      #expect(isThere, "\(name)")
    }
  }

  /// Without indentation and what the layout breaks.
  private func normalised(_ text: some StringProtocol) -> String {
    text.split(whereSeparator: \.isWhitespace).joined()
  }
}
