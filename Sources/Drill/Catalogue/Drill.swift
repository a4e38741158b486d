import Advice
import Basics

/// One thing that goes wrong on purpose, and what a good provider comes to (`Documentation/drills.md`). Data alone: who runs it reads it.
package struct Drill: Sendable {
  /// As `--only` takes it; the page has a heading of that name.
  package let id: String
  package let interface: DrillInterface
  /// What goes wrong, in a line.
  package let summary: String
  /// Rules of the emulator while CMD runs.
  package var faults: [DrillFault] = []
  /// What the tokens in CMD's file are.
  package var tokens = DrillTokens.allGood
  /// So many times `--pushes` are sent.
  package var times = 1
  /// More are not sent, whatever `--pushes` says, as a count.
  package var mostPushes = Int.max
  /// What a good provider comes to.
  package var right = DrillRight()
  /// How long CMD may take beyond five baselines, in milliseconds: what the fault, and a good provider's timeouts and pauses, wait
  /// for. A timeout may be a minute (`Documentation/drills.md#no-answer`).
  package var waitMilliseconds: Int64 = 65_000
  /// How long nothing has to come any more before deliveries are at rest, in milliseconds.
  package var quietMilliseconds: Int64 = 150
  /// Words for what is wrong.
  package let words: DrillWords
  /// The finding that names the fault, if advice has one.
  package var advice: AdviceRule?
  /// Where Apple says so.
  package let evidence: DrillEvidence

  /// The run without a fault, and what is right then.
  package static let baseline = Drill(
    id: DrillResult.baselineId, interface: .http2, summary: "nothing goes wrong",
    words: DrillWords(lost: "without a fault", remedy: "send one push to each token of the file"),
    evidence: DrillEvidence("drills", "command"))

  /// Whether only providers with provider tokens can be put to it.
  package var needsProviderToken: Bool { right.providerTokens != .any }
}

/// The protocol that a drill is for.
package enum DrillInterface: String, Sendable, CaseIterable {
  case http2, binary

  /// As fault rules name the listener.
  var place: JSONValue { self == .http2 ? "provider" : "gateway" }

  var words: String { self == .http2 ? "HTTP/2" : "the binary protocol" }
}

/// One rule, but for what depends on the run: how many pushes there are, and to which tokens.
package struct DrillFault: Sendable {
  package enum When: Sendable {
    case always
    /// The push in the middle of the batch.
    case middle
    case next(Int)
  }

  package var when: When
  /// Only pushes to the token in the middle of the file.
  package var isForMiddleToken = false
  package var effect: JSONValue

  package init(_ when: When, forMiddleToken: Bool = false, _ effect: JSONValue) {
    (self.when, isForMiddleToken, self.effect) = (when, forMiddleToken, effect)
  }

  /// The rule as requests write it (`Documentation/faults.md#rules`).
  package func rule(name: String, _ interface: DrillInterface, tokens: [[UInt8]]) -> JSONValue {
    let middle = DrillTokens.middle(of: tokens.count)
    var match: [(String, JSONValue)] = [("interface", interface.place)]
    if isForMiddleToken { match.append(("token", .string(Hex.encode(tokens[middle])))) }
    let when: JSONValue =
      switch self.when {
      case .always: .null
      case .middle: ["nth": .integer(Int64(middle + 1))]
      case .next(let count): ["next": .integer(Int64(count))]
      }
    return ["name": .string(name), "match": .object(match), "when": when, "effect": effect]
  }
}

/// What the tokens in CMD's file are.
package enum DrillTokens: Sendable, Equatable {
  case allGood
  /// The one in the middle is no token of the emulator's.
  case middleBad
  /// Every tenth is of an app that was removed.
  case someGone
  /// Every tenth is no token of the emulator's.
  case someBad

  package enum Kind: Sendable { case good, gone, bad }

  /// The place in the middle of so many.
  package static func middle(of count: Int) -> Int { count / 2 }

  /// What the token is at a place in a file of so many.
  package func kind(_ index: Int, of count: Int) -> Kind {
    let isTenth = index % 10 == min(4, count - 1)
    return switch self {
    case .allGood: .good
    case .middleBad: index == Self.middle(of: count) ? .bad : .good
    case .someGone: isTenth ? .gone : .good
    case .someBad: isTenth ? .bad : .good
    }
  }
}

/// What a good provider comes to. Where Apple is silent, this is the emulator's reading.
package struct DrillRight: Sendable {
  /// Which pushes CMD may report instead of having them delivered.
  package enum Reports: Sendable { case none, ofRejected, ofAll }
  /// How many provider tokens it may use, beside those of the baseline.
  package enum ProviderTokens: Sendable { case any, noMore, more }

  /// A push that is delivered twice is right: its provider can't know.
  package var mayDouble = false
  package var reports = Reports.none
  /// Tokens that are gone or bad have to be reported, and not to be tried again.
  package var reportsDeadTokens = false
  /// Still waiting for the time to try again is right.
  package var mayWait = false
  /// No push may be tried again within a second more than once.
  package var pausesBeforeRetry = false
  /// No more than ten connections in a second.
  package var pausesBeforeReconnect = false
  package var providerTokens = ProviderTokens.any
  /// The feedback service has to be read.
  package var readsFeedback = false

  package init() {}

  package init(_ change: (inout DrillRight) -> Void) { change(&self) }
}

/// A sentence for each way to be wrong, but for its numbers.
package struct DrillWords: Sendable {
  /// Which pushes are lost: behind "3 pushes ", before "were never sent again".
  package var lost: String
  /// Why that is wrong, or what to do; behind a colon.
  package var remedy: String
  /// Where CMD runs for too long.
  package var hangs = "waits for an answer that does not come"

  package init(lost: String, remedy: String, hangs: String? = nil) {
    (self.lost, self.remedy) = (lost, remedy)
    if let hangs { self.hangs = hangs }
  }
}

/// A heading of a page of `Documentation`.
package struct DrillEvidence: Sendable, Equatable {
  package let page: String
  package let heading: String

  /// `page` without folder and suffix.
  package init(_ page: String, _ heading: String) {
    self.init(path: "Documentation/\(page).md", heading)
  }

  package init(path: String, _ heading: String) { (page, self.heading) = (path, heading) }
}
