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
  /// Why the request was refused: goes out as `apns-emulator-explanation`, which Apple does not have.
  public var explanation: Explanation?
  /// Further fields, names in lower case. Characters that no field may hold are replaced on sending.
  public var fields: [(name: String, value: String)] = []
  /// JSON, or nothing. Kept, not copied, until it is sent.
  public var body: [UInt8] = []

  public init(
    status: Int, messageID: MessageID? = nil, uniqueID: MessageID? = nil, body: [UInt8] = []
  ) {
    (self.status, self.messageID, self.uniqueID, self.body) = (status, messageID, uniqueID, body)
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
  /// The fields of an answer, in their cheapest form but for those that are text. `buffer` keeps them until they are sent.
  mutating func set(_ response: HTTP2Response, _ buffer: HTTP2AnswerBuffer) {
    removeAll()
    if response.status == 200 {
      add(.status, "200")
    } else {
      add(.status, buffer.status(response.status), isIndexed: true)
    }
    if !response.body.isEmpty { add(.contentType, "application/json") }
    if let id = response.messageID { add(response.idField, buffer.id(id), isIndexed: false) }
    if let id = response.uniqueID { add(.apnsUniqueId, buffer.uniqueID(id), isIndexed: false) }
    if let explanation = response.explanation {
      add(name: HTTP2Response.explanationField, buffer.explanation(explanation), isIndexed: true)
    }
  }
}
