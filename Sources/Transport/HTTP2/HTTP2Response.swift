import PushModel

/// An answer to one request.
public struct HTTP2Response: Sendable {
  public static let explanationField: StaticString = "apns-emulator-explanation"

  public var status: Int
  /// Goes out as `idField` says: `apns-id`, or `apns-request-id` for channels.
  public var messageID: MessageID?
  public var idField = ProviderField.apnsId
  /// Goes out as `apns-unique-id`; only the sandbox sends it (`Documentation/provider-api.md#response`).
  public var uniqueID: MessageID?
  /// What an accepted push has nothing of: a single reference, as answers are copied on their way.
  private(set) var rest: Rest?

  final class Rest: Sendable {
    let explanation: Explanation?
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    init(_ explanation: Explanation?, _ fields: [(name: String, value: String)], _ body: [UInt8]) {
      (self.explanation, self.fields, self.body) = (explanation, fields, body)
    }
  }

  /// Why the request was refused: goes out as `apns-emulator-explanation`, which Apple does not have.
  public var explanation: Explanation? {
    get { rest?.explanation }
    set { rest = Rest(newValue, fields, body) }
  }
  /// Further fields, names in lower case. Characters that no field may hold are replaced on sending.
  public var fields: [(name: String, value: String)] {
    get { rest?.fields ?? [] }
    set { rest = Rest(explanation, newValue, body) }
  }
  /// JSON, or nothing. Kept, not copied, until it is sent.
  public var body: [UInt8] {
    get { rest?.body ?? [] }
    set { rest = Rest(explanation, fields, newValue) }
  }

  public init(
    status: Int, messageID: MessageID? = nil, uniqueID: MessageID? = nil, body: [UInt8] = []
  ) {
    (self.status, self.messageID, self.uniqueID) = (status, messageID, uniqueID)
    if !body.isEmpty { rest = Rest(nil, [], body) }
  }

  /// The fields that are text, for a transport of another kind.
  public var textFields: [(name: String, value: String)] {
    guard let explanation else { return fields }
    var buffer = TextBuffer()
    explanation.write(to: &buffer)
    buffer.makeVisible(limit: HTTP2AnswerBuffer.explanationLimit)
    return fields + [(Self.explanationField.description, buffer.text)]
  }
}

extension HTTP2FieldList {
  /// The fields that every answer has, in their cheapest form. `buffer` keeps them until they are sent.
  mutating func set(_ response: HTTP2Response, _ buffer: HTTP2AnswerBuffer) {
    removeAll()
    if response.status == 200 {
      add(.status, "200")
    } else {
      add(.status, buffer.status(response.status), isIndexed: true)
    }
    if let id = response.messageID { addID(response.idField, buffer.id(id)) }
    if let id = response.uniqueID { addID(.apnsUniqueId, buffer.uniqueID(id)) }
  }

  /// The others, but for those that are text.
  mutating func set(_ rest: HTTP2Response.Rest, _ buffer: HTTP2AnswerBuffer) {
    if !rest.body.isEmpty { add(.contentType, "application/json") }
    if let explanation = rest.explanation {
      add(name: HTTP2Response.explanationField, buffer.explanation(explanation), isIndexed: true)
    }
  }
}
