import Basics
import Testing

import Console
import Dashboard

@Suite struct DashboardTests {
  @Test(
    "Pages, styles and scripts come from the binary, under a policy that allows nothing else",
    arguments: [
      ("/", "text/html; charset=utf-8", "<!doctype html>"),
      ("/docs", "text/html; charset=utf-8", "<!doctype html>"),
      ("/dashboard/style.css", "text/css; charset=utf-8", ":root"),
      ("/dashboard/docs.css", "text/css; charset=utf-8", "body.docs"),
      ("/dashboard/main.js", "text/javascript; charset=utf-8", "/* The beginning"),
    ])
  func assets(path: String, type: String, start: String) throws {
    let response = try ConsoleLab().ask("GET", path)
    #expect(response.status == 200 && response.field("content-type") == type)
    #expect(String(decoding: response.body, as: UTF8.self).hasPrefix(start))
    #expect(response.field("cache-control") == "no-cache")
    let policy = try #require(response.field("content-security-policy"))
    #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"))
    #expect(!policy.contains("unsafe"))
  }

  @Test(
    "Only its own files are served",
    arguments: [
      "nothing.js", "..%2FWebFile.swift", "../WebFile.swift", "%2e%2e/WebFile.swift", "%2Fetc%2Fpasswd", "",
      ".",
      "a/style.css", "style.css%00",
    ])
  func others(name: String) throws {
    _ = try ConsoleLab().refusal("GET", "/dashboard/" + name, 404)
  }

  @Test("Both pages begin with the same head, and each has its own title")
  func heads() throws {
    let head = try #require(WebFile(named: "head.html")).text
    for (path, title) in [("/", "apns-emulator"), ("/docs", "API of apns-emulator")] {
      let page = String(decoding: try ConsoleLab().ask("GET", path).body, as: UTF8.self)
      #expect(page.hasPrefix(head + "<title>\(title)</title>") && page.matches(of: /<title>/).count == 1)
    }
  }

  @Test(
    "Nothing is fetched from elsewhere, and no text can become markup or program", arguments: WebFile.names)
  func selfContained(name: String) throws {
    let text = try #require(WebFile(named: name)).text
    for word in [
      "src=\"http", "href=\"http", "url(http", "@import", "innerHTML", "outerHTML", "insertAdjacent",
      "document.write",
      "eval(", "new Function", "srcdoc", " style=",
    ] {
      #expect(!text.contains(word), "\(word)")
    }
  }

  @Test("Every path that a script asks for is a route")
  func paths() throws {
    let patterns = ConsoleLab().console.table.routes.map(\.pattern)
    var found: Set<String> = []
    for name in WebFile.names where name.hasSuffix(".js") {
      for piece in try #require(WebFile(named: name)).text.split(separator: "/api/v1/").dropFirst() {
        let path = "api/v1/" + piece.prefix { !"'\"?` ".contains($0) }
        guard path != "api/v1/", !path.contains("$") else { continue }
        found.insert(path)
        let segments = path.split(separator: "/").map(String.init)
        #expect(patterns.contains { $0.match(segments) != nil }, "\(path)")
      }
    }
    #expect(found.count > 8, "\(found)")
  }

  @Test("Every file that a page or a script names is there", arguments: WebFile.names)
  func links(name: String) throws {
    let text = try #require(WebFile(named: name)).text
    let named =
      text.matches(of: /\/dashboard\/([a-z.-]+)/).map(\.1)
      + text.matches(of: /from '\.\/([a-z.-]+)'/).map(\.1)
    for other in named { #expect(WebFile(named: String(other)) != nil, "\(other)") }
  }

  @Test("The dashboard leads to the API, and that leads back")
  func backAndForth() {
    #expect(WebFile(named: "index.html")?.text.contains(#"href="/docs""#) == true)
    #expect(WebFile(named: "docs.html")?.text.contains(#"href="/""#) == true)
  }

  @Test("With an access token nothing is shown without it")
  func access() throws {
    let lab = ConsoleLab { $0.accessToken = "secret" }
    for path in ["/", "/docs", "/dashboard/main.js", "/dashboard/style.css", "/dashboard/nothing.js"] {
      _ = try lab.refusal("GET", path, 401)
    }
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
