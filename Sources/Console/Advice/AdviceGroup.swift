import Advice
import Basics
import Broker
import PushModel
import Transport

/// What providers were seen to do.
package protocol AdviceBoard: AnyObject {
  /// The worst first.
  func findings() -> [Finding]
  /// Pushes that were seen, as a count.
  var pushes: UInt64 { get }
  /// The providers have sent all that they will: what was lost and has not been sent again is lost.
  func nothingMoreComes()
  /// Forgets all of it.
  func clear()
}

/// What is wrong with providers.
package struct AdviceGroup: RouteGroup {
  private let board: any AdviceBoard

  package init(_ board: any AdviceBoard) { self.board = board }

  package var routes: [Route] {
    [
      .get("/api/v1/advice", "What providers were seen to do wrong, the worst first", .json(advice))
        .query(RouteParameter.advice).at(.merged(.advice))
        .answers(200, "Findings that match the filters", AdviceAnswer.schema),
      .post(
        "/api/v1/advice/complete",
        "Says that providers have sent all that they will: what was lost and has not been sent again counts as lost",
        .json(complete)
      ).ordered.answers(
        200, "Findings of the node that is asked; GET /api/v1/advice lists those of all nodes",
        AdviceAnswer.schema),
    ]
  }

  /// `POST /api/v1/advice/complete`: who tests a provider need not wait for as long as it might still send again.
  private func complete(_ request: ConsoleRequest) -> AdviceAnswer {
    board.nothingMoreComes()
    return AdviceAnswer(findings: board.findings(), pushes: board.pushes)
  }

  /// `GET /api/v1/advice`
  private func advice(_ request: ConsoleRequest) throws -> AdviceAnswer {
    let filter = try request.query { try AdviceFilter(&$0) }
    return AdviceAnswer(findings: board.findings().filter(filter.matches), pushes: board.pushes)
  }
}

/// Which findings are asked for; all must hold.
private struct AdviceFilter {
  private let rule: AdviceRule?
  private let least: Severity?
  private let interface: Interface?
  private let (credential, peer): (String?, String?)

  init(_ query: inout QueryReader) throws {
    rule = try query.value("id", .word(AdviceRule.allCases, { $0.rawValue }))
    least = try query.value("severity", .word(Severity.allCases, { $0.rawValue }))
    interface = try query.value("interface", .word(Interface.allCases, { $0.name }))
    (credential, peer) = (query.text("credential"), query.text("peer"))
  }

  func matches(_ finding: Finding) -> Bool {
    finding.severity >= least ?? .note && finding.rule == rule ?? finding.rule
      && finding.provider.interface == interface ?? finding.provider.interface
      && finding.provider.credential == credential ?? finding.provider.credential
      && finding.provider.peer == peer ?? finding.provider.peer
  }
}

extension RouteParameter {
  fileprivate static let advice = [
    RouteParameter("id", "Of this kind", .words(AdviceRule.allCases.map(\.rawValue))),
    RouteParameter("severity", "Of this severity or worse", .words(Severity.allCases.map(\.rawValue))),
    RouteParameter("interface", "About providers on this interface", Interface.schema.definition),
    RouteParameter("credential", "About the provider with this credential, as findings name it"),
    RouteParameter("peer", "About the provider on this host"),
  ]
}

/// What there is to say of providers.
package struct AdviceAnswer: JSONAnswer {
  var findings: [Finding]
  var pushes: UInt64

  private static let counts = JSONShape<[Finding]>([
    "error": .show { $0.count(of: .error) }, "warning": .show { $0.count(of: .warning) },
    "note": .show { $0.count(of: .note) },
  ])

  package static let shape = JSONShape<AdviceAnswer>([
    "findings": .show { $0.findings },
    "notifications": .show(120, words: "Pushes that were looked at") { $0.pushes },
    "counts": .show(as: counts) { $0.findings },
    "missing": .elsewhere(JSONSchema(missing, example: []), isRequired: false),
  ]).named("Advice")

  private static let missing: JSONValue = [
    "type": "array", "items": ["type": "string"],
    "description": "In a cluster: nodes whose findings are missing, because they did not answer in time.",
  ]
}

extension [Finding] {
  fileprivate func count(of severity: Severity) -> Int { count { $0.severity == severity } }
}
