import Foundation
import Testing

/// Comments cite `Documentation/page.md#heading`, and pages link to each other. What is cited has to be there.
@Suite("Citations")
struct CitationTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  /// Files with examples of what is wrong.
  private static let examples: Set = ["CitationTests.swift", "VisibleTextTests.swift"]

  private let files: [(path: String, text: String)]
  private let pages: [String: Set<String>]

  init() throws {
    files = try Self.read(
      [
        "Documentation", "Examples", ".packaging", "Sources", "Tests", "certs", "README.md",
        "CONTRIBUTING.md",
        "Makefile",
      ])
    pages = Dictionary(
      uniqueKeysWithValues: files.filter { $0.path.hasSuffix(".md") }.map {
        ($0.path, Set(Citation.anchors($0.text)))
      })
  }

  @Test("every page, heading and picture that is cited exists")
  func resolve() throws {
    var count = 0
    for file in files where !Self.examples.contains(URL(filePath: file.path).lastPathComponent) {
      let citations = try Citation.all(in: file.text, of: file.path)
      count += citations.count
      for citation in citations {
        let isThere =
          citation.page.hasSuffix(".md")
          ? citation.resolves(in: pages)
          : FileManager.default.fileExists(atPath: Self.root.appending(path: citation.page).path)
        #expect(isThere, "\(file.path): \(citation)")
      }
    }
    #expect(count > 500)
  }

  @Test("the four pages on protocols are there, and no two headings of a page have the same name")
  func headings() {
    for name in ["binary-protocol", "provider-api", "device-protocol", "device-behaviour"] {
      #expect(pages["Documentation/\(name).md"].map { $0.count > 8 } == true, "\(name)")
    }
    for file in files where file.path.hasPrefix("Documentation/") {
      let anchors = Citation.anchors(file.text)
      #expect(Set(anchors).count == anchors.count, "\(file.path)")
    }
  }

  @Test("nothing cites what is not in the repository")
  func outside() throws {
    for file in files where !Self.examples.contains(URL(filePath: file.path).lastPathComponent) {
      #expect(try Citation.outside(in: file.text) == [], "\(file.path)")
    }
  }

  @Test("a citation is found whole, over the end of a line, and with the further headings of its page")
  func reading() throws {
    let text = """
      /// Kept (`Documentation/a.md#first-one`, `#second`
      /// and `#third` step 4; `README.md#start`), see [there](b.md#x), [here](#second), [Apple](https://apple.com/#y).
      """
    #expect(
      try Citation.all(in: text, of: "Documentation/a.md").map(\.description) == [
        "Documentation/a.md#first-one", "Documentation/a.md#second", "Documentation/a.md#third",
        "README.md#start",
        "Documentation/b.md#x", "Documentation/a.md#second",
      ])
  }

  @Test("wrong ones don't resolve")
  func wrong() throws {
    let pages = ["Documentation/a.md": Set(["first"]), "README.md": ["start"]]
    func broken(_ text: String) throws -> [String] {
      try Citation.all(in: text, of: "README.md").filter { !$0.resolves(in: pages) }.map(\.description)
    }
    #expect(try broken("`Documentation/a.md#first`, `Documentation/a.md`, `README.md#start`") == [])
    #expect(try broken("// `Documentation/a.md#second`") == ["Documentation/a.md#second"])
    #expect(try broken("// `Documentation/b.md#first`") == ["Documentation/b.md#first"])
    #expect(try broken("// `Documentation/a.md#first`, `#start`") == ["Documentation/a.md#start"])
    #expect(
      try broken("[x](Documentation/a.md#first), [y](Documentation/c.md), [z](#end)") == [
        "Documentation/c.md", "README.md#end",
      ])
  }

  @Test("citations of pages elsewhere are found, and nothing else is taken for one")
  func outsideExamples() throws {
    for text in [
      "/// (D.6)", "// `spec/x.md` A", "# F.1", "// x (E, Times)", "provider-protocol",
      "`interface.md`, Commands", "(K 18)",
    ] {
      #expect(try !Citation.outside(in: text).isEmpty, "\(text)")
    }
    for text in [
      "/// TLS 1.2, RFC 9113 6.5", "// `Documentation/provider-api.md#keys`", "let d = D.x", "1.2.840.113635",
    ] {
      #expect(try Citation.outside(in: text) == [], "\(text)")
    }
  }

  @Test("headings become anchors as on the web, and those in code are none")
  func anchors() {
    let page = "# The `GOAWAY` frame\n```\n# no\n```\n## What clients do, and don't\ntext # no\n"
    #expect(Citation.anchors(page) == ["the-goaway-frame", "what-clients-do-and-dont"])
  }

  /// The text files among these, with their paths from the top of the repository.
  private static func read(_ places: [String]) throws -> [(path: String, text: String)] {
    let kinds: Set = ["swift", "py", "md", "hex", "h", "c", "js", "mjs", "css", "html", ""]
    return try places.flatMap { place -> [(path: String, text: String)] in
      let url = root.appending(path: place)
      let found = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)?.compactMap {
        $0 as? URL
      }
      let files = (found?.isEmpty == false ? found : nil) ?? [url]
      return try files.filter { kinds.contains($0.pathExtension) && !$0.hasDirectoryPath }.map {
        (String($0.path.dropFirst(root.path.count + 1)), try String(contentsOf: $0, encoding: .utf8))
      }
    }
  }
}

/// A place in a page that a text names.
private struct Citation: CustomStringConvertible {
  let page: String
  let anchor: String?

  var description: String { page + (anchor.map { "#\($0)" } ?? "") }

  func resolves(in pages: [String: Set<String>]) -> Bool {
    guard let anchors = pages[page] else { return false }
    return anchor.map(anchors.contains) ?? true
  }

  /// In order: `Documentation/page.md#a`, where a further `#b` behind it in backticks is of the same page, and links of
  /// Markdown, which start from the folder of `path`.
  static func all(in text: String, of path: String) throws -> [Citation] {
    let pattern =
      #"\]\(([^)\s:]+)\)|`((?:(?:Documentation|Sources|certs)/)?[A-Za-z-]+\.md)(?:#([\w-]+))?`|`#([a-z0-9-]+)`"#
    var last = path
    return try groups(of: pattern, in: text).compactMap { group in
      if let link = group[1] { return path.hasSuffix(".md") ? Citation(link: link, from: path) : nil }
      if let page = group[2] { last = page }
      return Citation(page: last, anchor: group[3] ?? group[4])
    }
  }

  /// Of each match: the whole and its groups. (Over all sources, Swift's own expressions take a minute.)
  private static func groups(of pattern: String, in text: String) throws -> [[String?]] {
    let whole = NSString(string: text)
    return try NSRegularExpression(pattern: pattern).matches(
      in: text, range: NSRange(location: 0, length: whole.length)
    ).map { match in
      (0..<match.numberOfRanges).map { index in
        let range = match.range(at: index)
        return range.location == NSNotFound ? nil : whole.substring(with: range)
      }
    }
  }

  private init(page: String, anchor: String?) {
    self.page = page
    self.anchor = anchor
  }

  private init(link: String, from path: String) {
    let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let folder = URL(filePath: "/" + path).deletingLastPathComponent()
    let target = parts[0].isEmpty ? "/" + path : folder.appending(path: String(parts[0])).standardized.path
    self.init(page: String(target.dropFirst()), anchor: parts.count > 1 ? String(parts[1]) : nil)
  }

  /// What cites a section by a letter, or a page that is not in the repository.
  static func outside(in text: String) throws -> [String] {
    let pattern =
      #"\b(?:provider-protocol|device-courier|client-quirks)\b|\bspec/[a-z-]+\.md"#
      + #"|\b(?:design|interface|ux|style)\.md\b|\b[A-K]\.[0-9]+\b|\b[DK] [0-9]{1,2}\b"#
      + #"|(?://|#) .*\([A-K](?:, [^)]*)?\)"#
    return try groups(of: pattern, in: text).compactMap(\.first).compactMap { $0 }
  }

  /// The anchors of a page's headings: small letters, digits and hyphens, blanks as hyphens.
  static func anchors(_ page: String) -> [String] {
    var isFenced = false
    return page.split(separator: "\n").compactMap { line in
      if line.hasPrefix("```") { isFenced.toggle() }
      guard !isFenced, let heading = line.firstMatch(of: /^#+ (.*)$/) else { return nil }
      let letters = heading.output.1.lowercased().filter { $0.isLetter || $0.isNumber || "_- ".contains($0) }
      return letters.replacing(" ", with: "-")
    }
  }
}
