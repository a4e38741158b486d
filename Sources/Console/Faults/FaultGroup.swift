import Basics
import ConsoleAnswers
import Faults
import Transport

/// What goes wrong on purpose.
package struct FaultGroup: RouteGroup {
  private let engine: FaultEngine

  package init(_ engine: FaultEngine) { self.engine = engine }

  package var routes: [Route] {
    [
      .get(
        "/api/v1/faults", "Fault rules and presets",
        .json { _ in FaultRule.list.write((engine.rules, FaultPreset.allCases.map(\.rule))) }
      )
      .answers(200, "Rules in the order in which they are checked", FaultRule.list.schema),
      .post(
        "/api/v1/faults",
        "Adds or replaces a rule; with `name` and `enabled` alone switches the rule on or off",
        .answer(setFault)
      )
      .ordered.needs(FaultRule.request).refuses(404, 409)
      .answers(200, "The rule, which was there before", FaultRule.schema)
      .answers(201, "The new rule", FaultRule.schema),
      .get("/api/v1/faults/{name}", "One rule", .json { try rule($0.part("name")) })
        .answers(200, "The rule", FaultRule.schema),
      .delete("/api/v1/faults/{name}", "Removes a rule", .json(deleteFault))
        .ordered.answers(200, "The rule as it was", FaultRule.schema),
    ]
  }

  /// `POST /api/v1/faults`: adds a rule, or puts it in the place of the one with its name; with nothing but `name` and
  /// `enabled` it switches that one, which keeps its counts.
  private func setFault(_ request: ConsoleRequest) throws -> HTTPResponse {
    let body = try request.object(allowing: FaultRule.form.names)
    let name = try body.value("name", .name) ?? body.value("preset", .text) ?? freeName()
    let isNew = engine[name] == nil
    if body["name"] != nil, let isEnabled = try body.value("enabled", .flag), Self.onlySwitches(body) {
      _ = try rule(name)
      engine.enable(name, isEnabled)
    } else if !engine.set(try FaultRule(body, name: name)) {
      throw ConsoleError.conflict("there are \(FaultEngine.ruleLimit) rules already")
    }
    return HTTPResponse(status: isNew ? 201 : 200, json: try rule(name).json)
  }

  /// `DELETE /api/v1/faults/{name}`
  private func deleteFault(_ request: ConsoleRequest) throws -> FaultRule {
    let rule = try rule(request.part("name"))
    _ = engine.remove(rule.name)
    return rule
  }

  private static func onlySwitches(_ body: JSONObject) -> Bool {
    ["preset", "match", "when", "effect"].allSatisfy { body[$0] == nil }
  }

  private func freeName() -> String {
    var number = engine.rules.count + 1
    while engine["fault-\(number)"] != nil { number += 1 }
    return "fault-\(number)"
  }

  private func rule(_ name: String) throws -> FaultRule {
    guard let rule = engine[name] else {
      throw ConsoleError.notFound("there is no fault \(DocumentError.quoted(name))")
    }
    return rule
  }
}

/// Rules as the API shows them: as they are asked for, with what has come of them.
extension FaultRule: JSONAnswer {
  public static let shape = JSONShape<FaultRule>([
    "name": .show("slow", as: .text) { $0.name },
    "match": .show(["topic": JSONExample.topic], as: FaultMatch.form.kind(FaultMatch())) { $0.match },
    "when": .show(["next": 3], as: FaultSchedule.kind.described(as: ["type": ["object", "null"]])) {
      $0.schedule
    },
    "effect": .show(["delayMs": 500], as: FaultEffects.form.kind(FaultEffects())) { $0.effects },
    "enabled": .show(true) { $0.isEnabled }, "hits": .show { $0.hits }, "seen": .show { $0.seen },
  ]).named("Fault")

  /// As it is asked for.
  package static let request = JSONSchema(
    "FaultRequest", form.schema,
    example: [
      "name": "slow", "match": ["topic": JSONExample.topic], "when": ["next": 3], "effect": ["delayMs": 500],
    ])

  static let list = JSONShape<(faults: [FaultRule], presets: [FaultRule])>([
    "faults": .show { $0.faults }, "presets": .show([]) { $0.presets },
  ]).named("Faults")
}
