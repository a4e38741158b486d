import PushModel
import Testing

@testable import Console

@Suite struct DashboardTests {
  @Test(
    "Page, style and script come from the binary, under a policy that allows nothing else",
    arguments: [
      ("/", "text/html; charset=utf-8", "<!doctype html>"),
      ("/dashboard.css", "text/css; charset=utf-8", ":root"),
      ("/dashboard.js", "text/javascript; charset=utf-8", "'use strict';"),
    ])
  func assets(path: String, type: String, start: String) throws {
    let response = try ConsoleLab().ask("GET", path)
    #expect(response.status == 200 && response.field("content-type") == type)
    #expect(String(decoding: response.body, as: UTF8.self).hasPrefix(start))
    let policy = try #require(response.field("content-security-policy"))
    #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"))
    #expect(!policy.contains("unsafe"))
  }

  @Test("Nothing is fetched from elsewhere, and no text can become markup or program")
  func selfContained() {
    for text in [Dashboard.page, Dashboard.style, Dashboard.script] {
      #expect(!text.contains("src=\"http") && !text.contains("url(http") && !text.contains("@import"))
    }
    for word in [
      "innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "new Function", "srcdoc",
    ] {
      #expect(!Dashboard.script.contains(word), "\(word)")
    }
  }

  @Test("Every path that the script asks for is a route")
  func paths() {
    let patterns = Console.routeTable.map(\.pattern)
    var found: Set<String> = []
    for quote in ["'/api/v1/", "\"/api/v1/"] {
      for piece in Dashboard.script.split(separator: quote).dropFirst() {
        let path = "api/v1/" + piece.prefix { !"'\"?`".contains($0) }
        guard path != "api/v1/" else { continue }
        found.insert(path)
        let segments = path.split(separator: "/").map(String.init)
        #expect(patterns.contains { $0.match(segments) != nil }, "\(path)")
      }
    }
    #expect(found.count > 8, "\(found)")
  }

  @Test("With an access token the page is not shown without it")
  func access() throws {
    let lab = ConsoleLab { $0.accessToken = "secret" }
    for path in ["/", "/dashboard.js", "/dashboard.css"] { _ = try lab.refusal("GET", path, 401) }
  }

  @Test("Watchers hear of resets, deletions and a moved clock")
  func published() throws {
    let lab = ConsoleLab()
    let answer = try lab.open("GET", "/api/v1/events")
    _ = try lab.ask("POST", "/api/v1/reset", json: #"{"what":["feedback"]}"#)
    _ = try lab.ask("DELETE", "/api/v1/notifications")
    _ = try lab.ask("PUT", "/api/v1/clock", json: #"{"advance":"1m"}"#)
    lab.endTurn()
    lab.timers.pass(milliseconds: 50)
    let names = answer.streamed.split(separator: "\n").filter { $0.hasPrefix("event: ") }
    #expect(names == ["event: boot", "event: reset", "event: reset", "event: clock"])
  }
}
