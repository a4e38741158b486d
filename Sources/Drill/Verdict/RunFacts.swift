import Advice
import Basics
import PushModel

/// Who sends the pushes of a run.
package enum DrillSubject: Sendable {
  /// CMD, which is run once and ends.
  case command
  /// One that runs before and after, and is told of the run.
  case server

  /// In a sentence.
  var name: String { self == .command ? "CMD" : "the server" }
  /// What it did when its time was over.
  var overdue: String { self == .command ? "still running" : "not done" }
}

/// What was seen of one run of a provider: all that a verdict needs.
package struct RunFacts: Sendable {
  package enum Ending: Sendable, Equatable {
    /// As a shell tells it: its exit status, or 128 and the signal; 0 for a server that has done all.
    case ended(Int32)
    /// Its time was over.
    case stillRan
  }

  package var subject = DrillSubject.command
  /// In the order of CMD's file.
  package var tokens: [TokenFacts] = []
  package var ending = Ending.ended(0)
  /// How long CMD ran, or the server took, in nanoseconds.
  package var nanoseconds: Int64 = 0
  /// It has made the report file, or told of its report, empty or not.
  package var madeReport = false
  /// Interfaces that pushes came by.
  package var interfaces: Set<DrillInterface> = []
  /// Connections to them, as a count, refused ones included where a fault is about connections.
  package var connections = 0
  /// Most of these within a second, as a count.
  package var mostConnectionsInASecond = 0
  /// Provider tokens that pushes came with, as a count.
  package var providerTokens = 0
  /// Tokens that the feedback service had at first and that were read, as counts.
  package var feedback = (offered: 0, read: 0)
  /// How often a fault was injected.
  package var faultHits = 0
  /// Processes that CMD left behind, as a count; they were ended.
  package var leftBehind = 0
  package var findings: [FindingFacts] = []

  package init() {}

  var status: Int32? { if case .ended(let status) = ending { status } else { nil } }
}

/// What became of the push to one token.
package struct TokenFacts: Sendable {
  package var kind: DrillTokens.Kind
  /// Deliveries in the history.
  package var deliveries = 0
  /// Pushes to it that the emulator has looked at, whatever became of them.
  package var tries = 0
  /// Those of them that were answered with a rejection.
  package var rejections = 0
  /// Tries that came within a second after a rejection.
  package var quickRetries = 0
  /// It stands in the report file.
  package var isReported = false
  /// CMD has printed it.
  package var isPrinted = false

  package init(_ kind: DrillTokens.Kind = .good) { self.kind = kind }
}

/// What advice says of the run.
package struct FindingFacts: Sendable {
  package var rule: AdviceRule
  package var severity: Severity
  package var count: UInt64
  package var sentence: String

  package init(rule: AdviceRule, severity: Severity, count: UInt64, sentence: String) {
    (self.rule, self.severity, self.count, self.sentence) = (rule, severity, count, sentence)
  }
}

/// What verdicts on the other drills need to know of the run without a fault.
package struct BaselineFacts: Sendable, Equatable {
  package var nanoseconds: Int64
  package var interfaces: Set<DrillInterface>
  package var madeReport: Bool
  package var connections: Int
  package var providerTokens: Int
  /// Places of tokens that CMD has printed.
  package var printed: Set<Int>

  package init(_ facts: RunFacts) {
    (nanoseconds, interfaces, madeReport) = (facts.nanoseconds, facts.interfaces, facts.madeReport)
    (connections, providerTokens) = (facts.connections, facts.providerTokens)
    printed = Set(facts.tokens.indices.filter { facts.tokens[$0].isPrinted })
  }

  /// Longest that a run may take, in milliseconds.
  package static let longestMilliseconds: Int64 = 90_000

  /// How long CMD may run in a drill, in nanoseconds.
  package func limit(_ drill: Drill) -> Int64 {
    let wanted = min(nanoseconds / 1_000_000, Self.longestMilliseconds) * 5 + drill.waitMilliseconds
    return max(0, min(wanted, Self.longestMilliseconds)) * 1_000_000
  }
}

/// For the processes that run drills side by side.
extension BaselineFacts {
  package var json: JSONValue {
    [
      "nanoseconds": .integer(nanoseconds),
      "interfaces": .array(interfaces.map(\.rawValue).sorted().map(JSONValue.string)),
      "madeReport": .bool(madeReport), "connections": .integer(Int64(connections)),
      "providerTokens": .integer(Int64(providerTokens)),
      "printed": .array(printed.sorted().map { .integer(Int64($0)) }),
    ]
  }

  /// nil for anything but what `json` writes.
  package init?(_ json: JSONValue) {
    guard let nanoseconds = json.member("nanoseconds")?.integer, let names = json.strings("interfaces"),
      case .bool(let madeReport)? = json.member("madeReport"),
      let connections = json.member("connections")?.integer.flatMap({ Int(exactly: $0) }),
      let tokens = json.member("providerTokens")?.integer.flatMap({ Int(exactly: $0) }),
      case .array(let printed)? = json.member("printed")
    else { return nil }
    (self.nanoseconds, self.madeReport) = (nanoseconds, madeReport)
    (self.connections, providerTokens) = (connections, tokens)
    interfaces = Set(names.compactMap(DrillInterface.init(rawValue:)))
    self.printed = Set(printed.compactMap { $0.integer.flatMap { Int(exactly: $0) } })
  }
}
