import Basics
import Phone
import PushModel
import Transport

/// What `POST /api/v1/explain` takes: a push that nobody sends.
struct ExplainRequest: JSONDocument {
  /// Its payload as text, which need not be JSON: it may be written at this moment; or as the bytes that came, which need not be text.
  var payload: [UInt8] = []
  /// nil where the provider would say none; likewise `priority`.
  var pushType: PushType?
  var priority: Priority?
  var state = AppState.suspended
  var version = IOSVersion.standard
  /// nil where the emulator's own setting is meant.
  var isStrict: Bool?

  /// Longest payload that is looked at, in bytes: three times the longest that Apple takes. A finding may be as short as six
  /// of them, and the answer tells of all.
  static let longestPayload = 3 * PushType.voip.maximumPayload

  private static let texts = JSONKind<[UInt8]>.spelled(
    "a string of at most \(longestPayload) bytes",
    ["type": "string", "description": .string("At most \(longestPayload) bytes; need not be JSON.")],
    { $0.utf8.count <= longestPayload ? Array($0.utf8) : nil }, { String(decoding: $0, as: UTF8.self) })

  private static let strictness = JSONKind<Bool>.flag.described(
    as: ["type": "boolean", "description": "As `--strict-push-type`. Default: the setting of the emulator."])

  static let form = JSONForm<ExplainRequest>(
    [
      JSONField("payload", texts, \.payload),
      JSONField(
        "payloadBase64", .base64(upTo: longestPayload), get: { _ in nil }, set: { $0.payload = $1 }),
      JSONField(nullable: "pushType", .pushType, \.pushType),
      JSONField(nullable: "priority", .priority, \.priority),
      JSONField("appState", .word, \.state), JSONField("ios", .iosVersion, \.version),
      JSONField("strictPushType", strictness, \.isStrict),
    ], rules: [("oneOf", [["required": ["payload"]], ["required": ["payloadBase64"]]])])

  private static let example = #"{"aps":{"alert":"Hello"}}"#
  static let schema = JSONSchema(
    "ExplainRequest", form.schema, example: ["payload": .string(example), "pushType": "alert"])
  static var answer: JSONSchema {
    PushExplanation.schema.showing(PushExplanation(payload: Array(example.utf8), type: .alert).json)
  }

  init(_ body: JSONObject) throws {
    try Self.form.read(body, into: &self)
    try SavedPayload.check(body, needing: Self.texts.expected)
  }
}

/// What a phone would do with a push that nobody sends.
package struct ExplainGroup: RouteGroup {
  private let isPushTypeStrict: Bool

  /// `isPushTypeStrict`: what is gone by where a request does not say: whether phones take a push without a type for an alert of
  /// priority 10 (`--strict-push-type`).
  package init(isPushTypeStrict: Bool) { self.isPushTypeStrict = isPushTypeStrict }

  package var routes: [Route] {
    [
      .post(
        "/api/v1/explain", "What is wrong with a payload, and what a phone would do with it",
        .json(explain)
      )
      .needs(ExplainRequest.schema).takes(upTo: .large)
      .answers(200, "Findings and events", ExplainRequest.answer)
    ]
  }

  /// `POST /api/v1/explain`: as `explain --json` answers.
  private func explain(_ request: ConsoleRequest) throws -> PushExplanation {
    let push = try ExplainRequest(request.object())
    return PushExplanation(
      payload: push.payload, type: push.pushType, priority: push.priority, state: push.state,
      version: push.version, isStrict: push.isStrict ?? isPushTypeStrict)
  }
}
