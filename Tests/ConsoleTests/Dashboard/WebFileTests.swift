import Foundation
import Testing

@testable import Dashboard

@Suite struct WebFileTests {
  private static let folder = URL(filePath: #filePath).appending(path: "../../../../Sources/Dashboard/Web")
    .standardizedFileURL

  @Test("The binary has the files of the folder Web and no others: `make dashboard` writes them anew")
  func embedded() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter {
      !$0.hasPrefix(".")
    }
    #expect(WebFile.names == names.sorted())
    for name in names {
      let source = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
      #expect(WebFile.embedded[name] == source, "\(name) has changed: make dashboard")
    }
  }

  @Test("Every file has a type that a browser takes for what it is")
  func types() throws {
    for name in WebFile.names {
      let type = try #require(WebFile(named: name)).contentType
      #expect(["text/html", "text/css", "text/javascript"].map { "\($0); charset=utf-8" }.contains(type))
    }
  }
}
