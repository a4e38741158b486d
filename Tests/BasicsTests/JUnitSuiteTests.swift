import Testing

import Basics

@Suite("Reports for JUnit's readers")
struct JUnitSuiteTests {
  @Test("a suite counts its cases, and text can't break out of it")
  func whole() {
    let suite = JUnitSuite(
      name: "a & b",
      cases: [
        .init(name: "fine", group: "g", nanoseconds: 1_234_000_000),
        .init(name: "\"bad\"", group: "g", nanoseconds: 0, failures: ["1 < 2", "more"]),
        .init(name: "not for us", group: "g", nanoseconds: 0, skipped: "why"),
      ])
    #expect(
      suite.text == """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuite name="a &amp; b" tests="3" failures="1" errors="0" skipped="1" time="1.234">
          <testcase name="fine" classname="g" time="1.234">
          </testcase>
          <testcase name="&quot;bad&quot;" classname="g" time="0.000">
            <failure message="1 &lt; 2">1 &lt; 2</failure>
            <failure message="more">more</failure>
          </testcase>
          <testcase name="not for us" classname="g" time="0.000">
            <skipped message="why"/>
          </testcase>
        </testsuite>

        """)
  }
}
