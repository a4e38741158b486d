import Basics
import Phone
import PushModel
import Testing

@testable import Scenario

/// Each kind of expectation: kept, and broken with what came.
@Suite("Expectations")
struct ExpectationCheckTests {
  private static let topic = Topic("com.example.app") ?? { preconditionFailure("a bundle id") }()

  /// What an alert to a locked phone does.
  private static let lines: [PhoneLine] = {
    var phone = SimulatedPhone()
    phone.install(PhoneApp(topic))
    let push = PhonePush(id: 1, topic: topic, payload: Array(#"{"aps":{"alert":"Hello","badge":3}}"#.utf8))
    return phone.receive(push, at: Timestamp(seconds: 1)).map { PhoneLine(phone: "anna", event: $0) }
  }()

  private static let outcome = PushOutcome(
    name: "anna", interface: .http2, status: 410, reason: "Unregistered")

  private func check(_ text: String, _ view: StageView = StageView()) throws -> [String] {
    var expectation = Expectation()
    try Expectation.form.read(JSONObject(body: Array(text.utf8)), into: &expectation)
    let check = ExpectationCheck(expectation, [Self.outcome], Self.lines, view)
    return check.failures.map { "expected \($0.expected), got \($0.got)" }
  }

  @Test(
    "kept",
    arguments: [
      #"{"status": 410}"#, #"{"status": 410, "reason": "Unregistered"}"#, #"{"closed": false}"#,
      #"{"event": "presented"}"#, #"{"presented": ["list", "lock screen"]}"#, #"{"none": "callback"}"#,
      #"{"event": "badge", "detail": "3", "rule": "badge", "count": 1}"#,
      #"{"on": "anna", "rule": "system-shows"}"#,
      #"{"event": "sound", "count": 0}"#,
    ])
  func kept(text: String) throws { #expect(try check(text).isEmpty) }

  @Test(
    "broken",
    arguments: [
      (#"{"status": 200}"#, "expected 200, got 410 Unregistered"),
      (#"{"status": 410, "reason": "BadDeviceToken"}"#, "expected 410 BadDeviceToken, got 410 Unregistered"),
      (#"{"legacyStatus": 8}"#, "expected error packet with status 8, got 410 Unregistered"),
      (
        #"{"callback": "M3"}"#,
        "expected callback M3, got presented lock screen, list by system-shows; badge 3 by badge; no-callback by system-calls-nobody"
      ),
      (#"{"none": "badge"}"#, "expected no badge, got badge 3 by badge"),
      (
        #"{"event": "badge", "count": 2}"#,
        "expected 2 × badge, got 1 of presented lock screen, list by system-shows; badge 3 by badge; no-callback by system-calls-nobody"
      ),
      (#"{"on": "ben", "event": "presented"}"#, "expected presented, got nothing"),
    ])
  func broken(text: String, sentence: String) throws { #expect(try check(text) == [sentence]) }

  @Test("advice is what was found in all, in any order")
  func advice() throws {
    var view = StageView()
    #expect(try check(#"{"advice": []}"#, view).isEmpty)
    #expect(
      try check(#"{"advice": ["no-push-type"]}"#, view) == ["expected advice no-push-type, got no advice"])
    view.advice = [.noPushType, .lostAfterError, .noPushType]
    #expect(try check(#"{"advice": ["lost-after-error", "no-push-type"]}"#, view).isEmpty)
    #expect(try check(#"{"status": 410}"#, view).isEmpty)
    #expect(
      try check(#"{"advice": []}"#, view) == ["expected no advice, got advice lost-after-error, no-push-type"]
    )
    #expect(
      try check(#"{"advice": ["no-push-type"]}"#, view)
        == ["expected advice no-push-type, got advice lost-after-error, no-push-type"])
  }

  @Test("how things are")
  func state() throws {
    let (one, other) = (
      DeviceToken(hex: String(repeating: "a", count: 64)), DeviceToken(hex: String(repeating: "b", count: 64))
    )
    var view = StageView(
      phone: "anna", badge: 3, listed: 1, tokenBefore: one, token: one, feedback: 1, tokensLeft: 2)
    #expect(
      try check(
        #"{"badge": 3, "listed": 1, "token": "same", "feedback": 1, "alias": "a", "tokens": 2}"#, view
      ).isEmpty)
    #expect(
      try check(
        #"{"badge": 4, "listed": 0, "token": "changed", "feedback": 2, "alias": "a", "tokens": 1}"#, view)
        == [
          "expected badge 4, got 3", "expected 0 notifications in the list, got 1",
          "expected 2 tokens in the feedback service, got 1",
          "expected 1 token of the alias a, got 2", "expected token changed, got token same",
        ])
    view.token = other
    #expect(try check(#"{"token": "changed"}"#, view).isEmpty)
    view.token = nil
    #expect(try check(#"{"token": "changed"}"#, view) == ["expected token changed, got token none"])
  }
}
