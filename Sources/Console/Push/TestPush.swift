import Basics
import Broker
import ConsoleAnswers
import PushModel
import Transport

/// A notification that a person (or a replay in the browser) sends through the console.
package struct TestPush: JSONDocument {
  /// How it is spoken.
  package enum Form: String, Sendable, CaseIterable {
    /// The HTTP/2 provider request.
    case http2
    /// A frame of the binary protocol.
    case legacy
  }

  package var form = Form.http2
  /// As presented; may have any length up to 100 bytes.
  package var token: [UInt8]
  /// Whose it is, where that is said in the token's place.
  var udid: UDID?
  package var topic: Topic
  package var environment: Environment
  /// JSON, or bytes that need not be JSON.
  package var payload: [UInt8] = []
  /// Whether the priority may be sent is for the checks to say.
  package var priority: UInt8?
  /// UNIX seconds; nil for none.
  package var expiration: UInt32?
  /// Of HTTP/2.
  package var pushType: PushType?
  package var collapseID: String?
  package var apnsID: String?
  /// Of the binary protocol.
  package var command: UInt8 = 2
  package var identifier: UInt32 = 0
  /// Who sends it; nil for a provider that may push to the topic.
  package var credential: PushCredential?
  /// What the credential was found to be worth.
  package var proof: PushProof?

  private static let tokens = JSONKind.hex("2 to 200 hexadecimal digits", 1...Limits.longestToken)

  package static let form: JSONForm<TestPush> = JSONForm(
    [
      JSONField("protocol", .word(expected: "http2 or legacy"), \.form),
      JSONField("token", tokens, \.token), JSONField("udid", .udid, \.udid),
      JSONField("topic", .topic, \.topic).needed,
      JSONField("environment", .environment, \.environment),
      JSONField("payload", .any, get: { .verbatim($0.payload) }, set: { $0.payload = $1.encoded }),
      JSONField("payloadBase64", .base64, get: { _ in nil }, set: { $0.payload = $1 }),
      JSONField("pushType", .pushType, \.pushType), JSONField("priority", .whole, \.priority),
      JSONField("expiration", .whole, \.expiration), JSONField("collapseId", .text, \.collapseID),
      JSONField("apnsId", .text, \.apnsID), JSONField("command", .whole(0...2), \.command),
      JSONField("identifier", .whole, \.identifier),
      // Never written.
      JSONField(
        "credential", PushCredential.form.kind(PushCredential()), get: { _ in nil },
        set: { $0.credential = $1 }),
    ],
    rules: [
      ("not", ["required": ["payload", "payloadBase64"]]),
      ("oneOf", [["required": ["token"]], ["required": ["udid"]]]),
    ])
  static let schema = JSONSchema(
    "TestPush", form.schema,
    example: ["token": JSONExample.token, "topic": JSONExample.topic, "payload": JSONExample.payload])

  package init(token: [UInt8], topic: Topic, environment: Environment) {
    (self.token, self.topic, self.environment) = (token, topic, environment)
  }

  /// Reads what `POST /api/v1/push` takes; `environment` is meant where it does not say.
  init(_ body: JSONObject, environment: Environment) throws {
    guard (body["token"] == nil) != (body["udid"] == nil) else {
      let came = body["token"] == nil ? "nothing" : "both"
      throw DocumentError("token: expected \(Self.tokens.expected), or udid in its place, got \(came)")
    }
    (token, topic, self.environment) = ([], try body.required("topic", .topic), environment)
    try Self.form.read(body, into: &self)
    try SavedPayload.check(body)
  }
}

/// Sends test pushes.
package struct TestPushGroup: RouteGroup {
  private let sender: any TestPushing
  private let broker: Broker
  private let environment: Environment
  private var registry: Registry { broker.registry }

  /// `environment`: where a push does not say which one it means.
  package init(_ sender: any TestPushing, _ broker: Broker, _ environment: Environment) {
    (self.sender, self.broker, self.environment) = (sender, broker, environment)
  }

  package var routes: [Route] {
    [
      .post(
        "/api/v1/push", "Sends a test push as a provider that may push to the topic",
        .exchange(send)
      )
      // The answer tells what became of it, which its device's node knows. A provider's `/3/device/` hears a verdict alone, and goes
      // the way of all pushes.
      .atLeader(of: .tokenOrUDIDOfBody).needs(TestPush.schema).takes(upTo: .large).refuses(409)
      .answers(200, "The notification, with its verdict", NotificationDocument.whole.schema)
    ]
  }

  /// `POST /api/v1/push`: answers 200 with the notification, whose verdict says whether it was accepted, and which fault
  /// was injected into it.
  private func send(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let asked = try TestPush(request.object(), environment: environment)
    guard let credential = asked.credential else { return try send(asked, now: request.now, exchange) }
    let isTaken = sender.prove(asked, credential) { result in
      exchange.refusing {
        var push = asked
        push.credential = nil
        do { push.proof = try result.get() } catch { throw ConsoleError.conflict("\(error)") }
        try send(push, now: request.now, exchange)
      }
    }
    guard isTaken else { throw ConsoleError.busy("too many certificates and keys are being read; try again") }
  }

  /// Behind the last check: a phone and an app that are named are made if they are not there.
  private func send(_ push: TestPush, now: Timestamp, _ exchange: HTTPExchange) throws {
    var push = push
    if let udid = push.udid { try address(&push, to: udid, now: now) }
    sender.send(push) { id in exchange.answer(sent(id)) }
  }

  /// Has it go to the app on the phone, which are made if they are not there; type and priority are the payload's unless said.
  private func address(_ push: inout TestPush, to udid: UDID, now: Timestamp) throws {
    let row = try meantRow(push, udid) ?? broker.install(push.topic, on: udid, push.environment, now: now)
    push.token = registry[row].token.bytes
    guard push.form == .http2, push.pushType == nil else { return }
    let manner = NamedPush.manner(of: push.payload, to: push.topic)
    (push.pushType, push.priority) = (manner.type, push.priority ?? manner.priority?.rawValue)
  }

  private func meantRow(_ push: TestPush, _ udid: UDID) -> RegistrationID? {
    guard let device = registry.knownDevice(udid) else { return nil }
    let topic = registry.knownTopic(named: push.topic)
    let rows = registry.installed(on: device).filter {
      registry[$0].topic == topic && registry[$0].environment == push.environment
    }
    return NamedPush.place(among: rows.map(registry.context), for: push.payload).map { rows[$0] }
  }

  private func sent(_ id: UInt64?) -> HTTPResponse {
    guard let id else { return ConsoleError.goesAway.response }
    guard let record = broker.journal[id] else {
      return ConsoleError.conflict("the history is too short to keep the notification").response
    }
    return HTTPResponse(json: NotificationDocument.whole.write(NotificationDocument(record, broker)))
  }
}

/// Sends what people ask for. Implemented by module `Emulator`.
package protocol TestPushing: AnyObject {
  /// Sends a notification in the name of a provider that may push to its topic; `done` gets the notification's id, late if a
  /// fault delays it; nil if the emulator ends before it has one.
  func send(_ push: TestPush, done: @escaping (UInt64?) -> Void)
  /// Reads and judges the credential of a test push; answers late, on the loop. False if too many wait.
  func prove(
    _ push: TestPush, _ credential: PushCredential, then: @escaping (Result<PushProof, any Error>) -> Void
  ) -> Bool
}

/// What a person's test push proves itself with, as the files that developers have: a certificate with its key, or a token key.
/// Used for the one push, and neither kept nor shown.
package struct PushCredential: JSONDocument {
  /// A `.p12`, `.pem`, `.cer` or `.p8`, told apart by what is in it.
  package var file: [UInt8] = []
  /// The file's name, for its key id and for sentences.
  package var name = "the file"
  /// The key, where it is in a file of its own.
  package var key: [UInt8]?
  /// Of either file.
  package var password = ""
  /// Of a token key; nil for what the file's name says.
  package var keyId: String?
  /// Of a token key; nil for what the certs folder knows.
  package var team: String?

  package static let form = JSONForm<PushCredential>([
    JSONField("file", .base64, \.file).needed, JSONField("name", .text, \.name),
    JSONField("key", .base64, \.key), JSONField("password", .text, \.password),
    JSONField("keyId", .name, \.keyId), JSONField("team", .name, \.team),
  ])

  package init() {}
}

/// A credential that a person has chosen in the browser, read and found fit to be shown: what a handshake would have carried, or
/// the header of a request. Holds no key.
package enum PushProof: Equatable, Sendable {
  /// In DER: the leaf, and those above it.
  case certificate([UInt8], chain: [[UInt8]])
  /// A provider token, signed for this push.
  case token(String)
}

/// A payload in a document: as JSON where reading it gives the same bytes again, else as Base64.
package enum SavedPayload {
  package static func member(_ payload: [UInt8]) -> (String, JSONValue) {
    let value = JSONReader.read(payload, maximumDepth: JSONObject.bodyDepth / 2)
    if let value, value.encoded == payload { return ("payload", .verbatim(payload)) }
    return ("payloadBase64", JSONKind.base64.write(payload))
  }

  /// Throws where there are both or, if one is needed, neither; `expected` is then what `payload` may be.
  package static func check(_ object: JSONObject, needing expected: String? = nil) throws(DocumentError) {
    let place = object.path("payload")
    switch (object["payload"] != nil, object["payloadBase64"] != nil) {
    case (true, true): throw DocumentError("\(place): expected no payloadBase64 beside it, got both")
    case (false, false):
      guard let expected else { return }
      throw DocumentError("\(place): expected \(expected), or payloadBase64 in its place, got nothing")
    default: return
    }
  }
}
