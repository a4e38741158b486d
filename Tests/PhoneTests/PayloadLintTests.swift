import Phone
import PushModel
import Testing

@Suite("What is wrong with a payload")
struct PayloadLintTests {
  private struct Row: Sendable {
    let rule: LintRule
    let place: String
    let payload: String
    var type: PushType? = .alert
    var priority: Priority? = .immediate
  }

  private static let rows = [
    Row(rule: .notJson, place: "", payload: #"{"aps":"#),
    Row(rule: .notAnObject, place: "", payload: "[1]"),
    Row(rule: .empty, place: "", payload: ""),
    Row(
      rule: .tooLarge, place: "",
      payload: #"{"aps":{"alert":""# + String(repeating: "x", count: 4096) + #""}}"#),
    Row(
      rule: .backgroundPriority, place: "", payload: #"{"aps":{"content-available":1}}"#, type: .background),
    Row(
      rule: .backgroundWithoutPriority, place: "", payload: #"{"aps":{"content-available":1}}"#,
      type: .background,
      priority: nil),
    Row(
      rule: .backgroundVisible, place: "aps", payload: #"{"aps":{"alert":"x"}}"#, type: .background,
      priority: .conserving),
    Row(
      rule: .backgroundNotAvailable, place: "aps.content-available", payload: #"{"aps":{}}"#,
      type: .background,
      priority: .conserving),
    Row(
      rule: .notSilent, place: "aps", payload: #"{"aps":{"content-available":1,"sound":"default"}}"#,
      type: .background, priority: .conserving),
    Row(rule: .alertInvisible, place: "aps", payload: #"{"aps":{"content-available":1}}"#),
    Row(rule: .missingAps, place: "aps", payload: #"{"alert-text":"x"}"#),
    Row(rule: .wrongType, place: "aps.badge", payload: #"{"aps":{"badge":"3"}}"#),
    Row(rule: .wrongType, place: "aps.alert.title", payload: #"{"aps":{"alert":{"title":3,"body":"x"}}}"#),
    Row(
      rule: .wrongType, place: "aps.content-available",
      payload: #"{"aps":{"alert":"x","content-available":true}}"#),
    Row(rule: .wrongType, place: "aps", payload: #"{"aps":"Hello"}"#),
    Row(rule: .outOfRange, place: "aps.badge", payload: #"{"aps":{"badge":-1}}"#),
    Row(
      rule: .outOfRange, place: "aps.relevance-score", payload: #"{"aps":{"alert":"x","relevance-score":2}}"#),
    Row(rule: .outOfRange, place: "aps.sound.volume", payload: #"{"aps":{"sound":{"name":"a","volume":7}}}"#),
    Row(
      rule: .outOfRange, place: "aps.interruption-level",
      payload: #"{"aps":{"alert":"x","interruption-level":"high"}}"#),
    Row(
      rule: .unknownKey, place: "aps.contentAvailable",
      payload: #"{"aps":{"alert":"x","contentAvailable":1}}"#),
    Row(rule: .unknownKey, place: "aps.alert.text", payload: #"{"aps":{"alert":{"text":"x","body":"x"}}}"#),
    Row(rule: .misplacedKey, place: "badge", payload: #"{"aps":{"alert":"x"},"badge":1}"#),
    Row(
      rule: .mutableWithoutText, place: "aps.mutable-content",
      payload: #"{"aps":{"badge":1,"mutable-content":1}}"#),
    Row(
      rule: .argumentsWithoutKey, place: "aps.alert.loc-args",
      payload: #"{"aps":{"alert":{"body":"x","loc-args":["a"]}}}"#),
    Row(
      rule: .argumentsWithoutKey, place: "aps.alert.title-loc-key",
      payload: #"{"aps":{"alert":{"title-loc-key":"%@ of %2$@","title-loc-args":["a"]}}}"#),
    Row(
      rule: .activityIncomplete, place: "aps.event", payload: #"{"aps":{"event":"begin","timestamp":1}}"#,
      type: .liveactivity),
    Row(
      rule: .activityIncomplete, place: "aps.timestamp", payload: #"{"aps":{"event":"end"}}"#,
      type: .liveactivity),
    Row(
      rule: .wrongType, place: "aps.alert.title",
      payload: #"{"aps":{"alert":{"title":{"loc-key":"GOAL"},"body":"x"}}}"#),
    Row(
      rule: .wrongType, place: "aps.alert.body.loc-key",
      payload: activity(#"{"title":"x","body":{"key":"GOAL"}}"#),
      type: .liveactivity),
    Row(
      rule: .argumentsWithoutKey, place: "aps.alert.title.loc-key",
      payload: activity(#"{"title":{"loc-key":"%@ of %2$@","loc-args":["a"]},"body":"x"}"#),
      type: .liveactivity),
    Row(rule: .contentNotChanged, place: "aps.content-changed", payload: #"{"aps":{}}"#, type: .widgets),
    Row(
      rule: .noLongerRead, place: "aps.alert.summary-arg",
      payload: #"{"aps":{"alert":{"body":"x","summary-arg":"y"}}}"#),
    Row(rule: .missingType, place: "", payload: #"{"aps":{"alert":"x"}}"#, type: nil),
    Row(
      rule: .needsEntitlement, place: "aps.interruption-level",
      payload: #"{"aps":{"alert":"x","interruption-level":"time-sensitive"}}"#),
    Row(rule: .needsEntitlement, place: "aps", payload: #"{"aps":{"alert":"x","sound":{"critical":1}}}"#),
    Row(rule: .secret, place: "userPassword", payload: #"{"aps":{"alert":"x"},"userPassword":"x"}"#),
    Row(rule: .secret, place: "t", payload: #"{"aps":{"alert":"x"},"t":"eyJh.eyJi.c2ln"}"#),
    Row(
      rule: .longBody, place: "aps.alert",
      payload: #"{"aps":{"alert":""# + String(repeating: "x", count: 179) + #""}}"#),
  ]

  @Test("each with its place and nothing else", arguments: rows.indices)
  func each(index: Int) {
    let row = Self.rows[index]
    let lint = PayloadLint(payload: Array(row.payload.utf8), type: row.type, priority: row.priority)
    #expect(
      lint.findings.filter { $0.place == row.place }.map(\.rule) == [row.rule] && lint.worst != nil,
      "\(row.payload.prefix(100)): \(lint.findings)")
  }

  @Test("bytes that are not UTF-8 are no JSON, and the finding names the byte and its place")
  func encoding() {
    let payload = Array(#"{"aps":{"alert":"Hi "#.utf8) + [0xff] + Array(#""}}"#.utf8)
    let findings = PayloadLint(payload: payload, type: .alert, priority: .immediate).findings
    #expect(findings.map(\.rule) == [.notJson])
    #expect(findings.first?.sentence.contains("line 1, column 21: expected UTF-8, got the byte ff") == true)
  }

  /// An update with this alert.
  private static func activity(_ alert: String) -> String {
    #"{"aps":{"event":"update","timestamp":1700000000,"content-state":{},"alert":\#(alert)}}"#
  }

  @Test("every rule has a row")
  func complete() {
    #expect(Set(Self.rows.map(\.rule)) == Set(LintRule.allCases))
  }

  @Test(
    "nothing is wrong with these",
    arguments: [
      (#"{"aps":{"alert":"Hello","badge":1,"sound":"default"},"order":"4711"}"#, PushType.alert),
      (#"{"aps":{"badge":0}}"#, .alert),
      (#"{"aps":{"alert":""# + String(repeating: "x", count: 178) + #""}}"#, .alert),
      (
        #"{"aps":{"alert":{"title":"a","loc-key":"%@","loc-args":["b"]},"mutable-content":1,"thread-id":"t"}}"#,
        .alert
      ),
      (#"{"aps":{"content-available":1}}"#, .background), (#"{"aps":{"content-changed":true}}"#, .controls),
      (
        #"{"aps":{"event":"update","timestamp":1700000000,"content-state":{"score":1},"relevance-score":75}}"#,
        .liveactivity
      ),
      (
        activity(
          #"{"title":{"loc-key":"%@ has scored","loc-args":["Ada"]},"body":{"loc-key":"SCORE"},"sound":"chime.aiff"}"#
        ),
        .liveactivity
      ),
      (#"{"mdm":"PushMagic"}"#, .mdm), (#"{"call":"1"}"#, .voip),
    ])
  func fine(payload: String, type: PushType) {
    let priority = type == .background ? Priority.conserving : .immediate
    #expect(PayloadLint(payload: Array(payload.utf8), type: type, priority: priority).findings == [])
  }

  @Test("the limit is that of the type", arguments: [(PushType.alert, 4096), (.voip, 5120)])
  func size(type: PushType, most: Int) {
    for (count, isFine) in [(most, true), (most + 1, false)] {
      let frame = #"{"aps":{"alert":"x"},"d":""}"#
      let payload =
        #"{"aps":{"alert":"x"},"d":""# + String(repeating: "x", count: count - frame.utf8.count) + #""}"#
      let lint = PayloadLint(payload: Array(payload.utf8), type: type, priority: .immediate)
      #expect(lint.findings.contains { $0.rule == .tooLarge } == !isFine)
    }
  }
}
