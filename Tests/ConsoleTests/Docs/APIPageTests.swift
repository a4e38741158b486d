import Testing

@testable import Console

@Suite struct APIPageTests {
  @Test(
    "Page, style and script come from the binary, under the dashboard's policy",
    arguments: [
      ("/docs", "text/html; charset=utf-8", "<!doctype html>"),
      ("/docs.css", "text/css; charset=utf-8", "body.docs"),
      ("/docs.js", "text/javascript; charset=utf-8", "'use strict';"),
    ])
  func assets(path: String, type: String, start: String) throws {
    let response = try ConsoleLab().ask("GET", path)
    #expect(response.status == 200 && response.field("content-type") == type)
    #expect(String(decoding: response.body, as: UTF8.self).hasPrefix(start))
    #expect(response.field("content-security-policy") == Dashboard.contentPolicy)
    _ = try ConsoleLab { $0.accessToken = "secret" }.refusal("GET", path, 401)
  }

  @Test("Nothing is fetched from elsewhere, and no text can become markup or program")
  func selfContained() {
    for text in [APIPage.page, APIPage.style, APIPage.script] {
      #expect(!text.contains("src=\"http") && !text.contains("url(http") && !text.contains("@import"))
    }
    for word in [
      "innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "new Function", "srcdoc",
      "style=",
    ] {
      #expect(!APIPage.script.contains(word) && !APIPage.page.contains(word), "\(word)")
    }
  }

  @Test("The dashboard leads to it, and it leads back")
  func links() {
    #expect(Dashboard.page.contains(#"href="/docs""#) && APIPage.page.contains(#"href="/""#))
  }
}
