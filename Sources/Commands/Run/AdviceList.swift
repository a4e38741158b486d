import Advice
import Basics

/// Findings as lines for people, the worst first.
package struct AdviceList {
  private struct Entry {
    let severity: Severity
    let rule: String
    let sentence: String
    let remedy: String
    /// Whom it is about, and where examples are.
    let about: [String]
  }

  private let entries: [Entry]
  /// How many pushes were seen; nil if nobody says so.
  private let pushes: Int64?

  /// Of the console's answer.
  package init(_ document: JSONValue) {
    entries = document.list("findings").map(Self.entry)
    pushes = document["notifications"]?.integer
  }

  /// Of an emulator in this process.
  package init(_ findings: [Finding], pushes: Int64? = nil) {
    entries = findings.map { finding in
      Entry(
        severity: finding.severity, rule: finding.rule.rawValue, sentence: finding.sentence,
        remedy: finding.remedy, about: [])
    }
    self.pushes = pushes
  }

  /// Whether there is one of this severity or worse.
  package func has(_ least: Severity) -> Bool { entries.contains { $0.severity >= least } }

  package var lines: [String] {
    guard !entries.isEmpty else { return [head] }
    let width = Severity.allCases.map(\.rawValue.count).max() ?? 0
    let indent = String(repeating: " ", count: width + 2)
    var lines = [head]
    for entry in entries {
      let word = entry.severity.rawValue
      let first = word + indent.dropFirst(word.count) + "\(entry.rule): \(entry.sentence)"
      let about = entry.about.joined(separator: " · ")
      lines.append(first.visible)
      lines += [entry.remedy, about].filter { !$0.isEmpty }.map { (indent + $0).visible }
    }
    lines.append("\(AdviceRule.page) explains each")
    return lines
  }

  private var head: String {
    let seen = pushes.map { " about \($0) \($0 == 1 ? "push" : "pushes")" } ?? ""
    guard !entries.isEmpty else { return "nothing to say" + seen }
    let counts = Severity.allCases.reversed().compactMap { severity in
      let count = entries.count { $0.severity == severity }
      return count == 0 ? nil : "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
    }
    return counts.joined(separator: ", ") + seen
  }

  private static func entry(_ finding: JSONValue) -> Entry {
    let provider = finding["provider"]
    let examples = finding.list("notifications").compactMap(\.integer)
    let who = [
      provider?.string("interface"), provider?.string("credential"),
      provider?.string("peer").map { "from \($0)" }, finding.string("node").map { "at \($0)" },
    ]
    let place = examples.isEmpty ? nil : "notifications \(examples.map(String.init).joined(separator: ", "))"
    return Entry(
      severity: finding.string("severity").flatMap(Severity.init) ?? .note, rule: finding.string("id") ?? "",
      sentence: finding.string("sentence") ?? "", remedy: finding.string("remedy") ?? "",
      about: (who + [place]).compactMap { $0 }.filter { !$0.isEmpty })
  }
}
