import Foundation
import Testing

import Commands

/// Phrases that a reader had to read twice; each has a plain one in its place.
@Suite("Phrases that do not come back")
struct PhraseTests {
  /// Each with what says the same plainly. At most forty, so that the list stays one of examples.
  private static let puzzling = [
    "hears of": "is notified of", "hear of it": "are notified",
    "told of": "notified of", "brought near": "prefetched", "made anew": "created again",
    "gives way": "is evicted", "gave way": "was evicted", "make room": "are evicted",
    "whose turn": "the next", "of your own choosing": "custom", "kept message": "stored notification",
    "the world's time": "wall-clock time", "is heeded": "is honored", "opened wide": "expanded",
    "behind a stroke": "after the slash", "so many bytes": "N bytes",
    "the least and the largest": "minimum and maximum",
    "as it were": "", "unless said": "by default", "who listens": "subscriber", "who listened": "subscriber",
    "be forgotten": "be deleted", "is forgotten": "is deleted", "are forgotten": "are deleted",
    "away for": "offline for", "came near": "near miss", "came nearest": "near miss",
    "strikes": "matches", "is had": "is there", "comes to be": "is made",
    "come to be": "are made",
    "has it that": "says that", "as new": "like new", "gets it back": "gets it again",
    "nobody reads the variable": "unknown variable",
    "a slip of the pen": "a mistake",
  ]

  private static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

  /// The phrases in a text that stand there as words.
  private static func found(in text: String) -> [String] {
    let plain = text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return puzzling.keys.filter { phrase in
      plain.ranges(of: phrase).contains { range in
        let before = range.lowerBound == plain.startIndex ? " " : plain[plain.index(before: range.lowerBound)]
        let after = range.upperBound == plain.endIndex ? " " : plain[range.upperBound]
        return !before.isLetter && !after.isLetter
      }
    }
  }

  /// Without blocks and spans of code.
  private static func prose(of page: String) -> String {
    page.replacing(#/(?s)```.*?```/#, with: "").replacing(#/`[^`\n]*`/#, with: "")
  }

  @Test("the list is short, and the search finds its phrases as words only")
  func list() {
    #expect((20...40).contains(Self.puzzling.count))
    #expect(Self.found(in: "The phone\nhears  of it.") == ["hears of"])
    #expect(Self.found(in: "It overhears offers, fears officers, and strikesby.").isEmpty)
    #expect(Self.found(in: Self.prose(of: "`hears of` and\n```text\nhears of\n```\n")).isEmpty)
  }

  @Test("README and documentation")
  func pages() throws {
    let folder = Self.root.appending(path: "Documentation").path
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".md") }
    #expect(names.count > 30)
    // The glossary is where a word may be explained, and the changelog tells what was.
    let pages = names.filter { !["glossary.md", "CHANGELOG.md"].contains($0) }.map { "Documentation/\($0)" }
    for page in ["README.md", "CONTRIBUTING.md"] + pages {
      let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
      #expect(Self.found(in: Self.prose(of: text)) == [], "\(page)")
    }
  }

  @Test("help")
  func help() throws {
    for name in [""] + CommandTable.commands.map(\.name) {
      let text = try #require(HelpText.text(for: name, CommandTable.commands))
      #expect(Self.found(in: text) == [], "help \(name)")
    }
  }

  @Test("the dashboard")
  func dashboard() throws {
    let folder = Self.root.appending(path: "Sources/Dashboard/Web")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".js") || $0.hasSuffix(".html") }
    #expect(names.count > 30)
    for name in names {
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      let shown = text.replacing(#/(?s)\/\*.*?\*\//#, with: "").replacing(#/(?m)^ *\/\/.*$/#, with: "")
      #expect(Self.found(in: shown) == [], "\(name)")
    }
  }
}
