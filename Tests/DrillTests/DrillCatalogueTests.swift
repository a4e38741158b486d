import Basics
import Faults
import Foundation
import Testing

import Drill

@Suite("The catalogue of drills")
struct DrillCatalogueTests {
  private static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

  private static func text(_ page: String) throws -> String {
    try String(contentsOf: root.appending(path: page), encoding: .utf8)
  }

  @Test(
    "each drill has its heading on the page, and each such heading its drill, with the evidence beside it")
  func page() throws {
    let parts = try Self.text("Documentation/drills.md").split(separator: "\n### ").dropFirst()
    let headings = parts.map { $0.prefix { $0 != "\n" } }
    #expect(headings.map(String.init) == DrillCatalogue.all.map(\.id))
    for (part, drill) in zip(parts, DrillCatalogue.all) {
      let page = drill.evidence.page.split(separator: "/").last ?? ""
      #expect(part.contains("(\(page)#\(drill.evidence.heading))"), "\(drill.id)")
    }
  }

  @Test("ids are different, and say which are for the binary protocol")
  func ids() {
    let ids = DrillCatalogue.all.map(\.id)
    #expect(Set(ids).count == ids.count)
    for drill in DrillCatalogue.all {
      #expect((drill.interface == .binary) == drill.id.hasPrefix("binary-"), "\(drill.id)")
    }
  }

  @Test("what is cited as evidence is a heading of a page", arguments: DrillCatalogue.all.map(\.id))
  func evidence(id: String) throws {
    let evidence = try DrillCatalogue.chosen([id])[0].evidence
    let headings = try Self.text(evidence.page).matches(of: /(?:^|\n)#+ ([^\n]+)/).map {
      $0.output.1.lowercased().replacing(" ", with: "-").filter {
        $0.isLetter || $0.isNumber || "-_".contains($0)
      }
    }
    #expect(headings.contains(evidence.heading), "\(evidence.page) \(evidence.heading)")
  }

  @Test("each rule is one that the emulator takes", arguments: DrillCatalogue.all.map(\.id))
  func rules(id: String) throws {
    let drill = try DrillCatalogue.chosen([id])[0]
    let tokens = (0..<100).map { [UInt8](repeating: UInt8($0), count: 32) }
    for fault in drill.faults {
      let document = fault.rule(name: id, drill.interface, tokens: tokens)
      let rule = try FaultRule(JSONObject(document, place: ""), name: id)
      #expect(rule.match.place == (drill.interface == .http2 ? .provider : .gateway))
      if case .middle = fault.when { #expect(rule.schedule == .nth(51)) }
      if fault.isForMiddleToken { #expect(rule.match.token == tokens[50]) }
    }
  }

  /// A timeout of at most 60 s is right where no answer comes (`Documentation/drills.md#no-answer`).
  @Test("a program has time for a timeout of a minute, but where it has to be quick or may wait on")
  func time() {
    let short = DrillCatalogue.all.filter { $0.waitMilliseconds <= 60_000 }
    #expect(short.map(\.id) == ["service-unavailable", "internal-server-error", "slow-answers"])
  }

  @Test("a list names all, each on a line that begins with its id")
  func list() {
    #expect(DrillCatalogue.list.map { String($0.prefix { $0 != " " }) } == DrillCatalogue.all.map(\.id))
  }

  @Test("those that are chosen come in the order of the catalogue, each once")
  func chosen() throws {
    let drills = try DrillCatalogue.chosen(["binary-shutdown", "goaway-zero", "goaway-zero"])
    #expect(drills.map(\.id) == ["goaway-zero", "binary-shutdown"])
    #expect(try DrillCatalogue.chosen([]).count == DrillCatalogue.all.count)
  }

  @Test(
    "of an unknown id the nearest names are told",
    arguments: [
      ("goaway-gracefull", "; did you mean goaway-graceful?"),
      ("goaway", "goaway-graceful, goaway-kept-open"),
      ("token", "too-many-provider-token-updates"), ("nonsense", "; drill --list names them"),
      ("", "there is no drill \"\""),
    ])
  func unknown(id: String, words: String) {
    let error = #expect(throws: UnknownDrill.self) { try DrillCatalogue.chosen([id]) }
    #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
  }

  @Test("one token in the middle, or every tenth, is no good one")
  func tokens() {
    func places(_ tokens: DrillTokens, _ count: Int) -> [Int] {
      (0..<count).filter { tokens.kind($0, of: count) != .good }
    }
    #expect(places(.allGood, 100) == [])
    #expect(places(.middleBad, 100) == [50])
    #expect(places(.someGone, 30) == [4, 14, 24] && places(.someBad, 10) == [4])
    #expect(DrillTokens.someGone.kind(4, of: 10) == .gone && DrillTokens.someBad.kind(4, of: 10) == .bad)
  }

  @Test(
    "the drills of the binary protocol are not for who speaks HTTP/2, and those of provider tokens not for certificates"
  )
  func skipped() throws {
    let binary = try DrillCatalogue.chosen(["binary-shutdown"])[0]
    let token = try DrillCatalogue.chosen(["expired-provider-token"])[0]
    #expect(
      DrillRunner.reasonToSkip(binary, Facts.baseline()) == "CMD does not speak the binary protocol")
    #expect(DrillRunner.reasonToSkip(binary, Facts.baseline { $0.interfaces = [.binary] }) == nil)
    #expect(DrillRunner.reasonToSkip(token, Facts.baseline()) == nil)
    #expect(
      DrillRunner.reasonToSkip(token, Facts.baseline { $0.providerTokens = 0 })
        == "CMD sends no provider tokens")
  }
}
