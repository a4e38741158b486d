import Advice
import Basics
import Phone
import PushModel

/// An event on one of the phones.
struct PhoneLine: Sendable {
  let phone: String
  let event: PhoneEvent
}

/// How things are when a step is over.
struct StageView: Sendable {
  var phone: String?
  var badge: Int?
  var listed = 0
  var tokenBefore: DeviceToken?
  var token: DeviceToken?
  var feedback = 0
  var tokensLeft: Int?
  var advice: [AdviceRule] = []
}

/// Compares what was expected with what came. Pure.
struct ExpectationCheck {
  private(set) var failures: [(expected: String, got: String)] = []
  private let expectation: Expectation
  private let outcomes: [PushOutcome]
  /// Those of the phone and app that it is about.
  private let events: [PhoneEvent]
  private let view: StageView

  init(_ expectation: Expectation, _ outcomes: [PushOutcome], _ lines: [PhoneLine], _ view: StageView) {
    (self.expectation, self.outcomes, self.view) = (expectation, outcomes, view)
    events = lines.filter {
      (expectation.on == nil || $0.phone == expectation.on)
        && (expectation.topic == nil || $0.event.topic == expectation.topic)
    }.map(\.event)
    checkOutcome()
    checkEvents()
    checkNone()
    checkState()
  }

  private mutating func fail(_ expected: String, _ got: String) { failures.append((expected, got)) }

  // MARK: The push

  private mutating func checkOutcome() {
    let wanted: [(String, (PushOutcome) -> Bool)?] = [
      expectation.status.map { status in ("\(status)", { $0.status == status }) },
      expectation.reason.map { reason in (reason, { $0.reason == reason }) },
      expectation.legacyStatus.map { status in
        ("error packet with status \(status)", { $0.legacyStatus.map(Int.init) == status })
      },
      expectation.isClosed.map { closed in
        (closed ? "a closed connection" : "an open connection", { $0.isClosed == closed })
      },
    ]
    let all = wanted.compactMap { $0 }
    guard !all.isEmpty else { return }
    guard !outcomes.contains(where: { outcome in all.allSatisfy { $0.1(outcome) } }) else { return }
    let got = outcomes.map { outcomes.count == 1 ? $0.text : "\($0.name): \($0.text)" }
    fail(
      all.map(\.0).joined(separator: " "), got.isEmpty ? "no push in this step" : got.joined(separator: ", "))
  }

  // MARK: Events

  /// What an event has to be, in words and as a test.
  private var wantedEvent: (words: [String], matches: (PhoneEvent) -> Bool) {
    let wanted: [(String, (PhoneEvent) -> Bool)?] = [
      expectation.event.map { name in (name, { $0.what.name == name }) },
      expectation.callback.map { callback in ("callback \(callback)", { $0.calls(callback) }) },
      expectation.presented.map { places in
        let words = places.isEmpty ? "not presented" : "presented \(places.joined(separator: ", "))"
        return (words, { $0.isPresented(in: places) })
      },
      expectation.detail.map { detail in (DocumentError.quoted(detail), { $0.detail.contains(detail) }) },
      expectation.rule.map { rule in ("by \(rule)", { $0.rule.name == rule }) },
    ]
    let all = wanted.compactMap { $0 }
    return (all.map(\.0), { event in all.allSatisfy { $0.1(event) } })
  }

  private mutating func checkEvents() {
    let (words, matches) = wantedEvent
    guard !words.isEmpty else { return }
    let count = events.count(where: matches)
    let isRight = expectation.count.map { $0 == count } ?? (count > 0)
    guard !isRight else { return }
    let times = expectation.count.map { "\($0) × " } ?? ""
    fail(times + words.joined(separator: " "), (count > 0 ? "\(count) of " : "") + told(events))
  }

  private mutating func checkNone() {
    guard let none = expectation.none else { return }
    let found = events.filter { $0.what.name == none }
    if !found.isEmpty { fail("no \(none)", told(found)) }
  }

  private func told(_ events: [PhoneEvent]) -> String {
    guard !events.isEmpty else { return "nothing" }
    return events.map { event in
      "\(event.what.name)\(event.detail.isEmpty ? "" : " \(event.detail)") by \(event.rule.name)"
    }.joined(separator: "; ")
  }

  // MARK: How things are

  private mutating func checkState() {
    if let badge = expectation.badge, view.badge != badge {
      fail("badge \(badge)", view.badge.map { "\($0)" } ?? "no such app")
    }
    if let listed = expectation.listed, view.listed != listed {
      fail("\(listed) notification\(listed == 1 ? "" : "s") in the list", "\(view.listed)")
    }
    if let feedback = expectation.feedback, view.feedback != feedback {
      fail("\(feedback) token\(feedback == 1 ? "" : "s") in the feedback service", "\(view.feedback)")
    }
    if let tokens = expectation.tokens, view.tokensLeft != tokens {
      fail(
        "\(tokens) token\(tokens == 1 ? "" : "s") of the alias \(expectation.alias ?? "that is missing")",
        view.tokensLeft.map { "\($0)" } ?? "no alias in the expectation")
    }
    checkToken()
    checkAdvice()
  }

  private mutating func checkToken() {
    guard let wanted = expectation.token else { return }
    let change: Expectation.TokenChange =
      view.token == nil ? .none : view.token == view.tokenBefore ? .same : .changed
    if change != wanted { fail("token \(wanted.rawValue)", "token \(change.rawValue)") }
  }

  private mutating func checkAdvice() {
    guard let wanted = expectation.advice.map(Set.init), wanted != Set(view.advice) else { return }
    fail(words(of: wanted), words(of: Set(view.advice)))
  }

  private func words(of advice: Set<AdviceRule>) -> String {
    advice.isEmpty ? "no advice" : "advice \(advice.map(\.rawValue).sorted().joined(separator: ", "))"
  }
}

extension PhoneEvent {
  /// By `M3`, or by a part of the method's name.
  fileprivate func calls(_ name: String) -> Bool {
    switch what {
    case .callback(let callback):
      callback.number == name.uppercased() || callback.selector.contains(name)
    case .called(let method): method.rawValue.contains(name)
    default: false
    }
  }

  fileprivate func isPresented(in places: [String]) -> Bool {
    switch what {
    case .presented(let shown, _): Set(shown.words) == Set(places)
    case .notPresented: places.isEmpty
    default: false
    }
  }
}
