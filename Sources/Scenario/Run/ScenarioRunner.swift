import Basics
import Broker
import Credentials
import Phone
import Platform
import PushModel

/// Plays a scenario, step by step, on a stage of its own.
package final class ScenarioRunner {
  private let file: ScenarioFile
  private let stage: ScenarioStage
  /// Tokens that the scenario has names for.
  private var remembered: [String: (token: DeviceToken, topic: Topic)] = [:]
  /// What the provider has of each person.
  private var addressBook: [String: [Address]] = [:]

  private struct Address {
    let name: String
    let token: DeviceToken
    let topic: Topic
  }

  private init(_ file: ScenarioFile, _ credentials: TemporaryCredentials) throws {
    self.file = file
    stage = try ScenarioStage(file.scenario, credentials)
  }

  /// Plays it to the end, or to the first step that can't be done; an expectation that fails ends nothing.
  ///
  ///     let result = ScenarioRunner.play(try ScenarioFile(path: path, text: text), with: try TemporaryCredentials())
  package static func play(_ file: ScenarioFile, with credentials: TemporaryCredentials) -> ScenarioResult {
    let began = SystemClock.now()
    var result = ScenarioResult(file)
    do {
      let runner = try ScenarioRunner(file, credentials)
      defer { runner.stage.end() }
      try runner.begin()
      for (index, step) in file.scenario.steps.enumerated() {
        result.steps.append(try runner.play(step, index))
      }
    } catch {
      let place = file.place(ofStep: result.steps.count)
      result.problem = ScenarioFailure(
        place: place, expected: "a step that can be played", got: "the error: \(error)")
    }
    result.nanoseconds = SystemClock.now().nanoseconds(since: began)
    return result
  }

  private func begin() throws {
    try stage.rest("the beginning")
    for phone in stage.sortedPhones { _ = phone.takeEvents() }
    for (name, udids) in file.scenario.aliases {
      addressBook[name] = try udids.flatMap { udid in
        try phone(udid.text).tokens.sorted { $0.key.name < $1.key.name }.map { topic, token in
          Address(name: udid.text, token: token, topic: topic)
        }
      }
    }
  }

  // MARK: A step

  private func play(_ step: ScenarioStep, _ index: Int) throws -> StepResult {
    let seconds = (stage.emulator.clock.now().nanoseconds - stage.begin.nanoseconds) / 1_000_000_000
    var result = StepResult(
      place: file.place(ofStep: index), seconds: seconds, title: step.title, say: step.say)
    let before = Dictionary(uniqueKeysWithValues: stage.phones.map { ($0.key.text, $0.value.tokens) })
    result.outcomes = try act(step)
    if let within = step.expect.compactMap(\.within).max() { stage.advance(nanoseconds: within) }
    try stage.rest(step.title)
    result.events = stage.sortedPhones.flatMap { phone in
      phone.takeEvents().map { PhoneLine(phone: phone.udid.text, event: $0) }
    }
    for (number, expectation) in step.expect.enumerated() {
      let place =
        step.expect.count == 1 && file.places.isObject("steps[\(index)].expect")
        ? file.place(ofStep: index, "expect") : file.place(ofStep: index, "expect[\(number)]")
      let check = ExpectationCheck(
        expectation, result.outcomes, result.events, try view(expectation, before))
      result.checked += 1
      result.failures += check.failures.map {
        ScenarioFailure(place: place, expected: $0.expected, got: $0.got)
      }
    }
    return result
  }

  private func act(_ step: ScenarioStep) throws -> [PushOutcome] {
    if let push = step.push { return try send(push) }
    if let act = step.person { try perform(act) }
    if let act = step.phone { try perform(act) }
    if let act = step.app { try perform(act) }
    if let wait = step.wait { stage.advance(nanoseconds: wait) }
    if let fault = step.fault { _ = stage.emulator.faultEngine.set(fault) }
    if let name = step.mend, !stage.emulator.faultEngine.remove(name) {
      throw StageError("there is no fault \(name), so it can't be mended")
    }
    for (name, address) in step.remember { remembered[name] = try token(at: address) }
    return []
  }

  // MARK: Pushes

  private func send(_ push: ScenarioPush) throws -> [PushOutcome] {
    if case .name(let name) = push.to, name.hasPrefix("@") {
      return try send(push, toAll: String(name.dropFirst()))
    }
    var found: (token: DeviceToken, topic: Topic)?
    if case .name(let name) = push.to { found = remembered[name] }
    let (token, topic) = try found ?? token(at: push.to, for: push.type)
    return [try send(push, to: token, topic, named: push.to.words)]
  }

  private func send(_ push: ScenarioPush, toAll alias: String) throws -> [PushOutcome] {
    guard let addresses = addressBook[alias] else { throw StageError("there is no alias \(alias)") }
    let outcomes = try addresses.map { try send(push, to: $0.token, $0.topic, named: $0.name) }
    // What Apple says is gone, or no token at all, is not used again.
    addressBook[alias] = zip(addresses, outcomes).filter {
      $1.status != 410 && $1.reason != Rejection.badDeviceToken.reason
    }.map(\.0)
    return outcomes
  }

  private func send(
    _ push: ScenarioPush, to token: DeviceToken, _ topic: Topic, named name: String
  ) throws -> PushOutcome {
    let topic =
      try push.topic.map { name in
        guard let topic = Topic(name) else {
          throw StageError("topic: expected a bundle id, got \"\(name)\"")
        }
        return topic
      } ?? topic
    var left = push.retries
    while true {
      let attempt = try stage.provider.send(push, to: token.bytes, topic, named: name)
      defer { attempt.end() }
      try stage.rest("the push to \(name)") { attempt.outcome != nil }
      guard let outcome = attempt.outcome else { throw StageError("no answer has come") }
      let isBusy = outcome.status == 429 || outcome.status ?? 0 >= 500 || outcome.problem != nil
      guard isBusy, left > 0 else { return outcome }
      left -= 1
    }
  }

  // MARK: Phones

  private func phone(_ name: String?) throws -> ScenarioPhone {
    guard let name else {
      guard let only = stage.phones.first?.value, stage.phones.count == 1 else {
        throw StageError("on: expected the name of one of the \(stage.phones.count) phones, got nothing")
      }
      return only
    }
    guard let phone = UDID(name).flatMap({ stage.phones[$0] }) else {
      let names = stage.sortedPhones.map(\.udid.text).joined(separator: ", ")
      throw StageError("there is no phone \"\(name)\"; the scenario has \(names)")
    }
    return phone
  }

  private func token(
    at address: TokenAddress, for type: PushType? = nil
  ) throws -> (token: DeviceToken, topic: Topic) {
    switch address {
    case .name(let name): return try token(of: name, for: type)
    case .context(let address):
      let phone = try phone(address.on)
      let need = try (address.topic ?? onlyApp(of: phone))?.topic(for: .liveactivity).map {
        TokenNeed($0, address.context)
      }
      guard let need, let token = phone.device.tokens[need] else {
        let names = phone.device.tokens.keys.compactMap { need in
          need.context.map { "\($0) of \(need.topic.app.topic)" }
        }.sorted()
        throw StageError(
          "\(phone.udid) has no token \(address.context); it has "
            + (names.isEmpty ? "no token of a Live Activity" : names.joined(separator: ", ")))
      }
      return (token, need.topic)
    }
  }

  /// Of `anna`, or `anna/com.example.app`; some types have tokens of their own.
  private func token(
    of text: String, for type: PushType? = nil
  ) throws -> (token: DeviceToken, topic: Topic) {
    let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
    let phone = try phone(parts.first)
    let app = try parts.count == 2 ? Topic(parts[1]) : onlyApp(of: phone)
    guard let topic = app?.topic(for: type ?? .alert), let token = phone.tokens[topic] else {
      let names = phone.tokens.keys.map(\.name).sorted().joined(separator: ", ")
      throw StageError(
        "\(text) has no token for a push of type \(type?.name ?? "alert"); it has \(names.isEmpty ? "none" : names)"
          + (app.flatMap { whyNone(of: $0, on: phone) } ?? "")
      )
    }
    return (token, topic)
  }

  /// What else there is to say where an app has no token by its entitlement.
  private func whyNone(of app: Topic, on phone: ScenarioPhone) -> String? {
    guard !phone.phone.isEntitled(app), let entitlement = phone.phone[app]?.build.entitlement else {
      return nil
    }
    return ": the entitlement of \(app) is \(entitlement.rawValue), and the environment of the scenario "
      + stage.emulator.options.environment.name
  }

  private func onlyApp(of phone: ScenarioPhone) throws -> Topic? {
    guard phone.apps.count == 1 else {
      throw StageError(
        "\(phone.udid) has \(phone.apps.count) apps: name one as \(phone.udid)/TOPIC")
    }
    return phone.apps.first
  }

  private func perform(_ act: PersonAct) throws {
    let phone = try phone(act.on)
    let note = try act.note.map { text in
      let found = phone.phone.notes.last { text == "newest" || $0.push.content.line.contains(text) }
      guard let found else {
        let all = phone.phone.notes.map { DocumentError.quoted($0.push.content.line) }
        throw StageError(
          "there is no notification \(DocumentError.quoted(text)) on \(phone.udid); it shows "
            + (all.isEmpty ? "none" : all.joined(separator: ", ")))
      }
      return found.id
    }
    try phone.device.perform(try act.order(id: note))
  }

  private func perform(_ act: PhoneAct) throws {
    let phone = try phone(act.on)
    switch act.state {
    case .online: phone.device.switchOn()
    case .offline: phone.device.switchOff()
    case .erased, .restored:
      let (broker, now) = (stage.emulator.broker, stage.emulator.clock.now())
      guard let device = broker.registry.knownDevice(phone.udid) else { return }
      if act.state == .erased { return broker.apps.erase(device, now: now) }
      guard broker.apps.restore(device, now: now) else {
        throw StageError("the emulator has as many device tokens as it can hold")
      }
    }
  }

  private func perform(_ act: AppAct) throws {
    let phone = try phone(act.on)
    guard let topic = try act.topic ?? onlyApp(of: phone) else { return }
    let change: AppChange =
      switch act.change {
      case .installed: .install
      case .updated: .update
      case .reinstalled: .reinstall
      case .removed: .remove
      }
    _ = stage.emulator.change(change, topic, on: phone.udid, in: stage.emulator.options.environment)
    if act.change == .installed { phone.device.install(topic) }
  }

  // MARK: What expectations look at

  private func view(_ expectation: Expectation, _ before: [String: [Topic: DeviceToken]]) throws -> StageView
  {
    var view = StageView()
    view.feedback = stage.emulator.broker.feedback.count
    if expectation.advice != nil { view.advice = stage.advice() }
    view.tokensLeft = expectation.alias.map { addressBook[$0]?.count ?? 0 }
    guard let phone = expectation.on != nil || stage.phones.count == 1 ? try phone(expectation.on) : nil
    else {
      return view
    }
    view.phone = phone.udid.text
    view.listed = phone.phone.notes.count { $0.shown.contains(.list) }
    let topic = expectation.topic ?? phone.apps.first ?? before[phone.udid.text]?.keys.first?.app.topic
    guard let topic else { return view }
    view.badge = phone.phone[topic]?.badge
    (view.tokenBefore, view.token) = (before[phone.udid.text]?[topic], phone.tokens[topic])
    return view
  }
}

extension ScenarioStep {
  /// What it does, in a line.
  fileprivate var title: String {
    if let push {
      return "push to \(push.to.words)" + (push.by == .legacy ? " over the binary protocol" : "")
    }
    if let person {
      let what = (person.members["do"]?.text ?? "").filter { $0 != "\"" }
      let note = person.note.map { " \($0)" } ?? ""
      return "\(person.on.map { "\($0): " } ?? "")\(what)\(note)"
    }
    if let phone { return "\(phone.on.map { "\($0): " } ?? "")phone \(phone.state.rawValue)" }
    if let app { return "\(app.on.map { "\($0): " } ?? "")app \(app.change.rawValue)" }
    if let wait { return "wait \(SpanText.text(wait))" }
    if let fault { return "fault \(fault.name)" }
    if let mend { return "mend fault \(mend)" }
    if !remember.isEmpty { return "remember \(remember.keys.sorted().joined(separator: ", "))" }
    return say ?? "check"
  }
}
