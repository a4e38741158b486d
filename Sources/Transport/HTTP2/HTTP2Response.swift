import Basics
import PushModel

/// An answer to one request.
public struct HTTP2Response: Sendable {
  public static let explanationField = "apns-emulator-explanation"
  /// Most of an explanation that its field carries, in bytes: some clients have little room for header fields.
  private static let explanationLimit = 400

  public var status: Int
  /// Goes out as `idField` says: `apns-id`, or `apns-request-id` for channels.
  public var apnsID: APNSID?
  public var idField = ProviderField.apnsId
  /// Goes out as `apns-unique-id`; only the sandbox sends it (`Documentation/provider-api.md#response`).
  public var uniqueID: APNSID?
  /// Why the request was refused: goes out as `apns-emulator-explanation`, which Apple does not have.
  public var explanation: Explanation?
  /// Further fields, names in lower case. Characters that no field may hold are replaced on sending.
  public var fields: [(name: String, value: String)] = []
  /// JSON, or nothing. Kept, not copied, until it is sent.
  public var body: [UInt8]

  public init(status: Int, apnsID: APNSID? = nil, uniqueID: APNSID? = nil, body: [UInt8] = []) {
    (self.status, self.apnsID, self.uniqueID, self.body) = (status, apnsID, uniqueID, body)
  }

  /// The fields that are text.
  public var textFields: [(name: String, value: String)] {
    guard let explanation else { return fields }
    var buffer = ByteBuffer(capacity: 256)
    explanation.write(to: &buffer)
    buffer.makeVisible(limit: Self.explanationLimit)
    return fields + [(Self.explanationField, buffer.text)]
  }
}

/// Lays out the header fields of a session's answers in their cheapest form.
struct HTTP2AnswerFields {
  private(set) var fields = HTTP2Fields()
  /// Fields whose names are in the HPACK table, or were once.
  private var named: ProviderFieldSet = []

  /// Sets them to those of an answer.
  mutating func set(_ response: HTTP2Response) {
    fields.removeAll()
    fields.add(.status) { $0.append(digits: response.status) }
    if let id = response.apnsID { addID(response.idField, id) }
    if let id = response.uniqueID { addID(.apnsUniqueId, id) }
    if !response.body.isEmpty { fields.add(.contentType) { $0 += "application/json".utf8 } }
    for field in response.textFields { fields.add(name: field.name, value: field.value) }
  }

  /// Adds a field whose value no other answer has. Only the first goes into the HPACK table, for its name: others refer to
  /// that, which spares 16 bytes of an answer and their Huffman coding, 2 % of the instructions of a push.
  private mutating func addID(_ field: ProviderField, _ id: APNSID) {
    fields.add(field, isIndexed: !named.contains(ProviderFieldSet(field))) { $0.append(id) }
    named.insert(ProviderFieldSet(field))
  }
}

extension [UInt8] {
  /// Adds an id as text.
  fileprivate mutating func append(_ id: APNSID) {
    append(addingCapacity: APNSID.textByteCount) { id.write(to: &$0) }
  }

  /// Adds a status, of three digits.
  fileprivate mutating func append(digits status: Int) {
    for scale in [100, 10, 1] { append(48 + UInt8(truncatingIfNeeded: status / scale % 10)) }
  }
}
