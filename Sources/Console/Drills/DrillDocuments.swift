import Basics
import PushModel

/// All drills, and where a server stands with them.
package struct DrillOverview: JSONAnswer {
  /// One drill.
  package struct Entry: JSONAnswer {
    let id, interface, summary, remedy: String
    let evidence: DrillPlace
    let skipped: String?

    /// - Parameters:
    ///   - interface: `http2` or `binary`.
    ///   - summary: what goes wrong.
    ///   - remedy: what is right then.
    ///   - skipped: why it is not for this server; nil if it is, or nobody knows yet.
    package init(
      _ id: String, _ interface: String, summary: String, remedy: String, _ evidence: DrillPlace,
      skipped: String?
    ) {
      (self.id, self.interface, self.summary, self.remedy) = (id, interface, summary, remedy)
      (self.evidence, self.skipped) = (evidence, skipped)
    }

    package static let shape: JSONShape<Entry> = [
      "id": .show("goaway-graceful") { $0.id },
      "interface": .show("http2", words: "`http2` or `binary`") { $0.interface },
      "summary": .show("GOAWAY amid the batch", words: "What goes wrong") { $0.summary },
      "remedy": .show("send it again on a new connection", words: "What is right then") { $0.remedy },
      "evidence": .show(as: DrillPlace.shape) { $0.evidence },
      "skipped": .show(words: "Why it is not for this server, known once the baseline has run") {
        $0.skipped
      },
    ]
  }

  /// The run that goes on.
  package struct Running: JSONAnswer {
    package let id: String
    let tokens: [String]
    let udids: [String?]

    /// - Parameters:
    ///   - tokens: those of the run, in hexadecimal digits.
    ///   - udids: of the phones that have them, in the same order; nil for a token that nobody has.
    package init(id: String, tokens: [String], udids: [String?]) {
      (self.id, self.tokens, self.udids) = (id, tokens, udids)
    }

    package static let shape = JSONShape<Running>([
      "id": .show("goaway-graceful") { $0.id },
      "tokens": .show([JSONExample.token], words: "To be pushed to, one push each") { $0.tokens },
      "udids": .show(["drill-1-1"], words: "Of the phones, null where nobody has the token") { $0.udids },
    ]).named("RunningDrill")
  }

  var topic: String
  var hasBaseline: Bool
  package var running: Running?
  var drills: [Entry]

  package init(topic: String, hasBaseline: Bool, running: Running?, _ drills: [Entry]) {
    (self.topic, self.hasBaseline, self.running, self.drills) = (topic, hasBaseline, running, drills)
  }

  package static let shape = JSONShape<DrillOverview>([
    "topic": .show(JSONExample.topic, words: "Of all tokens") { $0.topic },
    "baseline": .show(words: "Whether the server has passed a run without a fault") { $0.hasBaseline },
    "running": .show(words: "The run that goes on, once its tokens can be pushed to") { $0.running },
    "drills": .show { $0.drills },
  ]).named("Drills")
}

/// A heading of a page.
package struct DrillPlace: JSONAnswer {
  let page, heading: String

  package init(page: String, heading: String) { (self.page, self.heading) = (page, heading) }

  package static let shape: JSONShape<DrillPlace> = [
    "page": .show("Documentation/drills.md") { $0.page }, "heading": .show("goaway-graceful") { $0.heading },
  ]
}

/// What became of one run, as the API and `drill --json` show it.
package struct DrillOutcome: JSONAnswer {
  /// What became of the pushes, as counts.
  package typealias Counts = (
    sent: Int, once: Int, twice: Int, never: Int, refused: Int, reported: Int, lost: Int, doubled: Int
  )
  package typealias Advice = (id: String, severity: String, count: UInt64, sentence: String)

  package var (id, verdict, sentence, again) = ("", "", "", "")
  package var isPassed = false
  package var counts: Counts = (0, 0, 0, 0, 0, 0, 0, 0)
  package var nanoseconds: Int64 = 0
  package var status: Int32?
  package var attempts = 1
  package var evidence: DrillPlace?
  package var advice: [Advice] = []
  package var notes: [String] = []

  package init() {}

  package static let shape = JSONShape<DrillOutcome>(head + numbers + rest).named("DrillOutcome")

  private static let head: JSONShape<DrillOutcome> = [
    "id": .show("goaway-graceful") { $0.id },
    "verdict": .show("ok", words: "`ok`, `FAIL`, `untold`, `waiting` or `hangs`") { $0.verdict },
    "passed": .show(true) { $0.isPassed },
  ]

  private static let numbers: JSONShape<DrillOutcome> = [
    "sent": .show(100, words: "Tokens of the run") { $0.counts.sent },
    "once": .show(100, words: "Delivered once") { $0.counts.once },
    "twice": .show(words: "Delivered more than once") { $0.counts.twice },
    "never": .show(words: "Neither delivered nor rejected") { $0.counts.never },
    "refused": .show(words: "Rejected, and not delivered") { $0.counts.refused },
    "reported": .show(words: "Reported by the provider") { $0.counts.reported },
    "lost": .show(words: "Not delivered though they should have been") { $0.counts.lost },
    "doubled": .show(words: "Delivered more than once though that is wrong") { $0.counts.doubled },
  ]

  private static let rest: JSONShape<DrillOutcome> = [
    "nanoseconds": .show(400_000_000) { $0.nanoseconds },
    "status": .show(words: "How a command ended, as a shell tells it") { $0.status },
    "attempts": .show(1) { $0.attempts },
    "sentence": .show(words: "What is wrong, or empty") { $0.sentence },
    "evidence": .show(words: "Where Apple says so") { $0.evidence },
    "advice": .list(of: finding) { $0.advice },
    "notes": .show { $0.notes },
    "again": .show(words: "The command that runs it again, or empty") { $0.again },
  ]

  private static let finding: JSONShape<Advice> = [
    "id": .show("lost-at-goaway") { $0.id }, "severity": .show("error") { $0.severity },
    "count": .show(29) { $0.count }, "sentence": .show("29 pushes were lost.") { $0.sentence },
  ]
}
