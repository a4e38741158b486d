import Foundation
import Testing

/// `Documentation/glossary.md` says what each word means; the sources go by it, and their tests.
@Suite("The glossary")
struct GlossaryTests {
  private static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

  /// What stood in the sources before the term did: with a capital a name, else a part of one, or a word of a comment or a text.
  private static let replaced: [String: Set<String>] = [
    "APNs ID": ["MessageID", "messageID", "messageIDs"],
    "CA": ["authorities", "DeviceAuthority", "deviceAuthority", "unknownAuthority"],
    "custom device token": ["ChosenToken", "chosenToken", "isChosen"],
    "evict": ["victim", "victims", "giveWay", "gaveWay"],
    "failover": ["takeover"],
    "Fleet MDM": ["FleetEvents", "FleetCheck", "FleetRefusal", "FleetService"],
    "inject": ["strike", "struck", "strikable"],
    "leader": ["RelayOwner", "RouteOwner", "ownedZones", "ownerName"],
    "magic token": ["wish", "wishes"],
    "NATS": ["EngineAddress", "EngineCredentials", "engineAway"],
    "notification": ["MessageHead", "MessageSlots", "OutgoingMessage", "MessageEntry"],
    "stored notification": ["KeptMessage", "keptMessage", "dropKeptMessages"],
    "timeout": ["patience"],
    "wall-clock time": ["worldTime", "worldDate"],
  ]

  /// The first cell of each row, and what follows it.
  private let rows: [(term: String, meaning: String)]
  private let sources: [(path: String, text: String)]
  private let tests: [(path: String, text: String)]

  init() throws {
    rows = try String(contentsOf: Self.root.appending(path: "Documentation/glossary.md"), encoding: .utf8)
      .split(separator: "\n").compactMap { line in
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard line.hasPrefix("| "), cells.count == 2, cells[0] != "term" else { return nil }
        return (cells[0], cells[1])
      }
    sources = try Self.texts(below: "Sources") {
      $0.hasSuffix(".swift") && $0 != "Sources/Dashboard/Embedded.swift"
    }
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.root.appending(path: "Tests").path)
    let swift = try folders.filter { $0.hasSuffix("Tests") || $0 == "TestSupport" }.flatMap { folder in
      try Self.texts(below: "Tests/\(folder)") {
        $0.hasSuffix(".swift") && !$0.hasSuffix("GlossaryTests.swift")
      }
    }
    // What is installed for some of them lies below.
    let conformance = Self.root.appending(path: "Tests/Conformance")
    let names = try FileManager.default.contentsOfDirectory(atPath: conformance.path)
    tests =
      try swift
      + names.filter { $0.hasSuffix(".py") }.map {
        ($0, try String(contentsOf: conformance.appending(path: $0), encoding: .utf8))
      }
  }

  /// The files below a folder whose paths, as from the root, are wanted.
  private static func texts(
    below folder: String, where isWanted: (String) -> Bool
  ) throws -> [(path: String, text: String)] {
    let enumerator = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
    let paths = try #require(enumerator).compactMap { ($0 as? String).map { "\(folder)/\($0)" } }
    return try paths.filter(isWanted).map {
      ($0, try String(contentsOf: root.appending(path: $0), encoding: .utf8))
    }
  }

  @Test("each term stands there once, in the order of the alphabet, with a sentence that says what it means")
  func terms() {
    #expect(rows.count > 50)
    for (row, next) in zip(rows, rows.dropFirst()) {
      #expect(row.term.lowercased() < next.term.lowercased(), "\(row.term), \(next.term)")
    }
    for row in rows { #expect(row.meaning.hasSuffix("."), "\(row.term)") }
  }

  @Test("a word that a term has replaced does not come back")
  func replacedWords() {
    let terms = Set(rows.map(\.term))
    for term in Self.replaced.keys { #expect(terms.contains(term), "\(term)") }
    let retired = Self.replaced.values.reduce(into: Set()) { $0.formUnion($1) }
    var places: [String: String] = [:]
    for (path, text) in sources + tests { for word in Self.words(text) { places[word] = path } }
    #expect(places.count > 10_000 && tests.count > 300)
    for (word, path) in places where !retired.isDisjoint(with: [word] + Self.parts(word)) {
      Issue.record("\(path): \(word)")
    }
  }

  @Test("each type that stands by itself has a name of its own, in all modules together")
  func types() {
    var places: [Substring: [String]] = [:]
    for (path, text) in sources {
      for line in text.split(separator: "\n") where line.first?.isLetter == true {
        let words = line.prefix { !"{:<(".contains($0) }.split(separator: " ")
        guard let kind = words.firstIndex(where: Self.kinds.contains), kind + 1 < words.count else {
          continue
        }
        places[words[kind + 1], default: []].append(path)
      }
    }
    #expect(places.count > 500)
    for (name, paths) in places where paths.count > 1 {
      Issue.record("\(name): \(paths.joined(separator: ", "))")
    }
  }

  private static let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor"]

  private static func words(_ text: String) -> Set<String> {
    let isPart = { (byte: UInt8) in
      byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
        || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
    }
    return Set(text.utf8.split { !isPart($0) }.map { String(Substring($0)) })
  }

  /// The words that a name is made of, in lower case.
  private static func parts(_ name: String) -> [String] {
    name.matches(of: /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/).map { $0.output.lowercased() }
  }
}
