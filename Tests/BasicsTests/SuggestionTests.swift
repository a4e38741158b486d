import Testing

import Basics

@Suite("Guessing what was meant")
struct SuggestionTests {
  @Test(
    "distance counts insertions, deletions, changes and swaps of neighbours",
    arguments: [
      ("", "", 0), ("a", "", 1), ("", "abc", 3), ("same", "same", 0), ("serve", "serv", 1),
      ("serve", "sevre", 1), ("serve", "swerve", 1), ("serve", "serbe", 1), ("kitten", "sitting", 3),
    ])
  func distance(left: String, right: String, expected: Int) {
    #expect(Suggestion.distance(left, right) == expected)
    #expect(Suggestion.distance(right, left) == expected)
  }

  @Test("a slip finds its word, another word finds nothing")
  func nearest() {
    let words = ["serve", "send", "device", "feedback"]
    #expect(Suggestion.nearest(to: "sevre", among: words) == "serve")
    #expect(Suggestion.nearest(to: "feedbak", among: words) == "feedback")
    #expect(Suggestion.nearest(to: "feed", among: words) == "feedback")
    #expect(Suggestion.nearest(to: "launch", among: words) == nil)
    #expect(Suggestion.nearest(to: "", among: words) == nil)
    #expect(Suggestion.nearest(to: "x", among: []) == nil)
  }
}
