import Foundation
import PushModel
import Testing

import Commands

/// Where the sources cite `Documentation` means nothing to users: they get the rule in words, and the name of Apple's page.
@Suite("What users read")
struct VisibleTextTests {
  private static let sources = URL(filePath: #filePath).appending(path: "../../../Sources")
    .standardizedFileURL

  /// "(D.6)", "(C.3, E)", "A.4", "K 18", "spec/…", "design.md", "Documentation/….md#…".
  private static func codes(in text: String) -> [String] {
    let code =
      /\([A-K](?:[.,][^)]*)?\)|\b[A-K]\.[0-9]+\b|\b[DK] [0-9]{1,2}\b|\bspec\/|\b(?:design|interface|ux|style|cluster)\.md\b|\bDocumentation\/[^ ]+#/
    return text.matches(of: code).map { String($0.output) }
  }

  @Test("the search finds what it is for, and no more")
  func search() {
    for text in [
      "payload (D.2): expected", "topics (C.3, E)", "token (E)", "see A.4", "K 18", "spec/ux.md", "design.md",
      "see Documentation/provider-api.md#reasons",
    ] {
      #expect(!Self.codes(in: text).isEmpty, "\(text)")
    }
    for text in [
      "TLS 1.2", "payload (Apple: Binary Provider API)", "4 K", "SIZE such as 1G", "HTTP/1.1", "RFC 8259",
    ] {
      #expect(Self.codes(in: text).isEmpty, "\(text)")
    }
  }

  @Test("help has no code of a section")
  func help() throws {
    for name in [""] + CommandTable.commands.map(\.name) {
      let text = try #require(HelpText.text(for: name, CommandTable.commands))
      #expect(Self.codes(in: text) == [], "help \(name)")
    }
  }

  @Test("neither has the table of rejections")
  func rejections() {
    for rejection in Rejection.allCases { #expect(Self.codes(in: rejection.sentence) == [], "\(rejection)") }
  }

  @Test(
    "nor what a running emulator says: dashboard, OpenAPI document, metrics, explanations, log",
    .timeLimit(.minutes(15)))
  func emulator() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path + "/Dashboard/Web")
      .filter { !$0.hasPrefix(".") }.joined(separator: " ")
    let result = try program.exec(
      ["--log-level", "debug"],
      script: """
        console=http://$APNS_EMULATOR_CONSOLE
        curl -sf $api/openapi.json
        curl -sf $console/metrics
        curl -sf $console/ $console/docs
        for file in \(files); do curl -sf $console/dashboard/$file; done
        push() { curl -s -d "$body" -H "$field" "$@" >/dev/null; }
        token=abababababababababababababababababababababababababababababababab
        for field in 'apns-topic: com.example.app' 'apns-topic: a b' 'apns-priority: 7' 'apns-push-type: x' 'apns-id: 7'; do
          body='{}'; push $console/3/device/$token; push $console/3/device/ab; body=; push $console/3/device/$token
        done
        for command in 0 1 2; do
          "$emulator" send --legacy $command --topic com.example.app --token abab || true
        done
        "$emulator" send --topic com.example.app --token $token --push-type x || true
        curl -sf $api/notifications?limit=100
        """)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("openapi") && result.output.contains("Apple: "))
    #expect(result.output.contains("<html") && result.output.contains("function payloadLimit"))
    #expect(Self.codes(in: result.output) == [])
  }

  @Test("nor any text in the sources")
  func literals() throws {
    let files = try #require(
      FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil))
    var count = 0
    for case let file as URL in files where file.pathExtension == "swift" {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        for literal in Self.literals(line) {
          count += 1
          #expect(Self.codes(in: literal) == [], "\(file.lastPathComponent): \(line)")
        }
      }
    }
    #expect(count > 1000)
  }

  /// What stands in quotes on a line of Swift that is no comment.
  private static func literals(_ line: Substring) -> [String] {
    guard line.utf8.contains(UInt8(ascii: "\"")), !line.drop(while: { $0 == " " }).hasPrefix("//") else {
      return []
    }
    return line.matches(of: /"((?:[^"\\]|\\.)*)"/).map { String($0.output.1) }
  }
}
