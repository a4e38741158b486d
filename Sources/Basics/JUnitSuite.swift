/// A report of test cases as JUnit's readers know them, for CI.
///
///     JUnitSuite(name: "scenarios", cases: [.init(name: "a phone returns", group: "a.json", nanoseconds: 1_000_000)]).text
public struct JUnitSuite: Sendable {
  public struct Case: Sendable {
    public var name: String
    /// JUnit calls it the class.
    public var group: String
    public var nanoseconds: Int64
    /// A sentence for each; none if the case has passed.
    public var failures: [String]
    /// Why the case was not looked at; nil if it was.
    public var skipped: String?

    public init(
      name: String, group: String, nanoseconds: Int64, failures: [String] = [], skipped: String? = nil
    ) {
      (self.name, self.group, self.nanoseconds) = (name, group, nanoseconds)
      (self.failures, self.skipped) = (failures, skipped)
    }
  }

  public var name: String
  public var cases: [Case]

  public init(name: String, cases: [Case]) { (self.name, self.cases) = (name, cases) }

  /// The whole file.
  public var text: String {
    let failed = cases.count { !$0.failures.isEmpty }
    let skipped = cases.count { $0.skipped != nil }
    let time = Self.seconds(cases.reduce(0) { $0 &+ $1.nanoseconds })
    let head = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
      "<testsuite name=\"\(Self.escaped(name))\" tests=\"\(cases.count)\" failures=\"\(failed)\" errors=\"0\" "
        + "skipped=\"\(skipped)\" time=\"\(time)\">",
    ]
    return (head + cases.flatMap(Self.lines) + ["</testsuite>", ""]).joined(separator: "\n")
  }

  private static func lines(_ one: Case) -> [String] {
    let name = "name=\"\(escaped(one.name))\" classname=\"\(escaped(one.group))\""
    let failures = one.failures.map { failure in
      let text = escaped(failure)
      return "    <failure message=\"\(text)\">\(text)</failure>"
    }
    let skipped = one.skipped.map { ["    <skipped message=\"\(escaped($0))\"/>"] } ?? []
    return ["  <testcase \(name) time=\"\(seconds(one.nanoseconds))\">"] + failures + skipped + [
      "  </testcase>"
    ]
  }

  private static func seconds(_ nanoseconds: Int64) -> String {
    let milliseconds = max(0, nanoseconds) / 1_000_000
    let rest = "\(milliseconds % 1000)"
    return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }

  private static let entities: [Unicode.Scalar: String] = [
    "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;",
  ]

  /// By scalars: what combines with a sign hides it from who looks for characters.
  private static func escaped(_ text: String) -> String {
    text.visible.unicodeScalars.map { entities[$0] ?? String($0) }.joined()
  }
}
