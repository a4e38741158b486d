import Foundation
import Testing

import Commands

/// What was released when, for users (`Documentation/CHANGELOG.md`).
@Suite("The changelog")
struct ChangelogTests {
  private struct Release: Equatable {
    var version: String
    var date: String
  }

  /// In the order of the page.
  private let releases: [Release]

  init() throws {
    let page = URL(filePath: #filePath).appending(path: "../../../Documentation/CHANGELOG.md")
      .standardizedFileURL
    let text = try String(contentsOf: page, encoding: .utf8)
    releases = text.matches(of: /(?m)^## ([0-9]+\.[0-9]+\.[0-9]+\S*) - ([0-9]{4}-[0-9]{2}-[0-9]{2})$/).map {
      Release(version: String($0.output.1), date: String($0.output.2))
    }
    // What comes with the next version stands first, if there is any.
    let headings = text.matches(of: /(?m)^## (.*)$/).map { String($0.output.1) }
    let released = headings.first == "Unreleased" ? headings.count - 1 : headings.count
    #expect(releases.count == released, "a heading is no version with a date")
  }

  @Test("its newest version is the program's")
  func newest() throws {
    #expect(try #require(releases.first).version == Program.version)
  }

  @Test("versions stand there once, newest first")
  func order() {
    #expect(Set(releases.map(\.version)).count == releases.count)
    #expect(releases.map(\.date) == releases.map(\.date).sorted(by: >))
  }
}
